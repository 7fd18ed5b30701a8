import Foundation
import Switchboard
import SwitchboardPlatform

/// One answer of a ``StubSession``: the delay, then a response or the error that a real session throws for it.
struct StubExchange {
    let request: NetworkRequest
    let response: MockResponse
    let time: SimulatedTime
    /// The measurements of the exchange, to which the size of the body is added.
    var metrics = ExchangeMetrics()
    private let clock: any Clock<Duration>

    init(_ request: NetworkRequest, _ response: MockResponse, clock: any Clock<Duration>) {
        self.request = request
        self.response = response
        self.clock = clock
        time = SimulatedTime(clock, attempt: request.timeouts.attempt, source: "StubSession")
    }

    func run() async throws -> NetworkResponse {
        do {
            return try await answer()
        } catch let error as NetworkError {
            throw error.adding(request)
        }
    }

    private func answer() async throws -> NetworkResponse {
        try await time.wait(for: response.pace.delay, limit: request.timeouts.idle)
        switch response.outcome {
        case .script: throw fault(.unsupported, "raw bytes need the socket of a MockServer")
        case .complete: return try await deliver(response.body.count, nil)
        // A response without body is complete after its head.
        case .broken(_, let point) where point.isInBody && !allowsBody: return try await deliver(0, nil)
        case .broken(let action, let point):
            switch point.location {
            case .body(let count): return try await deliver(min(count, response.body.count), action)
            case .head: return try await deliver(0, action)
            default:
                if action == .stall {
                    try await time.stall(limit: request.timeouts.idle.map { $0 - response.pace.delay })
                }
                throw fault(.connectionLost, "scripted to \(action.rawValue) the connection \(point)")
            }
        case .failure(let error): throw error
        case .webSocket:
            guard let upgrade = request.options.upgrade else {
                throw fault(.unsupported, "a WebSocket answers only router.webSocket")
            }
            return try upgraded(upgrade)
        }
    }

    /// Returns the response of a WebSocket that plays steps, without a socket. `loss` is the error of a reset. `check`
    /// receives each message of the client, and an error that it throws ends the connection.
    func upgraded(
        _ upgrade: ConnectionUpgrade,
        loss: NetworkError = NetworkError(.connectionLost, reason: "StubSession: scripted to reset the connection"),
        check: @escaping StubPeer.Check = { _, _ in }
    ) throws(NetworkError) -> NetworkResponse {
        guard case .webSocket(let steps) = response.outcome else { return try head() }
        var handshake = request
        handshake.headers.merge(upgrade.headers(request))
        let accepted = response.accepting(handshake.headers["Sec-WebSocket-Key"])
        var answer = try StubExchange(handshake, accepted, clock: clock).head()
        let peer = StubPeer(steps, upgrade, clock, loss, check)
        answer.bytes = ResponseBytes { try await peer.next() }
        return answer
    }

    var allowsBody: Bool {
        response.allowsBody(to: request.method)
    }

    // MARK: Responses

    /// Returns the response with the part of its body that comes before the break.
    private func deliver(_ count: Int, _ action: MockResponse.Break?) async throws -> NetworkResponse {
        var answer = try head()
        let body = StubBody(self, upTo: count, action)
        if request.streams(response.statusCode) {
            answer.bytes = ResponseBytes(result: { body.result }, read: { try await body.next() })
            return answer
        }
        answer.body = try await body.whole()
        if let result = body.result { (answer.trailers, answer.metrics) = result }
        return answer
    }

    private func head() throws(NetworkError) -> NetworkResponse {
        var answer = NetworkResponse(statusCode: response.statusCode, headers: response.headers, url: request.url)
        do {
            try answer.checkHeaders(request.limits)
        } catch {
            throw error.adding(request)
        }
        answer.request = request
        answer.metrics = metrics
        answer.isStub = true
        return answer
    }

    // MARK: Errors

    private func fault(_ code: NetworkError.Code, _ reason: String) -> NetworkError {
        NetworkError(code, reason: "StubSession: \(reason)")
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

    /// Returns the error of a mock, with the request's URL and method unless it already has them.
    func adding(_ request: NetworkRequest) -> NetworkError {
        var error = self
        error.url = url ?? request.url
        error.method = method ?? request.method
        error.isStub = true
        return error
    }
}
