import SwitchboardPlatform
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
/// What answers a request: the response at the head of the queue; with the queue empty, the newest stub that matches;
/// then the closure, or the session that it falls back to. When nothing does, the request fails with
/// `NetworkError.unmatchedRequest`, which shows it beside the stubs that came nearest.
///
/// It stands behind the whole of a router: interceptors, status handling and decoding work as they do over a network.
/// It keeps the rules of a session: an invalid request is refused before it is recorded, a body that cannot be encoded
/// ends it, limits and timeouts count, HEAD, 204 and 304 have no body, and whatever a closure throws arrives as a
/// `NetworkError` or a `CancellationError`. Nothing is shared between two of them, so tests may run in parallel.
public final class StubSession: CallCancellableSession {
    /// Answers a request. An error that is neither `NetworkError` nor `CancellationError` arrives inside a
    /// ``/Switchboard/NetworkError/Code/unknown``.
    public typealias Answer = @Sendable (NetworkRequest) async throws -> MockResponse

    private struct State {
        var queue = ResponseQueue()
        var requests: [NetworkRequest] = []
        var recorded: [RecordedRequest] = []
        var answered = 0
    }

    /// What answers when neither queue nor stubs do.
    private enum Fallback: Sendable {
        case none
        case closure(Answer)
        case session(any NetworkSession)
    }

    private let state: Protected<State>
    private let board = StubBoard()
    private let fallback: Fallback
    private let clock: any Clock<Duration>

    /// A session that asks a closure for each answer that neither queue nor stubs give.
    ///
    /// - Parameters:
    ///   - clock: What delays and timeouts are measured by; the real one by default.
    ///   - answer: Called for each request, concurrently for concurrent ones.
    public convenience init(clock: any Clock<Duration> = ContinuousClock(), _ answer: @escaping Answer) {
        self.init(clock, .closure(answer), [])
    }

    /// A session that gives these responses, one for each request, in order, and then asks its stubs.
    public convenience init(clock: any Clock<Duration> = ContinuousClock(), _ responses: MockResponse...) {
        self.init(clock, .none, responses)
    }

    /// A session that passes on what neither queue nor stubs answer: to a real session, or another stub.
    public convenience init(
        clock: any Clock<Duration> = ContinuousClock(), fallingBackTo session: any NetworkSession
    ) {
        self.init(clock, .session(session), [])
    }

    private init(_ clock: any Clock<Duration>, _ fallback: Fallback, _ responses: [MockResponse]) {
        var state = State()
        state.queue.append(responses)
        self.state = Protected(state)
        self.fallback = fallback
        self.clock = clock
    }

    /// Answers a request as scripted.
    ///
    /// - Throws: `NetworkError` for a fault, a timeout or a request that may not be sent, `CancellationError` when the
    ///   task is cancelled.
    public func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        try Task.checkCancellation()
        try request.validate()
        let body = try await request.body.isStreamed ? withOwnTask { try await request.readBody() } : request.readBody()
        let request = request.replacingBody(with: body)
        let (recorded, scripted) = record(request, body)
        if let response = try scripted ?? answer(to: recorded, request) {
            return try await exchange(request, response)
        }
        switch fallback {
        case .session(let session):
            var response = try await withOwnTask { try await session.send(request) }
            if response.request == nil { response.request = request }
            return response
        case .closure(let answer):
            let response = try await caught(request) { try await withOwnTask { try await answer(request) } }
            return try await exchange(request, response)
        case .none:
            throw NetworkError(.unmatchedRequest, reason: refusal(of: recorded, request)).noting(request)
        }
    }

    /// Appends responses to the queue, which is used up before stubs and closure are asked.
    public func enqueue(_ responses: MockResponse...) {
        state.withLock { $0.queue.append(responses) }
    }

    /// The requests so far, in the order they were sent, those that failed afterwards included. The body of one that
    /// was streamed is here as it was read.
    public var requests: [NetworkRequest] {
        state.withLock { $0.requests }
    }

    /// The same requests as they would have been on the wire: fields of the body, `Host` and `Content-Length`
    /// included, bodies read.
    public var recordedRequests: [RecordedRequest] {
        state.withLock { $0.recorded }
    }

    // MARK: One request

    private func record(_ request: NetworkRequest, _ body: Data?) -> (RecordedRequest, MockResponse?) {
        state.withLock { state in
            let recorded = request.recorded(body: body, index: state.requests.count)
            state.requests.append(request)
            state.recorded.append(recorded)
            let response = state.queue.next()
            if response != nil { state.answered += 1 }
            return (recorded, response)
        }
    }

    private func answer(to recorded: RecordedRequest, _ request: NetworkRequest) throws -> MockResponse? {
        do {
            let response = try board.answer(to: recorded)
            if response != nil { state.withLock { $0.answered += 1 } }
            return response
        } catch {
            throw Self.thrown(error, request)
        }
    }

    private func exchange(_ request: NetworkRequest, _ response: MockResponse) async throws -> NetworkResponse {
        let exchange = StubExchange(request: request, response: response, clock: clock)
        return try await response.isImmediate ? exchange.run() : withOwnTask { try await exchange.run() }
    }

    private func refusal(of recorded: RecordedRequest, _ request: NetworkRequest) -> String {
        let answered = state.withLock { $0.answered }
        let type = recorded.headers["Content-Type"].map { " of \($0)" } ?? ""
        let body = recorded.body.isEmpty ? "" : " with \(recorded.body.count) bytes\(type)"
        let endPoint = request.endPointName.map { ", \($0)" } ?? ""
        let text = board.noteUnmatched(recorded, "\(request)\(body)\(endPoint)")
        return "StubSession: \(text)" + (board.isEmpty ? " (\(answered) answered)" : "")
    }

    private func caught<Output>(
        _ request: NetworkRequest, isolation: isolated (any Actor)? = #isolation, _ answer: () async throws -> Output
    ) async throws -> Output {
        do {
            return try await answer()
        } catch {
            board.note(error, "the closure for \(request)")
            throw Self.thrown(error, request)
        }
    }

    private static func thrown(_ error: any Error, _ request: NetworkRequest) -> any Error {
        switch error {
        case let error as NetworkError: return error.noting(request)
        case is CancellationError: return error
        default:
            let reason = "StubSession: the closure threw \(error)"
            return NetworkError(.unknown, reason: reason, underlying: error).noting(request)
        }
    }
}

extension StubSession: StubAnswering {
    /// Adds a stub. Of those that match a request, the newest answers that is not used up.
    @discardableResult
    public func add(_ stub: Stub) -> Stub {
        board.add(stub)
        return stub
    }

    /// Requests that nothing answered, closures that threw what is no answer, stubs that were asked too seldom, and
    /// responses left in the queue.
    public var faults: [String] {
        let left = state.withLock { $0.queue.rest }
        return board.faults
            + (left.isEmpty ? [] : ["never requested: \(left.map(\.description).joined(separator: "; "))"])
    }

    /// What is wrong when these stubs, among themselves, should have been asked in exactly this order, each as often as
    /// it is listed; nil when they were.
    public func fault(inOrder stubs: [Stub]) -> String? {
        board.fault(inOrder: stubs)
    }
}
