import Logging
import Switchboard

func makeManager(logger: Logger) -> NetworkManager {
    NetworkManager(
        interceptors: [RetryPolicy(), Traced()],
        monitors: [LogMonitor(logger: logger), MetricsMonitor()])
}
