import Foundation
import Switchboard

/// A session without a network: answers with what it is told to, and keeps the requests.
///
/// ```swift
/// let session = StubSession { request in .json(#"{"page":1,"results":[]}"#) }
/// let router = Router<MovieApi>(session: session)
/// _ = try await router.request(.newMovies(page: 1), as: MoviePage.self)
/// #expect(session.requests.map(\.url?.query) == ["page=1"])
/// ```
///
/// It keeps the rules of a session: an invalid request is refused before it is recorded, a body that cannot be encoded
/// ends it, limits and timeouts count, HEAD, 204 and 304 have no body, and whatever a closure throws arrives as a
/// `NetworkError` or a `CancellationError`.
public final class StubSession: NetworkSession {
    /// Answers a request. An error that is neither `NetworkError` nor `CancellationError` arrives inside a
    /// ``/Switchboard/NetworkError/Code/unknown``.
    public typealias Answer = @Sendable (NetworkRequest) async throws -> MockResponse

    private struct State {
        var responses: [MockResponse]
        var requests: [NetworkRequest] = []
        var answered = 0
    }

    private let state: Locked<State>
    private let answer: Answer?
    private let clock: any Clock<Duration>

    /// A session that asks a closure for each answer, once what was enqueued is used up.
    ///
    /// - Parameters:
    ///   - clock: What delays and timeouts are measured by; the real one by default.
    ///   - answer: Called for each request, concurrently for concurrent ones.
    public init(clock: any Clock<Duration> = ContinuousClock(), _ answer: @escaping Answer) {
        state = Locked(State(responses: []))
        self.answer = answer
        self.clock = clock
    }

    /// A session that gives these responses, one for each request, in order. A request beyond them fails with
    /// ``/Switchboard/NetworkError/Code/cannotConnect``.
    public init(clock: any Clock<Duration> = ContinuousClock(), _ responses: MockResponse...) {
        state = Locked(State(responses: responses))
        answer = nil
        self.clock = clock
    }

    /// Answers a request as scripted.
    ///
    /// - Throws: `NetworkError` for a fault, a timeout or a request that may not be sent, `CancellationError` when the
    ///   task is cancelled.
    public func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        try Task.checkCancellation()
        try request.validate()
        try request.checkBody()
        let response = try await response(to: request)
        return try await StubExchange(request: request, response: response, clock: clock).run()
    }

    /// Appends responses to the queue, which is used up before the closure is asked.
    public func enqueue(_ responses: MockResponse...) {
        state.withLock { $0.responses += responses }
    }

    /// The requests so far, in the order they were sent, those that failed afterwards included.
    public var requests: [NetworkRequest] {
        state.withLock { $0.requests }
    }

    /// Records the request and decides what answers it: the queue, else the closure, else an error.
    private func response(to request: NetworkRequest) async throws -> MockResponse {
        let (scripted, answered) = state.withLock { state in
            state.requests.append(request)
            guard answer != nil || !state.responses.isEmpty else { return (nil as MockResponse?, state.answered) }
            state.answered += 1
            return (state.responses.isEmpty ? nil : state.responses.removeFirst(), state.answered)
        }
        if let scripted { return scripted }
        guard let answer else {
            let reason = "StubSession: nothing left to answer \(request) (\(answered) answered)"
            throw NetworkError(.cannotConnect, reason: reason).noting(request)
        }
        do {
            return try await answer(request)
        } catch let error as NetworkError {
            throw error.noting(request)
        } catch let error as CancellationError {
            throw error
        } catch {
            let reason = "StubSession: the closure threw \(error)"
            throw NetworkError(.unknown, reason: reason, underlying: error).noting(request)
        }
    }
}

extension NetworkRequest {
    /// Encodes a body in memory, as any session has to, for the error that comes of it.
    fileprivate func checkBody() throws(NetworkError) {
        guard !body.isEmpty, !body.isStreamed else { return }
        do {
            _ = try body.encode()
        } catch let error as NetworkError {
            throw error.noting(self)
        } catch {
            throw NetworkError(.encodingFailed, reason: "\(error)", underlying: error).noting(self)
        }
    }
}
