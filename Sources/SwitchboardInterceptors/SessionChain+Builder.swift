import Foundation
import Switchboard

extension SessionChain {
    /// Builds the list of a ``SessionChain``. `if`, `switch` and loops may select interceptors. `if` and `switch` may
    /// select the session.
    @resultBuilder
    public enum Builder {
        /// Interceptors that others may follow.
        public struct Open: Sendable {
            var interceptors: [InterceptorChain.Link] = []
        }

        /// Interceptors and the end of the list, which nothing may follow: a session, or nothing.
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

        /// Rejects an interceptor behind the session at compile time: no request would reach it.
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
