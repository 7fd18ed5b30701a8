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
///     DefaultSession.shared
/// }
/// let response = try await session.send(NetworkRequest(.get, url))
/// ```
///
/// The chain runs the list in its order, and adds nothing, not even redirects. The session comes last: a second
/// session, or an interceptor after it, does not compile. Without a session every request fails with
/// `NetworkError.Code.cannotConnect`, which names the last interceptor.
///
/// A request that is sent with it is a call, as with a router: its total timeout applies, its monitors receive its
/// events, and the response has a `NetworkResponse.history`. As the session of a router, or within another chain, its
/// interceptors join the others. Those before the first interceptor that is only for exchanges, such as
/// `CookieInterceptor`, wrap the call.
public struct SessionChain: ListedSession {
    package let links: [InterceptorChain.Link]
    package let session: any NetworkSession
    private let chain: InterceptorChain
    private let calls: RouterCalls

    /// Creates a chain from a list, outermost first. `clock` measures `Timeouts.total`.
    public init(clock: any Clock<Duration> = ContinuousClock(), @Builder _ links: () -> Builder.Closed) {
        let listed = links()
        let last = listed.interceptors.last.map { "\(type(of: $0.interceptor))" }
        self.links = listed.interceptors
        session = listed.session ?? MissingSession(lastLink: last)
        chain = InterceptorChain(self.links, session)
        calls = RouterCalls(chain, nil, clock)
    }

    /// True: the chain itself starts a task for its session if that needs one.
    public var runsInCallersTask: Bool { true }

    /// Invalidates the session of the chain.
    public func invalidate() {
        session.invalidate()
    }

    /// Sends a request through the interceptors.
    ///
    /// - Throws: `NetworkError`, with `NetworkError.Code.cannotConnect` when the chain has no session;
    ///   `CancellationError`.
    public func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        guard !request.isPartOfCall else { return try await chain.send(request) }
        var request = request
        request.call = nil
        return try await PreparedCall(.success(request), calls, request.callEnvironment).send()
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
        let reason =
            lastLink.map { "the chain ends with \($0): add a session after it" } ?? "the chain is empty: add a session"
        throw NetworkError(.cannotConnect, reason: reason)
    }
}

extension SessionChain {
    /// Builds the list of a ``SessionChain``. `if`, `switch` and loops may select interceptors. `if` and `switch` may
    /// select the session.
    @resultBuilder
    public enum Builder {
        /// Interceptors that others may follow.
        public struct Open: Sendable {
            var interceptors: [InterceptorChain.Link] = []
        }

        /// A complete list: interceptors and the session, if there is one.
        public struct Closed: Sendable {
            var interceptors: [InterceptorChain.Link] = []
            var session: (any NetworkSession)?
        }

        /// Adds an interceptor of calls.
        public static func buildExpression(_ interceptor: some Interceptor) -> Open {
            Open(interceptors: [.call(interceptor)])
        }

        /// Adds an interceptor of exchanges.
        public static func buildExpression(_ interceptor: some ExchangeInterceptor) -> Open {
            Open(interceptors: [.exchange(interceptor)])
        }

        /// Adds an interceptor that may be either.
        public static func buildExpression(_ interceptor: some Interceptor & ExchangeInterceptor) -> Open {
            Open(interceptors: [.call(interceptor)])
        }

        /// Adds interceptors in their order.
        public static func buildExpression(_ interceptors: [any Interceptor]) -> Open {
            Open(interceptors: interceptors.map(InterceptorChain.Link.call))
        }

        /// Adds the session.
        public static func buildExpression(_ session: any NetworkSession) -> Closed {
            guard let chain = session as? SessionChain else { return Closed(session: session) }
            return Closed(interceptors: chain.links, session: chain.session)
        }

        /// Builds an empty list.
        public static func buildBlock() -> Open { Open() }
        /// Begins a list with interceptors.
        public static func buildPartialBlock(first: Open) -> Open { first }
        /// Begins a list with a session alone.
        public static func buildPartialBlock(first: Closed) -> Closed { first }

        /// Appends interceptors to the list.
        public static func buildPartialBlock(accumulated: Open, next: Open) -> Open {
            Open(interceptors: accumulated.interceptors + next.interceptors)
        }

        /// Appends the session to the interceptors.
        public static func buildPartialBlock(accumulated: Open, next: Closed) -> Closed {
            Closed(interceptors: accumulated.interceptors + next.interceptors, session: next.session)
        }

        /// Rejects a second session at compile time.
        @available(*, unavailable, message: "a chain has one session, its last link")
        public static func buildPartialBlock(accumulated: Closed, next: Closed) -> Closed { accumulated }

        /// Rejects an interceptor after the session at compile time: no request would reach it.
        @available(*, unavailable, message: "the session is the last link of a chain")
        public static func buildPartialBlock(accumulated: Closed, next: Open) -> Closed { accumulated }

        /// Supports `if` without `else`.
        public static func buildOptional(_ part: Open?) -> Open { part ?? Open() }
        /// Supports `if` with `else`, and `switch`.
        public static func buildEither(first: Open) -> Open { first }
        /// Supports `if` with `else`, and `switch`.
        public static func buildEither(second: Open) -> Open { second }
        /// Supports `if` with `else`, and `switch`.
        public static func buildEither(first: Closed) -> Closed { first }
        /// Supports `if` with `else`, and `switch`.
        public static func buildEither(second: Closed) -> Closed { second }
        /// Supports loops.
        public static func buildArray(_ parts: [Open]) -> Open { Open(interceptors: parts.flatMap(\.interceptors)) }
        /// Ends the list without a session.
        public static func buildFinalResult(_ all: Open) -> Closed { Closed(interceptors: all.interceptors) }
        /// Ends the list.
        public static func buildFinalResult(_ all: Closed) -> Closed { all }
    }
}
