import Switchboard
import SwitchboardContracts

/// A mock that answers with stubs: ``StubSession`` or ``MockServer``.
public protocol StubAnswering: Sendable {
    /// Adds a stub. Of the stubs that match a request, the newest that is not used up answers.
    @discardableResult
    func add(_ stub: Stub) -> Stub

    /// Requires that the answers to the requests that match keep a contract.
    ///
    /// An answer with a 2xx status that breaks the contract is one of the ``faults``. A ``StubSession`` also
    /// throws `NetworkError.Code.contractFault` in place of the answer. A 204, a 206, answers to HEAD and answers that
    /// a fault cuts short are not checked.
    func hold(_ matcher: RequestMatcher, to contract: Contract)

    /// One message per unmet expectation, empty when all are met. `verify()` of SwitchboardTesting fails the test with
    /// them.
    var faults: [String] { get }
}

extension StubAnswering {
    /// Answers the requests that match.
    ///
    /// ```swift
    /// let session = StubSession()
    /// session.stub(.get("popular"), with: .status(503), .json(page))
    /// ```
    ///
    /// - Parameters:
    ///   - matcher: The conditions for a request.
    ///   - times: The number of requests that the stub expects, and the most that it answers. Nil, the default, expects
    ///     at least as many requests as there are responses.
    ///   - responses: The responses, used in order. The last one repeats. No response means a 200 without a body.
    /// - Returns: The stub, which records the requests that it answered.
    @discardableResult
    public func stub(_ matcher: RequestMatcher, times: Stub.Count? = nil, with responses: MockResponse...) -> Stub {
        add(matcher, times, responses)
    }

    /// Answers the requests that match with a closure, which runs for each of them.
    ///
    /// A ``StubSession`` throws the closure's error as for ``StubSession/Answer``. A ``MockServer`` closes the
    /// connection for a `NetworkError` and answers 500 for any other error. An error other than `NetworkError` and
    /// `CancellationError` is also one of the ``faults``.
    ///
    /// - Parameters:
    ///   - matcher: The conditions for a request.
    ///   - times: The number of requests that the stub expects, and the most that it answers. Default at least once.
    ///   - answer: Creates the response.
    /// - Returns: The stub, which records the requests that it answered.
    @discardableResult
    public func stub(
        _ matcher: RequestMatcher, times: Stub.Count = .atLeast(1),
        answer: @escaping @Sendable (RecordedRequest) throws -> MockResponse
    ) -> Stub {
        add(Stub(matcher, times: times, answer: answer))
    }

    /// Answers the requests of an endpoint: `session.stub(MovieApi.newMovies(page: 1), with: .json(page))`; see
    /// ``RequestMatcher/endPoint(_:)`` and ``stub(_:times:with:)-(RequestMatcher,_,_)``.
    @discardableResult
    public func stub<EndPoint: EndPointType>(
        _ endPoint: EndPoint, times: Stub.Count? = nil, with responses: MockResponse...
    ) -> Stub {
        add(.endPoint(endPoint), times, responses)
    }

    /// Returns a value that adds stubs for one API, whose cases then need no type name:
    /// `movies.stub(.newMovies(page: 1), with: .json(page))`.
    public func stubs<EndPoint: EndPointType>(for type: EndPoint.Type) -> EndPointStubs<EndPoint> {
        EndPointStubs(mock: self)
    }

    func add(_ matcher: RequestMatcher, _ times: Stub.Count?, _ responses: [MockResponse]) -> Stub {
        let queue = ResponseQueue(responses: responses.isEmpty ? [.status(200)] : responses[...])
        return add(Stub(matcher, times: times ?? .atLeast(queue.length), queue: queue))
    }
}

/// Adds stubs for the cases of one API; see ``StubAnswering/stubs(for:)``.
public struct EndPointStubs<EndPoint: EndPointType>: Sendable {
    let mock: any StubAnswering

    /// Answers the requests of an endpoint; see ``StubAnswering/stub(_:times:with:)-(EndPoint,_,_)``.
    @discardableResult
    public func stub(_ endPoint: EndPoint, times: Stub.Count? = nil, with responses: MockResponse...) -> Stub {
        mock.add(.endPoint(endPoint), times, responses)
    }
}
