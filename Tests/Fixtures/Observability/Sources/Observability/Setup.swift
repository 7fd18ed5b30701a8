import Logging
import Switchboard

func makeManager(logger: Logger) -> NetworkManager {
    let options = RequestOptions {
        $0.monitors = [LogMonitor(logger: logger), MetricsMonitor()]
    }
    return NetworkManager(
        interceptors: [RetryPolicy(), Traced()], options: options)
}
