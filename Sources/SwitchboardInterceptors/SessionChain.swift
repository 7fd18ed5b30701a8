import Foundation
import Switchboard

/// A session with interceptors, for requests without a router.
///
/// ```swift
/// let session = SessionChain {
///     NetworkLogger()
///     RetryPolicy()
///     RedirectInterceptor()
///     CommonHeaders(["X-App": "7"])
///     CurlSession()
/// }
/// let response = try await session.send(NetworkRequest(.get, url))
/// ```
///
/// The chain runs the list in its order, and adds nothing, not even redirects. The session comes last: a second
/// session, or an interceptor behind it, does not compile. Without a session every request fails with
/// `NetworkError.Code.cannotConnect`, which names the last interceptor.
///
/// A request that is sent with it is a call, as with a router: its total timeout applies, its monitors receive its
/// events, and the response has a `NetworkResponse.history`. As the session of a router, or within another chain, its
/// interceptors join the others. Those before the first interceptor that is only for exchanges, such as
/// `CookieInterceptor`, wrap the call.
public struct SessionChain: ListedSession {
    package let links: [InterceptorChain.Link]
    package let session: any NetworkSession
    private let calls: RouterCalls
    /// The chain for a request that is already part of a call, which records the exchange.
    private let inner: InterceptorChain

    /// Creates a chain from a list, outermost first. `clock` measures `Timeouts.total`.
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
    /// - Throws: `NetworkError`, with `NetworkError.Code.cannotConnect` when the chain has no session;
    ///   `CancellationError`.
    public func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        guard !request.isPartOfCall else { return try await inner.send(request) }
        var request = request
        request.call = nil
        try request.encodeBody()
        return try await calls.send(request)
    }
}

extension SessionChain: Resettable {
    /// Cancels the calls in flight that were sent with this chain, and resets the interceptors with state, as
    /// `Router.reset()` does.
    public func reset() async {
        await calls.reset()
    }
}

/// The session of a chain without a session. It fails every request.
private struct MissingSession: NetworkSession {
    let lastLink: String?

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        let why = lastLink.map { "the chain has no session behind its last link, \($0)" } ?? "the chain is empty"
        throw NetworkError(.cannotConnect, reason: why)
    }
}
