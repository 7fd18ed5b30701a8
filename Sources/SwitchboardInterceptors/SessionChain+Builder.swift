import Foundation
import Switchboard

extension SessionChain {
    /// Collects what is listed in a ``SessionChain``. `if`, `switch` and loops may choose interceptors, and `if`
    /// and `switch` the session.
    @resultBuilder
    public enum Builder {
        /// Interceptors, behind which more may stand.
        public struct Open: Sendable {
            var interceptors: [InterceptorChain.Link] = []
        }

        /// Interceptors and their end, behind which nothing may stand: a session, or nothing.
        public struct Closed: Sendable {
            var interceptors: [InterceptorChain.Link] = []
            var session: (any NetworkSession)?
        }

        /// An interceptor of calls.
        public static func buildExpression(_ interceptor: some Interceptor) -> Open {
            Open(interceptors: [.call(interceptor)])
        }

        /// An interceptor of exchanges.
        public static func buildExpression(_ interceptor: some ExchangeInterceptor) -> Open {
            Open(interceptors: [.exchange(interceptor)])
        }

        /// An interceptor that may be either.
        public static func buildExpression(_ interceptor: some Interceptor & ExchangeInterceptor) -> Open {
            Open(interceptors: [.call(interceptor)])
        }

        /// Interceptors at hand, in their order.
        public static func buildExpression(_ interceptors: [any Interceptor]) -> Open {
            Open(interceptors: interceptors.map(InterceptorChain.Link.call))
        }

        /// The session.
        public static func buildExpression(_ session: any NetworkSession) -> Closed {
            guard let chain = session as? SessionChain else { return Closed(session: session) }
            return Closed(interceptors: chain.links, session: chain.session)
        }

        /// Nothing listed.
        public static func buildBlock() -> Open { Open() }
        /// The first link.
        public static func buildPartialBlock(first: Open) -> Open { first }
        /// A session alone.
        public static func buildPartialBlock(first: Closed) -> Closed { first }

        /// One more interceptor.
        public static func buildPartialBlock(accumulated: Open, next: Open) -> Open {
            Open(interceptors: accumulated.interceptors + next.interceptors)
        }

        /// The session behind the interceptors.
        public static func buildPartialBlock(accumulated: Open, next: Closed) -> Closed {
            Closed(interceptors: accumulated.interceptors + next.interceptors, session: next.session)
        }

        /// Not to be: a chain has one session.
        @available(*, unavailable, message: "a chain has one session, its last link")
        public static func buildPartialBlock(accumulated: Closed, next: Closed) -> Closed { accumulated }

        /// Not to be: nothing would reach it.
        @available(*, unavailable, message: "the session is the last link of a chain")
        public static func buildPartialBlock(accumulated: Closed, next: Open) -> Closed { accumulated }

        /// `if` without `else`.
        public static func buildOptional(_ part: Open?) -> Open { part ?? Open() }
        /// `if` with `else`, and `switch`.
        public static func buildEither(first: Open) -> Open { first }
        /// `if` with `else`, and `switch`.
        public static func buildEither(second: Open) -> Open { second }
        /// `if` with `else`, and `switch`.
        public static func buildEither(first: Closed) -> Closed { first }
        /// `if` with `else`, and `switch`.
        public static func buildEither(second: Closed) -> Closed { second }
        /// A loop.
        public static func buildArray(_ parts: [Open]) -> Open { Open(interceptors: parts.flatMap(\.interceptors)) }
        /// All of it, without a session.
        public static func buildFinalResult(_ all: Open) -> Closed { Closed(interceptors: all.interceptors) }
        /// All of it.
        public static func buildFinalResult(_ all: Closed) -> Closed { all }
    }
}
