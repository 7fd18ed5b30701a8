import Foundation
import Switchboard

/// The pages of a list, requested one by one. `NetworkRouter.pages(of:as:from:isolation:)` and similar functions create it.
///
/// Each request is sent only when its page is read, so leaving the loop or canceling the task sends nothing more. To
/// read at most ten pages, write `pages.prefix(10)`. Each iteration starts at the first page with a new request.
///
/// The pages end after the last one, and also:
/// - With a 204, which has no content to decode.
/// - Before a page that this iteration already requested: the same token, or the same method, URL, header fields and
///   body. A hash of 128 bits records each.
/// - In number and cursor paging, before a page whose body has the same bytes as the previous one, unless it is empty.
///   Such a server ignores the number.
///
/// An error also ends the pages. It is thrown once, after the pages before it.
public struct PageSequence<Value, Token: Hashable & Sendable>: AsyncSequence, Sendable {
    /// The type of a page.
    public typealias Element = ResponsePage<Value, Token>

    let plan: PagePlan<Value, Token>

    /// Requests page after page.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        private let plan: PagePlan<Value, Token>
        private let sent = SentPages()
        private var token: Token?
        private var lastBody = Data()
        private var isOver = false

        fileprivate init(_ plan: PagePlan<Value, Token>) {
            self.plan = plan
            token = plan.first
        }

        /// Loads the next page. Nil after the last page or after an error.
        ///
        /// - Throws: `NetworkError` as from `NetworkRouter.request(_:as:options:isolation:)`, with
        ///   `NetworkError.Code.redirectRefused` for a link that must not be followed. `CancellationError` when the
        ///   task or the router was canceled.
        public mutating func next() async throws -> ResponsePage<Value, Token>? {
            guard !isOver else { return nil }
            isOver = true
            guard let page = try await plan.environment.run({ try await ask() }) else { return nil }
            token = page.next
            isOver = page.next == nil
            return page
        }

        /// Runs a closure of the app in the environment of the pages.
        func inEnvironment<Output>(_ operation: () -> Output) -> Output {
            plan.environment.run(operation)
        }

        private mutating func ask() async throws -> ResponsePage<Value, Token>? {
            try Task.checkCancellation()
            if let token { sent.insert(token) }
            guard let response = try await sent.asking({ try await plan.send(token, sent) }) else { return nil }
            do {
                let page = try await read(response)
                response.endCall()
                return page
            } catch {
                response.endCall(with: error)
                throw error
            }
        }

        private mutating func read(_ response: NetworkResponse) async throws -> ResponsePage<Value, Token>? {
            try response.handling.check(response)
            guard response.statusCode != 204, !isRepeat(response) else { return nil }
            lastBody = response.body
            let value = try await plan.decode(response).value
            let next = try plan.next(value, response, token)
            return ResponsePage(value: value, response: response, next: next.flatMap { sent.contains($0) ? nil : $0 })
        }

        /// Returns whether the server repeated the previous page.
        private func isRepeat(_ response: NetworkResponse) -> Bool {
            plan.comparesBodies && !response.body.isEmpty && response.body == lastBody
        }
    }

    /// Creates an iterator that starts at the first page.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(plan)
    }
}
