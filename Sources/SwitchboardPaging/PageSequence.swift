import Foundation
import Switchboard

/// The pages of a list, asked for one by one: `NetworkRouter.pages(of:as:from:)` and its like make them.
///
/// A request is sent when its page is asked for, no earlier: a loop that is left, or a task that is cancelled, sends
/// nothing more. To take ten pages at most, write `pages.prefix(10)`. Each iteration starts again at the first page,
/// with a request.
///
/// The pages end behind the last one, and also
/// - with a 204, which has nothing in it to be a page;
/// - before a page that was asked for in this iteration already: the same token, or the same method, URL, header fields
///   and body. That is remembered as a hash of 128 bits each;
/// - in number and cursor paging, before a page whose body has the same bytes as the one before it, unless they are
///   none: such a server does not heed the number.
///
/// An error ends them too: it is thrown once, behind the pages that came before it.
public struct PageSequence<Value: Decodable & Sendable, Token: Hashable & Sendable>: AsyncSequence, Sendable {
    /// What comes.
    public typealias Element = ResponsePage<Value, Token>

    let plan: PagePlan<Value, Token>

    /// Asks for page after page.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        private let plan: PagePlan<Value, Token>
        private let trail = PageTrail()
        private let environment: LastingEnvironment
        private var token: Token?
        private var lastBody = Data()
        private var isOver = false

        fileprivate init(_ plan: PagePlan<Value, Token>) {
            self.plan = plan
            environment = LastingEnvironment(plan.environment)
            token = plan.first
        }

        /// Sends the request for the next page; nil behind the last one, and after an error.
        ///
        /// - Throws: `NetworkError`: what `NetworkRouter.request(_:as:options:)` throws, and
        ///   `NetworkError.Code.redirectRefused` for a link that is not to be followed. `CancellationError` when the
        ///   task or the router was cancelled.
        public mutating func next() async throws -> ResponsePage<Value, Token>? {
            guard !isOver else { return nil }
            isOver = true
            guard let page = try await environment.value.run({ try await ask() }) else { return nil }
            token = page.next
            isOver = page.next == nil
            return page
        }

        /// Runs a closure of the app in the environment of the pages.
        func inEnvironment<Output>(_ operation: () -> Output) -> Output {
            environment.value.run(operation)
        }

        private mutating func ask() async throws -> ResponsePage<Value, Token>? {
            try Task.checkCancellation()
            if let token { trail.insert(token) }
            guard let response = try await trail.asking({ try await plan.send(token, trail) }) else { return nil }
            try response.handling.check(response)
            guard response.statusCode != 204, !isRepeat(response) else { return nil }
            lastBody = response.body
            let value = try response.decode(Value.self)
            let next = try plan.next(value, response, token)
            return ResponsePage(value: value, response: response, next: next.flatMap { trail.contains($0) ? nil : $0 })
        }

        /// A router that did not change the request answered the one before it a second time.
        private func isRepeat(_ response: NetworkResponse) -> Bool {
            (plan.comparesBodies || !trail.sawRequest) && !response.body.isEmpty && response.body == lastBody
        }
    }

    /// Starts at the first page.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(plan)
    }
}
