#if os(Linux)

/// When an exchange is over for want of time, in the nanoseconds of `DispatchTime`; `.max` is never.
struct CurlDeadlines {
    private let start: UInt64
    private let idle: UInt64
    private let attempt: UInt64
    private let connect: UInt64
    /// When the server, or libcurl on its behalf, was last heard of.
    var lastSign: UInt64
    /// Waiting for this process, not for the server: time does not count as silence.
    var isSendingPaused = false
    /// When there must be a connection. While the exchange waits for one that others use, it is when libcurl is to be
    /// told how long that took: since 8.11 it counts that as connecting.
    private var connectDeadline = UInt64.max
    private var isConnecting = false

    init(_ request: CurlRequest, start: UInt64) {
        self.start = start
        idle = request.idleTimeout
        attempt = request.attemptTimeout
        connect = request.connectTimeout
        lastSign = start
    }

    /// The next one.
    func next(isReadingPaused: Bool) -> UInt64 {
        var next = attempt == .max ? connectDeadline : min(connectDeadline, start + attempt)
        if idle != .max, !isSendingPaused, !isReadingPaused { next = min(next, lastSign + idle) }
        return next
    }

    /// What it means that one has passed; nil when it is no end.
    func failure(now: UInt64) -> CurlFailure? {
        if attempt != .max, now >= start + attempt { return .timedOut(.attempt) }
        if now >= connectDeadline { return isConnecting ? .timedOut(.connect) : nil }
        return .timedOut(.idle)
    }

    /// Waits for a connection: how long libcurl may take from the start on, until the next deadline and a whole time for
    /// connecting behind it.
    mutating func waitToConnect(now: UInt64) -> UInt64 {
        guard connect != .max else { return .max }
        let step = max(connect / 2, 100_000_000)
        connectDeadline = now + step
        return now - start + step + connect
    }

    /// Begins to count; true when it did not before.
    mutating func beginConnecting(now: UInt64) -> Bool {
        guard connect != .max, !isConnecting else { return false }
        isConnecting = true
        connectDeadline = now + connect
        return true
    }

    mutating func endConnecting() {
        connectDeadline = .max
    }
}
#endif
