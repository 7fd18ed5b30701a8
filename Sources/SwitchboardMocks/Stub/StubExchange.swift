import Foundation
import Switchboard

/// One answer of a ``StubSession``: the delay, then a response or the error that a real session throws for it.
struct StubExchange {
    let request: NetworkRequest
    let response: MockResponse
    let clock: any Clock<Duration>

    func run() async throws -> NetworkResponse {
        try await waitForDelay()
        if let what = response.needsSocket { throw fault(.unsupported, "\(what) need the socket of a MockServer") }
        switch response.course {
        // A script needs a socket: the guard above refuses it.
        case .complete, .script: return try await arrive(response.body.count, nil)
        // A response that may have no body is complete with its head.
        case .broken(_, let point) where point.isInBody && !allowsBody: return try await arrive(0, nil)
        case .broken(let action, let point):
            switch point.place {
            case .body(let count): return try await arrive(min(count, response.body.count), action)
            case .head: return try await arrive(0, action)
            default: throw try await withoutHead(action, point)
            }
        case .failure(let error): throw error.noting(request)
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
        guard case .webSocket(let steps) = response.course else { return try head() }
        var asked = request
        asked.headers.merge(upgrade.headers())
        let accepted = response.accepting(asked.headers["Sec-WebSocket-Key"])
        var answer = try StubExchange(request: asked, response: accepted, clock: clock).head()
        let peer = StubPeer(steps, upgrade.outgoing(), clock, check)
        answer.bytes = ResponseBytes { try await peer.next() }
        return answer
    }

    private var allowsBody: Bool {
        response.allowsBody(to: request.method)
    }

    // MARK: Ends without a head

    private func withoutHead(_ action: MockResponse.Break, _ point: BreakPoint) async throws -> NetworkError {
        switch action {
        case .stall: try await time.out(after: time.restOfHead).noting(request)
        case .close: fault(.connectionLost, "scripted to close the connection \(point)")
        case .reset: fault(.connectionLost, "scripted to reset the connection \(point)")
        }
    }

    private func waitForDelay() async throws {
        let delay = response.pace.delay
        guard delay > .zero else { return }
        if let limit = time.head, limit < delay { throw try await time.out(after: limit).noting(request) }
        try await time.sleep(for: delay)
    }

    // MARK: Responses

    /// Returns the response with the part of its body that comes before the break.
    private func arrive(_ count: Int, _ action: MockResponse.Break?) async throws -> NetworkResponse {
        let head = try head()
        if case .mislabelled = response.packing, allowsBody {
            throw partial(fault(.cannotDecodeResponse, "the body does not match its Content-Encoding"), 0)
        }
        let body = StubBody(request: request, response: response, count: count, action: action, time: time)
        if request.streams(response.status) {
            var answer = head
            let parts = StubBody.Parts(body)
            answer.bytes = ResponseBytes(result: { parts.result }, read: { try await parts.next() })
            return answer
        }
        var answer = head
        answer.body = try await body.whole { partial($0, $1) }
        answer.metrics.bytesReceived = Int64(answer.body.count)
        answer.trailers = response.trailers
        return answer
    }

    private func head() throws(NetworkError) -> NetworkResponse {
        if let headerFault = response.headerFault { throw fault(.invalidResponse, headerFault) }
        let size = response.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
        guard size <= request.limits.responseHeaders else {
            let limit = request.limits.responseHeaders
            throw fault(.headersTooLarge, "it has \(size) bytes, limits.responseHeaders is \(limit)")
        }
        var answer = NetworkResponse(status: response.status, headers: response.headers, url: request.url)
        answer.request = request
        return answer
    }

    // MARK: Errors

    private func fault(_ code: NetworkError.Code, _ reason: String) -> NetworkError {
        NetworkError(code, reason: "StubSession: \(reason)").noting(request)
    }

    /// Returns the error with the head and the part of the body that came with it.
    private func partial(_ error: NetworkError, _ count: Int) -> NetworkError {
        var error = error.noting(request).with(response)
        error.body = allowsBody ? response.body.prefix(max(0, count)) : Data()
        return error
    }

    private var time: StubTime {
        StubTime(request.timeouts, clock, spent: response.pace.delay)
    }
}

extension BreakPoint {
    fileprivate var isInBody: Bool {
        switch place {
        case .head, .body: true
        default: false
        }
    }
}

extension NetworkError {
    /// Returns the error with a response's status and fields, and with an empty body.
    func with(_ response: MockResponse) -> NetworkError {
        var error = self
        error.status = response.status
        error.headers = response.headers
        error.body = Data()
        return error
    }
}
