import Foundation

/// Hears what is decided during a call: what was made of it, what it waited for, why it was sent again, how it ended.
///
/// ```swift
/// let manager = NetworkManager(options: RequestOptions { $0.monitors.append(Console()) })
/// ```
public protocol EventMonitor: Sendable {
    /// Hears one event. The events of a call come in their order, those of several calls mixed; on any thread, and the
    /// call waits meanwhile: return soon.
    func record(_ event: CallEvent)
}
