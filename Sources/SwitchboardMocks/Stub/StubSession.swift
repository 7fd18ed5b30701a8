import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardContracts

/// A session without a network that answers with scripted responses and records the requests.
///
/// ```swift
/// import SwitchboardTesting
///
/// let session = StubSession { request in
///     .json(#"{"page":1,"results":[]}"#)
/// }
/// let router = Router<MovieApi>(session: session)
/// _ = try await router.request(.newMovies(page: 1), as: MoviePage.self)
/// #expect(session.requests.map(\.url?.query) == ["page=1"])
/// ```
///
/// The response at the head of the queue answers a request. When the queue is empty, the newest matching stub answers,
/// then the closure or the fallback session. A request without an answer, or with a stub that expects
/// ``Stub/Count/never``, fails with `NetworkError.unmatchedRequest`, which shows the request and the nearest stubs.
///
/// The session replaces only the network, so the router's interceptors, status handling and decoding work as usual. It
/// follows the rules of a session: it refuses an invalid request before it records it, throws for a body that cannot be
/// encoded, applies limits and timeouts, and sends no body with HEAD, 204 and 304. The timeouts of a request apply to
/// the delays of its response, and not to the time that a closure takes. Every error of a closure arrives as a
/// `NetworkError` or a `CancellationError`. Stub sessions share nothing, so tests may run in parallel.
public final class StubSession: NetworkSession {
    /// Answers a request. An error other than `NetworkError` and `CancellationError` arrives inside a
    /// ``/Switchboard/NetworkError/Code/unknown``.
    public typealias Answer = @Sendable (NetworkRequest) async throws -> MockResponse

    private struct State {
        var queue = ResponseQueue()
        var requests: [NetworkRequest] = []
        var recorded: [RecordedRequest] = []
        var answered = 0
    }

    /// The answer when neither the queue nor a stub has one.
    private enum Fallback: Sendable {
        case none
        case closure(Answer)
        case session(any NetworkSession)
    }

    private let state: Protected<State>
    private let registry = StubRegistry()
    private let contracts = MockContracts()
    private let fallback: Fallback
    private let clock: any Clock<Duration>

    /// Creates a session that calls a closure for each request that neither the queue nor a stub answers.
    ///
    /// - Parameters:
    ///   - clock: The clock that measures delays and timeouts. Default the real one.
    ///   - answer: Called for each such request, concurrently for concurrent requests.
    public convenience init(clock: any Clock<Duration> = ContinuousClock(), _ answer: @escaping Answer) {
        self.init(clock, .closure(answer), [])
    }

    /// Creates a session that answers with these responses, one per request, in order, and then with its stubs.
    public convenience init(clock: any Clock<Duration> = ContinuousClock(), _ responses: MockResponse...) {
        self.init(clock, .none, responses)
    }

    /// Creates a session that forwards requests that neither the queue nor a stub answers to another session, real or
    /// stubbed.
    public convenience init(
        clock: any Clock<Duration> = ContinuousClock(), fallingBackTo session: any NetworkSession
    ) {
        self.init(clock, .session(session), [])
    }

    private init(_ clock: any Clock<Duration>, _ fallback: Fallback, _ responses: [MockResponse]) {
        state = Protected(State(queue: ResponseQueue(responses: responses[...])))
        self.fallback = fallback
        self.clock = clock
    }

    /// Answers a request as scripted.
    ///
    /// - Throws: `NetworkError` for a fault, a timeout or a request that may not be sent, or `CancellationError` when
    ///   the task is canceled.
    public func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        try Task.checkCancellation()
        try request.validate()
        let body = try await request.body.isStreamed ? withOwnTask { try await request.readBody() } : request.readBody()
        let request = request.body.isStreamed ? request.replacingBody(with: body) : request
        let (recorded, scripted) = record(request, body)
        if let response = try scripted ?? answer(to: recorded, request) {
            return try await exchange(request, recorded, response)
        }
        switch registry.refuses(recorded) ? .none : fallback {
        case .session(let session):
            var response = try await withOwnTask { try await request.sendReported(over: session) }
            if response.request == nil { response.request = request }
            let (status, body) = (response.statusCode, response.body)
            let isStream = request.streams(status)
            try check(isStream ? nil : contracts.breach(of: recorded, statusCode: status, body: body), request)
            return response
        case .closure(let answer):
            let response: MockResponse
            do {
                response = try await withOwnTask { try await answer(request) }
            } catch {
                registry.recordError(error, "the closure for \(request)")
                throw Self.thrown(error, request)
            }
            return try await exchange(request, recorded, response)
        case .none:
            throw NetworkError(.unmatchedRequest, reason: refusal(of: recorded, request)).adding(request)
        }
    }

    /// Appends responses to the queue, which answers before stubs and closure do.
    public func enqueue(_ responses: MockResponse...) {
        state.withLock { $0.queue.responses += responses }
    }

    /// The requests so far, in the order they were sent, including those that failed afterwards. A streamed body is
    /// here as the bytes that were read.
    public var requests: [NetworkRequest] {
        state.withLock { $0.requests }
    }

    /// The same requests as they would have been on the wire, with their bodies read. Fields of the body, `Host` and
    /// `Content-Length` are included, also for a stream without a length, which sessions send in chunks.
    public var recordedRequests: [RecordedRequest] {
        state.withLock { $0.recorded }
    }

    // MARK: One request

    private func record(_ request: NetworkRequest, _ body: Data?) -> (RecordedRequest, MockResponse?) {
        var recorded = request.recorded(body: body, index: state.withLock { $0.requests.count })
        let isRefused = registry.refuses(recorded)
        return state.withLock { state in
            recorded.index = state.requests.count  // another request may have come meanwhile
            state.requests.append(request)
            state.recorded.append(recorded)
            let response = isRefused ? nil : state.queue.next()
            if response != nil { state.answered += 1 }
            return (recorded, response)
        }
    }

    private func answer(to recorded: RecordedRequest, _ request: NetworkRequest) throws -> MockResponse? {
        do {
            return try registry.answer(to: recorded)
        } catch {
            throw Self.thrown(error, request)
        }
    }

    private func exchange(
        _ request: NetworkRequest, _ recorded: RecordedRequest, _ response: MockResponse
    ) async throws -> NetworkResponse {
        if let error = response.headerError {
            throw NetworkError(.invalidResponse, reason: "StubSession: \(error)").adding(request)
        }
        try check(contracts.breach(of: recorded, by: response), request)
        return try await StubExchange(request, response, clock: clock).run()
    }

    private func check(_ breach: String?, _ request: NetworkRequest) throws {
        guard let breach else { return }
        throw NetworkError(.contractFault, reason: "StubSession: \(breach)").adding(request)
    }

    private func refusal(of recorded: RecordedRequest, _ request: NetworkRequest) -> String {
        let answered = state.withLock { $0.answered }
        let type = recorded.headers["Content-Type"].map { " of \($0)" } ?? ""
        let body = recorded.body.isEmpty ? "" : " with \(recorded.body.count) bytes\(type)"
        let endPoint = request.endPointName.map { ", \($0)" } ?? ""
        let text = registry.recordUnmatched(recorded, "\(request)\(body)\(endPoint)")
        guard registry.isEmpty else { return "StubSession: \(text)" }
        let advice = answered == 0 ? "; add a stub or a response to this session before the call" : ""
        return "StubSession: \(text) (\(answered) answered)\(advice)"
    }

    private static func thrown(_ error: any Error, _ request: NetworkRequest) -> any Error {
        switch error {
        case let error as NetworkError: return error.adding(request)
        case is CancellationError: return error
        default:
            let reason = "StubSession: the closure threw \(error)"
            return NetworkError(.unknown, reason: reason, underlying: error).adding(request)
        }
    }
}

extension StubSession: StubAnswering {
    /// Adds a stub. Of the stubs that match a request, the newest that is not used up answers.
    @discardableResult
    public func add(_ stub: Stub) -> Stub {
        registry.add(stub)
        return stub
    }

    /// Requires that the answers to the requests that match keep a contract. An answer that breaks it is one of the
    /// ``faults``, and the call throws `NetworkError.Code.contractFault`.
    public func hold(_ matcher: RequestMatcher, to contract: Contract) {
        contracts.hold(matcher, to: contract)
    }

    /// Requests that nothing answered, closures that threw an error other than `NetworkError` and `CancellationError`,
    /// stubs that answered too few requests, answers that broke a contract, and responses left in the queue.
    public var faults: [String] {
        let left = state.withLock { $0.queue.rest }
        return registry.faults + contracts.faults
            + (left.isEmpty ? [] : ["never requested: \(left.map(\.description).joined(separator: "; "))"])
    }

    /// Returns a message unless these stubs answered in exactly this order, each as often as it is listed, or nil when
    /// they did. Other stubs are ignored.
    package func fault(inOrder stubs: [Stub]) -> String? {
        registry.fault(inOrder: stubs)
    }
}

extension NetworkError.Code {
    /// No stub and no cassette entry answers the request. The reason shows the nearest ones. By default, a
    /// `RetryPolicy` does not retry it.
    public static let unmatchedRequest = NetworkError.Code(rawValue: "unmatchedRequest")
}

extension NetworkError {
    /// ``Code/unmatchedRequest``
    public static var unmatchedRequest: Code { .unmatchedRequest }
}
