import SwitchboardPlatform

/// The time limits for the parts of a call. Nil means no limit, and zero or less means no time. Fractions of a second
/// are supported. The time while the device sleeps counts for ``total`` only.
public struct Timeouts: Sendable, Hashable {
    /// The time until a connection is established, including TLS. ``FoundationSession`` cannot measure this phase and
    /// refuses a value with ``NetworkError/Code/unsupported``. A wait for a connection that others use does not count.
    /// Default nil.
    public var connect: Duration?
    /// The idle timeout: the longest time without data in either direction, from the start to the head and between
    /// chunks of the body. It includes a wait for a connection that others use, but no wait for the stream of the
    /// request body or for the reader of the response. Default 60 seconds.
    public var idle: Duration?
    /// The time for one exchange, from its start to the last byte of its response. A redirect, a sign-in or a retry
    /// starts it again. It includes a wait for a connection that others use. Default nil.
    public var attempt: Duration?
    /// The time for the whole call: all attempts, redirects and waits between them. The router enforces it around the
    /// interceptors, which cannot set it. For a stream, it ends at the response's head: ``attempt`` limits the body.
    /// Default nil.
    public var total: Duration?

    /// Creates timeouts.
    public init(
        connect: Duration? = nil, idle: Duration? = .seconds(60), attempt: Duration? = nil, total: Duration? = nil
    ) {
        self.connect = connect
        self.idle = idle
        self.attempt = attempt
        self.total = total
    }

    /// An idle timeout of 60 seconds and no other limit.
    public static let standard = Timeouts()
    /// No limits.
    public static let none = Timeouts(idle: nil)
}

extension Timeouts {
    /// Returns the error of an attempt that began at `start` and has passed its attempt or idle timeout.
    package func error(since start: SuspendingClock.Instant) -> NetworkError {
        if let attempt, SuspendingClock.now >= start + attempt.clamped {
            return .timedOut("no complete response within", attempt, "attempt")
        }
        return .timedOut("no data for", idle, "idle")
    }
}

extension NetworkError {
    static func timedOut(_ words: String, _ time: Duration?, _ name: String) -> NetworkError {
        NetworkError(.timedOut, reason: "\(words) \((time ?? .zero).secondsText) (timeouts.\(name))")
    }
}
