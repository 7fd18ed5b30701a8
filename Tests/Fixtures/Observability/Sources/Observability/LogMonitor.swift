import Logging
import Switchboard

/// Writes each decision of a call as one log entry.
struct LogMonitor: EventMonitor {
    let logger: Logger

    func record(_ event: CallEvent) {
        let level: Logger.Level =
            switch event.kind {
            case .failed: .error
            case .retry: .warning
            case .finished, .cancelled: .info
            default: .debug
            }
        logger.log(
            level: level, "\(event)",
            metadata: ["call": "\(event.request.id)"])
    }
}
