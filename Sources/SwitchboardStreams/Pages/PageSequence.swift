import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardText

/// The pages of a list, requested one by one. `NetworkRouter.pages(for:as:from:options:isolation:)` and similar
/// functions create it.
///
/// Each request is sent only when its page is read, so leaving the loop or canceling the task sends nothing more. To
/// read at most ten pages, write `pages.prefix(10)`. Each iteration starts at the first page with a new request.
///
/// The pages end after the last one, and also:
/// - With a 204, which has no content to decode.
/// - Before a page that this iteration already requested: the same token, or the same method, URL, header fields and
///   body. A hash of 128 bits records each. The user of a URL does not distinguish tokens.
/// - In number and cursor paging, before a page whose body has the same bytes as the previous one, unless it is empty.
///   Such a server ignores the number.
///
/// An error also ends the pages. It is thrown once, after the pages before it.
public struct PageSequence<Value, Token: Hashable & Sendable>: AsyncSequence, Sendable {
    /// The type of a page.
    public typealias Element = Page

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
        public mutating func next() async throws -> Page? {
            guard !isOver else { return nil }
            isOver = true
            guard let page = try await plan.environment.run({ try await loadPage() }) else { return nil }
            token = page.next
            isOver = page.next == nil
            return page
        }

        private mutating func loadPage() async throws -> Page? {
            try Task.checkCancellation()
            if let token { sent.insert(token) }
            let response: NetworkResponse
            do {
                response = try await plan.send(token, sent)
            } catch {
                if sent.hasRefusedRepeat { return nil }
                throw error
            }
            do {
                let page = try await read(response)
                response.endCall()
                return page
            } catch {
                response.endCall(with: error)
                throw error
            }
        }

        private mutating func read(_ response: NetworkResponse) async throws -> Page? {
            try response.checkStatus()
            guard response.statusCode != 204, !isRepeat(response) else { return nil }
            lastBody = response.body
            let (value, next) = try await plan.read((response, token)).value
            return Page(value: value, response: response, next: next.flatMap { sent.contains($0) ? nil : $0 })
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

extension PageSequence {
    /// One page of the sequence.
    public struct Page {
        /// The decoded body.
        public let value: Value
        /// The response that contained the page.
        public let response: NetworkResponse
        /// The token of the next page, or nil on the last page. Store it to resume the pages later, even in another
        /// process.
        public let next: Token?

        /// Creates a page, for mocks.
        public init(value: Value, response: NetworkResponse, next: Token?) {
            self.value = value
            self.response = response
            self.next = next
        }
    }
}

extension PageSequence.Page: CustomReflectable {
    /// A mirror with the token as text without secrets, because it may be a URL.
    public var customMirror: Mirror {
        let token = next.map { Redaction.standard.text(String(describing: $0)) }
        return Mirror(self, children: ["value": value, "response": response, "next": token as Any])
    }
}

extension PageSequence.Page: Sendable where Value: Sendable {}

extension PageSequence.Page: Equatable where Value: Equatable {
    /// Compares value and next page, but not the response.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.value == rhs.value && lhs.next == rhs.next
    }
}

extension PageSequence {
    /// Returns the items of all pages, one after the other. The next page is requested when all items of a page are
    /// read. Empty pages are skipped.
    ///
    /// ```swift
    /// let pages = router.pages(for: .popular(page: 1), as: MoviePage.self)
    /// for try await movie in pages.items(\.results) { show(movie) }
    /// ```
    ///
    /// - Parameters:
    ///   - path: The path to the items of a page.
    ///   - isolation: The actor on which the path is read: the caller's.
    /// - Returns: The items. Each iteration starts at the first page.
    public func items<Item>(
        _ path: KeyPath<Value, [Item]>, isolation: isolated (any Actor)? = #isolation
    ) -> Items<Item> {
        let environment = plan.environment
        return Items(pages: self, read: ActorBound { page in environment.run { page[keyPath: path] } }.sendable)
    }

    /// Returns the items of all pages, which a closure finds in each page. Otherwise the same as
    /// ``items(_:isolation:)``.
    ///
    /// - Parameter items: Returns the items of a page. It runs on the caller's actor if it uses that actor.
    /// - Returns: The items. Each iteration starts at the first page.
    public func items<Item>(
        @_inheritActorContext _ items: @escaping @Sendable (Value) async -> [Item]
    ) -> Items<Item> {
        let environment = plan.environment
        return Items(pages: self) { page in await environment.run { Transferred(await items(page)) } }
    }

    /// Returns the items of pages that are lists themselves. See ``items(_:isolation:)``.
    public func items() -> Items<Value.Element> where Value: Sequence & Sendable {
        items { Array($0) }
    }

    /// The items of all pages. See ``PageSequence/items(_:isolation:)``.
    public struct Items<Item>: AsyncSequence, Sendable {
        /// The type of an item.
        public typealias Element = Item

        let pages: PageSequence
        let read: @Sendable (Value) async throws -> Transferred<[Item]>

        /// Reads the items in order.
        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate var pages: PageSequence.AsyncIterator
            fileprivate let read: @Sendable (Value) async throws -> Transferred<[Item]>
            fileprivate var rest: ArraySlice<Item> = []

            /// Returns the next item, or nil after the last one or after an error.
            ///
            /// - Throws: The errors of ``PageSequence/AsyncIterator/next()``.
            public mutating func next() async throws -> Item? {
                while rest.isEmpty {
                    guard let page = try await pages.next() else { return nil }
                    rest = try await read(page.value).value[...]
                }
                return rest.popFirst()
            }
        }

        /// Creates an iterator that starts at the first page.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(pages: pages.makeAsyncIterator(), read: read)
        }
    }
}

/// The steps of one kind of paging.
struct PagePlan<Value, Token: Hashable & Sendable>: Sendable {
    /// The token of the first page, or nil for the unchanged endpoint.
    let first: Token?
    /// Whether a page with the same body as the previous page counts as a repetition.
    let comparesBodies: Bool
    /// The environment of all requests.
    let environment: CallEnvironment
    let read: PageReader<Value, Token>
    /// Sends the request for a page, and records it in the ``SentPages``.
    let send: @Sendable (Token?, SentPages) async throws -> NetworkResponse
}

/// Decodes the page of a token. Returns it with the token of the page that follows, which is nil after the last one.
typealias PageReader<Value, Token> = ActorBound<(NetworkResponse, Token?), (value: Value, next: Token?)>

/// Records the requests of one iteration over pages, so that none is sent twice.
final class SentPages: Sendable {
    private struct State {
        var seen: Set<RequestHash> = []
        var hasRefusedRepeat = false
        var lastURL: URL?
    }

    private let state = Protected(State())

    /// Records a token. Returns false for a repeated one.
    @discardableResult
    func insert(_ token: some Hashable) -> Bool {
        let requestHash = RequestHash(token)
        return state.withLock { $0.seen.insert(requestHash).inserted }
    }

    func contains(_ token: some Hashable) -> Bool {
        let requestHash = RequestHash(token)
        return state.withLock { $0.seen.contains(requestHash) }
    }

    /// Whether a request was not sent, because an equal one was sent before.
    var hasRefusedRepeat: Bool { state.withLock { $0.hasRefusedRepeat } }

    /// Records a request. Requests with a streamed body are not compared.
    ///
    /// - Throws: `NetworkError` when an equal request was sent before.
    func record(_ request: NetworkRequest) throws(NetworkError) {
        let requestHash = RequestHash(sending: request)
        let isNew = state.withLock { state in
            guard let requestHash, !state.seen.insert(requestHash).inserted else { return true }
            state.hasRefusedRepeat = true
            return false
        }
        if !isNew { throw NetworkError(.cancelled, reason: "this request was sent before") }
    }

    /// Returns the request for the page at a URL from the server, or for the first page when the URL is nil.
    ///
    /// - Throws: `NetworkError.Code.redirectRefused`.
    func request(_ request: NetworkRequest, forPageAt url: URL?) throws(NetworkError) -> NetworkRequest {
        let lastURL = state.value.lastURL
        guard let url else {
            if let first = request.url { insert(first.withoutFragment) }
            return request
        }
        if let lastURL {
            try url.refuseDowngrade(from: lastURL)
            // The first request has consumed the body.
            guard request.body.isReplayable else {
                throw NetworkError(.redirectRefused, reason: "the body cannot be sent twice")
            }
        }
        var request = request
        // As with redirects, credentials stay removed even at the first origin: another origin chose this URL.
        if url.isFromAnotherOrigin { request.leaveOrigin() }
        return try request.moved(to: url.withoutFragment)
    }

    /// Records the URL of the response, after redirects.
    func recordResponseURL(_ url: URL?) {
        guard let url else { return }
        insert(url.withoutFragment)
        state.withLock { $0.lastURL = url }
    }
}

/// A 128-bit hash of a token or request, with a random seed for each process.
private struct RequestHash: Hashable, Sendable {
    private let first: Int
    private let second: Int

    init(_ token: some Hashable) {
        var value = AnyHashable(token)
        // An optional URL would have another hash. A request adds the user of the first URL to its own.
        if let url = token as? URL {
            value = AnyHashable((url.isFromAnotherOrigin ? url.withoutFragment : url).withoutUserInfo.url)
        }
        func hash(_ seed: Int) -> Int {
            var hasher = Hasher()
            hasher.combine(seed)
            hasher.combine(value)
            return hasher.finalize()
        }
        first = hash(1)
        second = hash(2)
    }

    /// Creates the hash of a request from method, URL, header fields and body. Nil for a body that cannot be read.
    init?(sending request: NetworkRequest) {
        guard !request.body.isStreamed, let body = try? request.body.isEmpty ? Data() : request.body.encode() else {
            return nil
        }
        self.init(
            Sent(
                method: request.method, url: request.url?.withoutFragment.absoluteString, headers: request.headers,
                body: body))
    }

    private struct Sent: Hashable {
        let method: HTTPMethod
        let url: String?
        let headers: HTTPHeaders
        let body: Data
    }
}
