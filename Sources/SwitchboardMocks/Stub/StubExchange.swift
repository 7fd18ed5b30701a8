import Foundation
import Switchboard
import SwitchboardPlatform

/// One answer of a ``StubSession``: the delay, then a response or the error that a real session throws for it.
struct StubExchange {
    let request: NetworkRequest
    let response: MockResponse
    let clock: any Clock<Duration>
    /// The measurements of the exchange, to which the size of the body is added.
    var metrics = ExchangeMetrics()

    func run() async throws -> NetworkResponse {
        try await waitForDelay()
        if let feature = response.needsSocket {
            throw fault(.unsupported, "\(feature) need the socket of a MockServer")
        }
        switch response.outcome {
        // A script needs a socket: the guard above refuses it.
        case .complete, .script: return try await deliver(response.body.count, nil)
        // A response without body is complete after its head.
        case .broken(_, let point) where point.isInBody && !allowsBody: return try await deliver(0, nil)
        case .broken(let action, let point):
            switch point.location {
            case .body(let count): return try await deliver(min(count, response.body.count), action)
            case .head: return try await deliver(0, action)
            default: throw try await errorBeforeHead(action, point)
            }
        case .failure(let error): throw error.adding(request)
        case .webSocket:
            guard let upgrade = request.options.upgrade else {
                throw fault(.unsupported, "a WebSocket answers only router.webSocket")
            }
            return try upgraded(upgrade)
        }
    }

    /// Returns the response of a WebSocket that plays steps, without a socket. `check` receives each message of the
    /// client, and an error that it throws ends the connection.
    func upgraded(
        _ upgrade: ConnectionUpgrade, check: @escaping StubPeer.Check = { _, _ in }
    ) throws(NetworkError) -> NetworkResponse {
        guard case .webSocket(let steps) = response.outcome else { return try head() }
        var handshake = request
        handshake.headers.merge(upgrade.headers())
        let accepted = response.accepting(handshake.headers["Sec-WebSocket-Key"])
        var answer = try StubExchange(request: handshake, response: accepted, clock: clock).head()
        let peer = StubPeer(steps, upgrade.outgoing(), clock, check)
        answer.bytes = ResponseBytes { try await peer.next() }
        return answer
    }

    private var allowsBody: Bool {
        response.allowsBody(to: request.method)
    }

    // MARK: Ends without a head

    private func errorBeforeHead(_ action: MockResponse.Break, _ point: MockResponse.BreakPoint) async throws
        -> NetworkError
    {
        switch action {
        case .stall: try await time.timeout(after: time.restOfHead).adding(request)
        case .close: fault(.connectionLost, "scripted to close the connection \(point)")
        case .reset: fault(.connectionLost, "scripted to reset the connection \(point)")
        }
    }

    private func waitForDelay() async throws {
        let delay = response.pace.delay
        guard delay > .zero else { return }
        if let limit = time.head, limit < delay { throw try await time.timeout(after: limit).adding(request) }
        try await time.sleep(for: delay)
    }

    // MARK: Responses

    /// Returns the response with the part of its body that comes before the break.
    private func deliver(_ count: Int, _ action: MockResponse.Break?) async throws -> NetworkResponse {
        let head = try head()
        if case .mislabelled = response.encodedContent, allowsBody {
            throw partial(fault(.cannotDecodeResponse, "the body does not match its Content-Encoding"), 0)
        }
        let body = StubBody(
            request: request, response: response, count: count, action: action, time: time, metrics: metrics)
        var answer = head
        if request.streams(response.statusCode) {
            let parts = StubBody.Parts(body)
            answer.bytes = ResponseBytes(result: { parts.result }, read: { try await parts.next() })
            return answer
        }
        answer.body = try await body.whole { partial($0, $1) }
        answer.metrics.bytesReceived = Int64(answer.body.count)
        answer.trailers = response.trailers
        return answer
    }

    private func head() throws(NetworkError) -> NetworkResponse {
        let size = response.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
        guard size <= request.limits.responseHeaders else {
            let reason = "it has \(size) bytes, limits.responseHeaders is \(request.limits.responseHeaders)"
            throw NetworkError(.headersTooLarge, reason: reason).adding(request)
        }
        var answer = NetworkResponse(statusCode: response.statusCode, headers: response.headers, url: request.url)
        answer.request = request
        answer.metrics = metrics
        answer.isStub = true
        return answer
    }

    // MARK: Errors

    private func fault(_ code: NetworkError.Code, _ reason: String) -> NetworkError {
        NetworkError(code, reason: "StubSession: \(reason)").adding(request)
    }

    /// Returns the error with the head and the part of the body that came with it.
    private func partial(_ error: NetworkError, _ count: Int) -> NetworkError {
        var error = error.adding(request).with(response)
        error.body = allowsBody ? response.body.prefix(max(0, count)) : Data()
        return error
    }

    private var time: StubTime {
        StubTime(request.timeouts, clock, spent: response.pace.delay)
    }
}

extension MockResponse.BreakPoint {
    fileprivate var isInBody: Bool {
        switch location {
        case .head, .body: true
        default: false
        }
    }
}

extension NetworkError {
    /// Returns the error with a response's status and fields, and with an empty body.
    func with(_ response: MockResponse) -> NetworkError {
        var error = self
        error.statusCode = response.statusCode
        error.headers = response.headers
        error.body = Data()
        return error
    }
}

/// The timeouts of one answer of a ``StubSession``, measured by its clock.
struct StubTime {
    private let timeouts: Timeouts
    private let clock: any Clock<Duration>
    /// The time that has already passed.
    private let spent: Duration

    init(_ timeouts: Timeouts, _ clock: any Clock<Duration>, spent: Duration) {
        self.timeouts = timeouts
        self.clock = clock
        self.spent = spent
    }

    /// The time limit of the head, or nil without limit.
    var head: Duration? { least(timeouts.idle, timeouts.attempt) }

    /// The time left for the head.
    var restOfHead: Duration? { head.map { $0 - spent } }

    /// Returns the longest silence within a body that has taken the time `bodyTime` so far.
    func silence(after bodyTime: Duration) -> Duration? { least(timeouts.idle, attempt.map { $0 - bodyTime }) }

    /// The time left for the attempt.
    var attempt: Duration? { timeouts.attempt.map { $0 - spent } }

    var idle: Duration? { timeouts.idle }

    private func least(_ one: Duration?, _ other: Duration?) -> Duration? {
        [one, other].compactMap { $0 }.min()
    }

    /// Waits for the given time, or until the task is canceled when the time is nil, and returns the timeout error.
    ///
    /// - Throws: `CancellationError`.
    func timeout(after time: Duration?) async throws -> NetworkError {
        while time == nil { try await sleep(for: .seconds(86_400)) }
        if let time, time > .zero { try await sleep(for: time) }
        return NetworkError(.timedOut, reason: "StubSession: timeout: no data within the request's timeouts")
    }

    func sleep(for duration: Duration) async throws {
        do {
            try await clock.sleep(for: duration.clamped)
            try Task.checkCancellation()
        } catch {
            throw CancellationError()
        }
    }
}

extension NetworkError {
    /// Returns the error with the request's URL and method, unless the error has them already.
    func adding(_ request: NetworkRequest) -> NetworkError {
        var error = self
        error.url = url ?? request.url
        error.method = method ?? request.method
        error.isStub = true
        return error
    }
}
