import Foundation
import Switchboard

/// One answer of a ``StubSession``: the wait, then a response or the error that a real session has for it.
struct StubExchange {
    let request: NetworkRequest
    let response: MockResponse
    let clock: any Clock<Duration>

    func run() async throws -> NetworkResponse {
        try await waitForDelay()
        switch response.course {
        case .complete: return try whole()
        // Without a body the head is all, and it was there.
        case .truncated where !allowsBody, .stalled where !allowsBody: return try whole()
        case .truncated(let count):
            let reason = "StubSession: scripted to end after \(count) bytes"
            throw partial(NetworkError(.truncatedBody, reason: reason), count)
        case .stalled(let count):
            let time = least(request.timeouts.idle, rest(of: request.timeouts.attempt))
            throw partial(try await timeout(time), count)
        case .stall:
            throw try await timeout(rest(of: limit)).noting(request)
        case .close:
            throw fault(.connectionLost, "scripted to close without an answer")
        case .reset:
            throw fault(.connectionLost, "scripted to reset the connection")
        case .raw:
            throw fault(.unsupported, "raw bytes need the socket of a MockServer")
        case .failure(let error):
            throw error.noting(request)
        }
    }

    // MARK: Responses

    private var allowsBody: Bool {
        response.allowsBody(to: request.method)
    }

    private func whole() throws(NetworkError) -> NetworkResponse {
        var answer = try head()
        let body = allowsBody ? response.body : Data()
        answer.metrics.bytesReceived = Int64(body.count)
        if let destination = request.options.destination, (200..<300).contains(response.status) {
            do {
                try body.write(to: destination, options: .atomic)
            } catch {
                throw NetworkError(.cannotWriteFile, underlying: error).noting(request)
            }
            answer.fileURL = destination
            return answer
        }
        guard body.count <= request.limits.responseBody else {
            let reason = "the body has \(body.count) bytes, the limit is \(request.limits.responseBody)"
            throw partial(NetworkError(.responseTooLarge, reason: reason), request.limits.responseBody)
        }
        answer.body = body
        return answer
    }

    private func head() throws(NetworkError) -> NetworkResponse {
        if let headerFault = response.headerFault {
            throw fault(.invalidResponse, headerFault)
        }
        var answer = NetworkResponse(status: response.status, headers: response.headers, url: request.url)
        answer.request = request
        return answer
    }

    private func fault(_ code: NetworkError.Code, _ reason: String) -> NetworkError {
        NetworkError(code, reason: "StubSession: \(reason)").noting(request)
    }

    /// The error with the head and as much of the body as came with it.
    private func partial(_ error: NetworkError, _ count: Int) -> NetworkError {
        var error = error.noting(request)
        error.status = response.status
        error.headers = response.headers
        error.body = allowsBody ? response.body.prefix(max(0, count)) : Data()
        return error
    }

    // MARK: Time

    /// The time in which the head has to be there.
    private var limit: Duration? {
        least(request.timeouts.idle, request.timeouts.attempt)
    }

    private func least(_ one: Duration?, _ other: Duration?) -> Duration? {
        [one, other].compactMap { $0 }.min()
    }

    /// What the delay has left of a time.
    private func rest(of time: Duration?) -> Duration? {
        time.map { $0 - response.delay }
    }

    /// Waits for the delay, or fails with the timeout when that is shorter.
    private func waitForDelay() async throws {
        guard response.delay > .zero else { return }
        if let limit, limit < response.delay { throw try await timeout(limit).noting(request) }
        try await sleep(for: response.delay)
    }

    /// Waits until a time has passed, for ever without one, and gives the error that says so.
    ///
    /// - Throws: `CancellationError`.
    private func timeout(_ time: Duration?) async throws -> NetworkError {
        while time == nil { try await sleep(for: .seconds(86_400)) }
        if let time, time > .zero { try await sleep(for: time) }
        return NetworkError(.timedOut, reason: "StubSession: no sign of life within the request's timeouts")
    }

    private func sleep(for duration: Duration) async throws {
        do {
            try await clock.sleep(for: duration)
            try Task.checkCancellation()
        } catch {
            throw CancellationError()
        }
    }
}
