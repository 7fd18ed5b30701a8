#if os(Linux)

/// The deadlines of an exchange, in nanoseconds of `DispatchTime`. `.max` means never.
struct CurlDeadlines {
    private let start: UInt64
    private var idle: UInt64
    private var attempt: UInt64
    private let connect: UInt64
    /// The time of the last activity of the server, or of libcurl on its behalf.
    var lastActivity: UInt64
    /// The deadline of the upload after the server has closed its side of the connection.
    private var uploadDeadline = UInt64.max
    /// Whether the upload waits for this process. The idle timeout does not count meanwhile.
    var isSendingPaused = false
    /// The deadline for a connection. While the exchange waits for a connection that others use, it is the time at
    /// which libcurl's connect limit must be extended, because libcurl counts that wait as connecting since 8.11.
    private var connectDeadline = UInt64.max
    /// Whether the exchange has begun to connect. It has not if it waits for a connection or reuses one.
    private(set) var isConnecting = false

    init(_ request: CurlRequest, start: UInt64) {
        self.start = start
        idle = request.idleTimeout
        attempt = request.attemptTimeout
        connect = request.connectTimeout
        lastActivity = start
    }

    /// Returns the next deadline.
    func next(isReadingPaused: Bool) -> UInt64 {
        if uploadDeadline != .max { return uploadDeadline }
        var next = attempt == .max ? connectDeadline : min(connectDeadline, start + attempt)
        if idle != .max, !isSendingPaused, !isReadingPaused { next = min(next, lastActivity + idle) }
        return next
    }

    /// Returns the failure of the deadline that has passed, or nil if the exchange continues.
    func failure(now: UInt64) -> CurlFailure? {
        if now >= uploadDeadline {
            return .libcurl(code: CurlCode.receiveError, message: "the server closed the connection amid a message")
        }
        if attempt != .max, now >= start + attempt { return .timedOut(.attempt) }
        if now >= connectDeadline { return isConnecting ? .timedOut(.connect) : nil }
        return .timedOut(.idle)
    }

    /// Sets the next deadline of a wait for a connection. Returns libcurl's limit for connecting, counted from the
    /// start: the sum of this deadline and the connect timeout. Before 8.16, libcurl gives half of it to the first of
    /// several addresses. So without a connect timeout, the limit ends shortly after the other timeouts.
    mutating func waitToConnect(now: UInt64) -> UInt64 {
        guard connect != .max else {
            let limit = min(idle, attempt)
            return limit == .max ? .max : limit + min(limit / 4, 1_000_000_000)
        }
        let step = max(connect / 2, 100_000_000)
        connectDeadline = now + step
        return now - start + step + connect
    }

    /// Starts the connect timeout. Returns false if it was already running, or if there is none.
    mutating func beginConnecting(now: UInt64) -> Bool {
        guard !isConnecting else { return false }
        isConnecting = true
        guard connect != .max else { return false }
        connectDeadline = now + connect
        return true
    }

    /// Removes all timeouts of an upgraded connection.
    mutating func endAll() {
        (idle, attempt, connectDeadline) = (.max, .max, .max)
    }

    /// Limits the upload to one more second, because the server has closed its side of the connection.
    mutating func limitUpload(now: UInt64) {
        uploadDeadline = min(uploadDeadline, now + 1_000_000_000)
    }

    mutating func endConnecting() {
        connectDeadline = .max
    }
}
#endif
