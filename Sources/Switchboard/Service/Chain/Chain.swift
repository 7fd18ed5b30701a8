/// Interceptors over a session, as one session: for requests without a router.
///
/// ```swift
/// let session = Chain {
///     NetworkLogger()
///     RetryPolicy()
///     RedirectInterceptor()
///     CurlSession()
/// }
/// let response = try await session.send(NetworkRequest(.get, url))
/// ```
///
/// The session stands last: a second one, or an interceptor behind it, does not compile. One that stands in no chain, or in
/// two, cannot be: a chain is a value, and no link knows another. Without a session every request fails with
/// ``NetworkError/Code/cannotConnect``, which names the last link.
///
/// A request that is sent here is a call as a router makes it: its total timeout holds, its monitors hear of it, and the
/// response has a ``NetworkResponse/history``. Nothing is listed by itself, redirects neither. As the session of a router
/// or within another chain its links join theirs.
public struct Chain: CallCancellableSession {
    let interceptors: [any Interceptor]
    let session: any NetworkSession
    private let calls: RouterCalls
    /// For a request that is part of a call already, whose exchange is noted there.
    private let inner: InterceptorChain

    /// Makes a chain of what is listed, outermost first. ``Timeouts/total`` is measured by `clock`.
    public init(clock: any Clock<Duration> = ContinuousClock(), @Builder _ links: () -> Links) {
        let links = links()
        let last = links.interceptors.last.map { "\(type(of: $0))" }
        interceptors = InterceptorChain.ordered(InterceptorChain.once(links.interceptors))
        session = links.session ?? MissingSession(lastLink: last)
        calls = RouterCalls(InterceptorChain(interceptors, session), nil, clock)
        inner = InterceptorChain(interceptors + [LastLink(session: session)], session)
    }

    /// Sends a request through the links.
    ///
    /// - Throws: ``NetworkError``, ``NetworkError/Code/cannotConnect`` when the chain has no session; `CancellationError`.
    public func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        guard request.call == nil else { return try await inner.send(request) }
        // Once, so that every sending has the same bytes.
        return try await calls.send(try request.withEncodedBody())
    }
}

extension Chain: Resettable {
    /// Ends the calls under way that were sent here, and resets the links that hold something, as ``Router/reset()`` does.
    public func reset() async {
        await calls.reset()
    }
}

/// Where a chain ends that has no session.
private struct MissingSession: NetworkSession {
    let lastLink: String?

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        let why = lastLink.map { "the chain has no session behind its last link, \($0)" } ?? "the chain is empty"
        throw NetworkError(.cannotConnect, reason: why).attributed(to: request)
    }
}

/// Sends without noting an exchange.
private struct LastLink: Interceptor {
    let session: any NetworkSession

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        try CallCancellation.check()
        guard !(session is any CallCancellableSession) else { return try await session.send(request) }
        return try await session.sendWithinCall(request)
    }

    func plan(for request: inout NetworkRequest) async -> [String] { [] }
}
