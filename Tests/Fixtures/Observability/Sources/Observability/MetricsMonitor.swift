import Metrics
import Switchboard

/// Records the duration of each call, and counts retries.
struct MetricsMonitor: EventMonitor {
    func record(_ event: CallEvent) {
        switch event.kind {
        case .finished(let status): end(event, "\(status)")
        case .failed(let error): end(event, "\(error.code)")
        case .cancelled: end(event, "cancelled")
        case .retry:
            Counter(
                label: "http_client_retries",
                dimensions: [("host", event.request.host)]
            ).increment()
        default: break
        }
    }

    private func end(_ event: CallEvent, _ outcome: String) {
        Timer(
            label: "http_client_call",
            dimensions: [
                ("host", event.request.host),
                ("method", "\(event.request.method)"),
                ("outcome", outcome),
            ]
        ).record(duration: event.elapsed)
    }
}
