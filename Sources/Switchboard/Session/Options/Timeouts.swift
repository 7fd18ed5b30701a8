/// How long the parts of a call may take. Nil means without limit; fractions of a second count.
public struct Timeouts: Sendable, Hashable {
    /// Until a connection stands, TLS included. ``FoundationSession`` cannot tell this phase and refuses a value with
    /// ``NetworkError/Code/unsupported``. Default nil.
    public var connect: Duration?
    /// Between one sign of life and the next: from the start to the head, and between pieces of the body. Default 60
    /// seconds.
    public var idle: Duration?
    /// For one attempt, from its start to the last byte of its response. Default nil.
    public var attempt: Duration?
    /// For the whole call: every attempt, redirect and wait between them. Kept by the router, not by a session. Default
    /// nil.
    public var total: Duration?

    /// Makes a set of timeouts.
    public init(
        connect: Duration? = nil, idle: Duration? = .seconds(60), attempt: Duration? = nil, total: Duration? = nil
    ) {
        self.connect = connect
        self.idle = idle
        self.attempt = attempt
        self.total = total
    }

    /// 60 seconds of silence end an attempt; nothing else does.
    public static let standard = Timeouts()
    /// The 10 seconds of the published `Router`.
    public static let article = Timeouts(idle: .seconds(10))
    /// No limit at all.
    public static let none = Timeouts(idle: nil)
}
