import SwitchboardPlatform

/// Writes each decision of a call as one line, secrets replaced.
///
/// ```swift
/// let manager = NetworkManager(options: RequestOptions { $0.monitors.append(EventLogger()) })
/// ```
///
/// ``NetworkLogger`` shows what is sent and received; this shows why.
public struct EventLogger: EventMonitor {
    private let output: @Sendable (String) -> Void

    /// Makes a logger. `output` gets the lines one by one, on any thread; nil, the default, stands for standard error.
    public init(output: (@Sendable (String) -> Void)? = nil) {
        self.output = output ?? { StandardError.write($0 + "\n") }
    }

    /// Writes the event, with what tells the calls apart.
    public func record(_ event: CallEvent) {
        output("[\(event.request.id)] \(event)")
    }
}
