import Switchboard

/// A double that stubs answer: ``StubSession`` and ``MockServer``.
public protocol StubAnswering: Verifiable {
    /// Adds a stub. Of those that match a request, the newest answers that is not used up.
    @discardableResult
    func add(_ stub: Stub) -> Stub
}

extension StubAnswering {
    /// Answers the requests that match.
    ///
    /// ```swift
    /// session.stub(.get("popular"), with: .status(503), .json(page))
    /// ```
    ///
    /// - Parameters:
    ///   - matcher: Which requests.
    ///   - times: How often it should be asked, and may answer. Nil, the default, for at least as often as it has
    ///     responses.
    ///   - responses: One after the other; the last one stays. None is a 200 without a body.
    /// - Returns: The stub, which tells what came.
    @discardableResult
    public func stub(_ matcher: RequestMatcher, times: CallCount? = nil, with responses: MockResponse...) -> Stub {
        add(matcher, times, responses)
    }

    /// Answers the requests that match by a closure, which runs for each of them. What it throws arrives as from
    /// ``StubSession/Answer``; a ``MockServer`` closes the connection for a `NetworkError` and answers 500 for anything
    /// else. That it threw anything else is one of the ``Verifiable/faults``.
    ///
    /// - Parameters:
    ///   - matcher: Which requests.
    ///   - times: How often it should be asked, and may answer. Default at least once.
    ///   - answer: Makes the response.
    /// - Returns: The stub, which tells what came.
    @discardableResult
    public func stub(
        _ matcher: RequestMatcher, times: CallCount = .atLeast(1),
        answer: @escaping @Sendable (RecordedRequest) throws -> MockResponse
    ) -> Stub {
        add(Stub(matcher, times: times, answer: .closure(answer)))
    }

    /// Answers the requests of an endpoint: `session.stub(MovieApi.newMovies(page: 1), with: .json(page))`; see
    /// ``RequestMatcher/endPoint(_:)`` and ``stub(_:times:with:)-(RequestMatcher,_,_)``.
    @discardableResult
    public func stub<EndPoint: EndPointType>(
        _ endPoint: EndPoint, times: CallCount? = nil, with responses: MockResponse...
    ) -> Stub {
        add(.endPoint(endPoint), times, responses)
    }

    /// The stubs of one API, whose cases then need no type: `movies.stub(.newMovies(page: 1), with: .json(page))`.
    public func stubs<EndPoint: EndPointType>(for type: EndPoint.Type) -> EndPointStubs<EndPoint> {
        EndPointStubs(double: self)
    }

    func add(_ matcher: RequestMatcher, _ times: CallCount?, _ responses: [MockResponse]) -> Stub {
        var queue = ResponseQueue()
        queue.append(responses.isEmpty ? [.status(200)] : responses)
        return add(Stub(matcher, times: times ?? .atLeast(queue.length), answer: .queue(queue)))
    }
}
