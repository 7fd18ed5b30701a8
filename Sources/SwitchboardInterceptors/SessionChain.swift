import Foundation
import Switchboard

/// Interceptors over a session, as one session: for requests without a router.
///
/// ```swift
/// let session = SessionChain {
///     NetworkLogger()
///     RetryPolicy()
///     RedirectInterceptor()
///     CookieInterceptor()
///     CurlSession()
/// }
/// let response = try await session.send(NetworkRequest(.get, url))
/// ```
///
/// What is listed is what runs, in that order; nothing is added, redirects neither. The session stands last: a second one,
/// or an interceptor behind it, does not compile. Without a session every request fails with
/// `NetworkError.Code.cannotConnect`, which names the last interceptor.
///
/// A request that is sent here is a call as a router makes it: its total timeout holds, its monitors hear of it, and the
/// response has a `NetworkResponse.history`. As the session of a router or within another chain its interceptors join
/// theirs: those before the first one that is for exchanges alone, such as `CookieInterceptor`, wrap the call.
public struct SessionChain: ListedSession {
    package let links: [InterceptorChain.Link]
    package let session: any NetworkSession
    private let calls: RouterCalls
    /// For a request that is part of a call already, whose exchange is noted there.
    private let inner: InterceptorChain

    /// Makes a chain of what is listed, outermost first. `Timeouts.total` is measured by `clock`.
    public init(clock: any Clock<Duration> = ContinuousClock(), @Builder _ links: () -> Builder.Closed) {
        let listed = links()
        let last = listed.interceptors.last.map { "\(type(of: $0.interceptor))" }
        self.links = listed.interceptors
        session = listed.session ?? MissingSession(lastLink: last)
        calls = RouterCalls(InterceptorChain(self.links, session), nil, clock)
        inner = InterceptorChain(self.links, session, notesExchanges: false)
    }

    /// Sends a request through the interceptors.
    ///
    /// - Throws: `NetworkError`, `NetworkError.Code.cannotConnect` when the chain has no session; `CancellationError`.
    public func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        guard request.call == nil else { return try await inner.send(request) }
        var request = request
        try request.encodeBody()
        return try await calls.send(request)
    }
}

extension SessionChain: Resettable {
    /// Ends the calls under way that were sent here, and resets the interceptors that hold something, as
    /// `Router.reset()` does.
    public func reset() async {
        await calls.reset()
    }
}

/// Where a chain ends that has no session.
private struct MissingSession: NetworkSession {
    let lastLink: String?

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        let why = lastLink.map { "the chain has no session behind its last link, \($0)" } ?? "the chain is empty"
        throw NetworkError(.cannotConnect, reason: why)
    }
}
