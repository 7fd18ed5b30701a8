import Foundation

/// Receives the events of a call: how it was built, what it waited for, why it was sent again and how it ended.
///
/// ```swift
/// struct Console: EventMonitor {
///     func record(_ event: CallEvent) { print(event) }
/// }
/// let manager = NetworkManager(
///     options: RequestOptions { $0.monitors.append(Console()) })
/// ```
public protocol EventMonitor: Sendable {
    /// Receives one event. The events of a call arrive in order; those of several calls are mixed. This method runs on
    /// any thread and the call waits for it, so return quickly.
    func record(_ event: CallEvent)
}
