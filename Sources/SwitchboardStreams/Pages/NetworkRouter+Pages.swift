import Foundation
import Switchboard

extension NetworkRouter {
    /// Returns the pages of an endpoint whose server links to the next page in the `Link` field ([RFC
    /// 8288](https://www.rfc-editor.org/rfc/rfc8288), relation `next`).
    ///
    /// ```swift
    /// for try await page in router.pages(for: .issues, as: [Issue].self) {
    ///     show(page.value)
    /// }
    /// ```
    ///
    /// Requests for the following pages have the endpoint's method, header fields and body, and the URL of the link.
    /// The rules of redirects apply: no http after https, and no credentials and only safelisted header fields when
    /// scheme, host or port change; see `RequestOptions.headersToOtherOrigins`. A link from another origin does not
    /// restore the credentials. A fragment, which is never sent, marks such a URL in ``PageSequence/Page/next``.
    ///
    /// - Parameters:
    ///   - endPoint: The endpoint of the first page.
    ///   - type: The type of a decoded page.
    ///   - url: The URL to resume at: the ``PageSequence/Page/next`` of an earlier page. Nil, the default, starts at
    ///     the endpoint's URL.
    ///   - options: Options for the requests of all pages. They override those of the endpoint. Default none.
    ///   - isolation: The actor on which the endpoint is read: the caller's.
    /// - Returns: The pages. No request is sent before the first page is read.
    public func pages<Value: Decodable & Sendable>(
        for endPoint: EndPoint, as type: Value.Type, from url: URL? = nil,
        options: RequestOptions = RequestOptions(), isolation: isolated (any Actor)? = #isolation
    ) -> PageSequence<Value, URL> {
        linkedPages(for: endPoint, options, from: url, reading(type, isolation: nil, nextURL))
    }

    /// Returns the pages of an endpoint whose server links to the next page, decoded on the caller's actor; see
    /// `NetworkRouter.request(_:as:options:isolation:)`.
    public func pages<Value: Decodable>(
        for endPoint: EndPoint, as type: Value.Type, from url: URL? = nil,
        options: RequestOptions = RequestOptions(), isolation: isolated any Actor = #isolation
    ) -> PageSequence<Value, URL> {
        linkedPages(for: endPoint, options, from: url, reading(type, nextURL))
    }

    /// Returns the pages of endpoints with a page number or an offset.
    ///
    /// ```swift
    /// let pages = router.pages(
    ///     as: MoviePage.self, from: 1,
    ///     while: { $0.page < $0.totalPages },
    ///     for: MovieApi.popular)
    /// for try await page in pages { show(page.value) }
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of a decoded page.
    ///   - number: The number of the first page to request: the API's first number, or the ``PageSequence/Page/next``
    ///     of an earlier page.
    ///   - step: The increment to the next page: 1 by default, or the page size for an offset.
    ///   - isFollowed: Returns true when another page follows this one.
    ///   - endPoint: Returns the endpoint of the page with a number.
    ///   - options: Options for the requests of all pages. They override those of the endpoint. Default none.
    ///   - isolation: The actor on which the endpoints are read: the caller's.
    /// - Returns: The pages. No request is sent before the first page is read.
    public func pages<Value: Decodable & Sendable>(
        as type: Value.Type, from number: Int, by step: Int = 1,
        while isFollowed: @escaping @Sendable (Value) -> Bool,
        for endPoint: @escaping @Sendable (Int) -> EndPoint, options: RequestOptions = RequestOptions(),
        isolation: isolated (any Actor)? = #isolation
    ) -> PageSequence<Value, Int> {
        let next = nextNumber(from: number, by: step, while: isFollowed)
        return tokenPages(for: { endPoint($0 ?? number) }, options, from: number, reading(type, isolation: nil, next))
    }

    /// Returns the pages of endpoints with a page number or an offset, decoded on the caller's actor; see
    /// `NetworkRouter.request(_:as:options:isolation:)`.
    public func pages<Value: Decodable>(
        as type: Value.Type, from number: Int, by step: Int = 1,
        while isFollowed: @escaping (Value) -> Bool,
        for endPoint: @escaping @Sendable (Int) -> EndPoint, options: RequestOptions = RequestOptions(),
        isolation: isolated any Actor = #isolation
    ) -> PageSequence<Value, Int> {
        let next = nextNumber(from: number, by: step, while: isFollowed)
        return tokenPages(for: { endPoint($0 ?? number) }, options, from: number, reading(type, next))
    }

    /// Returns the pages of endpoints with a cursor: each page contains the cursor of the next one.
    ///
    /// ```swift
    /// let pages = router.pages(
    ///     as: Feed.self, next: \.nextCursor, for: MovieApi.feed)
    /// for try await page in pages { show(page.value) }
    /// ```
    ///
    /// If the first page has another endpoint, return that for nil:
    /// `{ $0.map { .feed(after: $0) } ?? .search("alien") }`.
    ///
    /// - Parameters:
    ///   - type: The type of a decoded page.
    ///   - cursor: The cursor to resume at: the ``PageSequence/Page/next`` of an earlier page. Nil, the default, starts
    ///     at the first page.
    ///   - next: Returns the cursor of the following page. Nil or an empty cursor ends the pages.
    ///   - endPoint: Returns the endpoint of the page at a cursor, which is nil for the first page.
    ///   - options: Options for the requests of all pages. They override those of the endpoint. Default none.
    ///   - isolation: The actor on which the endpoints are read: the caller's.
    /// - Returns: The pages. No request is sent before the first page is read.
    public func pages<Value: Decodable & Sendable, Cursor: Hashable & Sendable>(
        as type: Value.Type, after cursor: Cursor? = nil, next: @escaping @Sendable (Value) -> Cursor?,
        for endPoint: @escaping @Sendable (Cursor?) -> EndPoint, options: RequestOptions = RequestOptions(),
        isolation: isolated (any Actor)? = #isolation
    ) -> PageSequence<Value, Cursor> {
        tokenPages(
            for: endPoint, options, from: cursor, reading(type, isolation: nil) { value, _, _ in next(value) })
    }

    /// Returns the pages of endpoints with a cursor, decoded on the caller's actor; see
    /// `NetworkRouter.request(_:as:options:isolation:)`.
    public func pages<Value: Decodable, Cursor: Hashable & Sendable>(
        as type: Value.Type, after cursor: Cursor? = nil, next: @escaping (Value) -> Cursor?,
        for endPoint: @escaping @Sendable (Cursor?) -> EndPoint, options: RequestOptions = RequestOptions(),
        isolation: isolated any Actor = #isolation
    ) -> PageSequence<Value, Cursor> {
        tokenPages(for: endPoint, options, from: cursor, reading(type) { value, _, _ in next(value) })
    }

    /// Returns the pages of endpoints whose cursor arrives in a header field. Otherwise the same as
    /// `pages(as:after:next:for:options:isolation:)`.
    ///
    /// ```swift
    /// let pages = router.pages(
    ///     as: Feed.self,
    ///     next: { $1.headers["X-Next-Cursor"] },
    ///     for: { .feed(after: $0) })
    /// ```
    public func pages<Value: Decodable & Sendable, Cursor: Hashable & Sendable>(
        as type: Value.Type, after cursor: Cursor? = nil,
        next: @escaping @Sendable (Value, NetworkResponse) -> Cursor?,
        for endPoint: @escaping @Sendable (Cursor?) -> EndPoint, options: RequestOptions = RequestOptions(),
        isolation: isolated (any Actor)? = #isolation
    ) -> PageSequence<Value, Cursor> {
        tokenPages(
            for: endPoint, options, from: cursor,
            reading(type, isolation: nil) { value, response, _ in next(value, response) })
    }

    /// Returns the pages of endpoints whose cursor arrives in a header field, decoded on the caller's actor; see
    /// `NetworkRouter.request(_:as:options:isolation:)`.
    public func pages<Value: Decodable, Cursor: Hashable & Sendable>(
        as type: Value.Type, after cursor: Cursor? = nil,
        next: @escaping (Value, NetworkResponse) -> Cursor?,
        for endPoint: @escaping @Sendable (Cursor?) -> EndPoint, options: RequestOptions = RequestOptions(),
        isolation: isolated any Actor = #isolation
    ) -> PageSequence<Value, Cursor> {
        tokenPages(
            for: endPoint, options, from: cursor, reading(type) { value, response, _ in next(value, response) })
    }
}

// MARK: - Plans

extension NetworkRouter {
    private func linkedPages<Value>(
        for endPoint: EndPoint, _ options: RequestOptions, from url: URL?, _ read: PageReader<Value, URL>
    ) -> PageSequence<Value, URL> {
        let call = prepare(endPoint, options)
        let plan = PagePlan(
            first: url, comparesBodies: false, environment: calls.pinnedEnvironment, read: read
        ) { url, sent in
            let response = try await call.copyWithNewID().performShared { request throws(NetworkError) in
                request = try sent.request(request, forPageAt: url)
                request.options.keepResponseInMemory()
            }
            sent.recordResponseURL(response.url ?? response.request?.url)
            return response
        }
        return PageSequence(plan: plan)
    }

    private func tokenPages<Value, Token: Hashable & Sendable>(
        for endPoint: @escaping (Token?) -> EndPoint, _ options: RequestOptions, from first: Token?,
        _ read: PageReader<Value, Token>, isolation: isolated (any Actor)? = #isolation
    ) -> PageSequence<Value, Token> {
        let prepare = ActorBound { self.prepare(endPoint($0), options) }
        let plan = PagePlan(
            first: first, comparesBodies: true, environment: calls.pinnedEnvironment, read: read
        ) { token, sent in
            try await prepare(token).value.performShared { request throws(NetworkError) in
                request.options.keepResponseInMemory()
                try sent.record(request)
            }
        }
        return PageSequence(plan: plan)
    }
}

/// Returns a closure that decodes pages and finds the next token, by default on the caller's actor. An empty token ends
/// the pages, as nil does.
private func reading<Value: Decodable, Token: Sendable>(
    _ type: Value.Type, isolation: isolated (any Actor)? = #isolation,
    _ next: @escaping (Value, NetworkResponse, Token?) throws -> Token?
) -> PageReader<Value, Token> {
    ActorBound { response, token in
        let value = try response.decode(type)
        let next = try next(value, response, token)
        return (value, (next as? any Collection)?.isEmpty == true ? nil : next)
    }
}

private func nextURL<Value>(_ value: Value, _ response: NetworkResponse, _ url: URL?) throws(NetworkError) -> URL? {
    try response.nextPage()
}

private func nextNumber<Value>(
    from first: Int, by step: Int, while isFollowed: @escaping (Value) -> Bool
) -> (Value, NetworkResponse, Int?) -> Int? {
    { value, _, number in
        guard isFollowed(value) else { return nil }
        let (next, overflow) = (number ?? first).addingReportingOverflow(step)
        return overflow ? nil : next
    }
}

extension Router where EndPoint: TypedEndPoint & Sendable, EndPoint.Response: Sendable {
    /// Returns the pages of a typed endpoint by the `Link` field. See `pages(for:as:from:options:isolation:)`.
    public func pages(
        for endPoint: EndPoint, from url: URL? = nil, options: RequestOptions = RequestOptions(),
        isolation: isolated (any Actor)? = #isolation
    ) -> PageSequence<EndPoint.Response, URL> {
        pages(for: endPoint, as: EndPoint.Response.self, from: url, options: options)
    }
}

extension NetworkRouter where EndPoint: TypedEndPoint {
    /// Returns the pages of a typed endpoint, decoded on the caller's actor; see
    /// `pages(for:as:from:options:isolation:)`.
    public func pages(
        for endPoint: EndPoint, from url: URL? = nil, options: RequestOptions = RequestOptions(),
        isolation: isolated any Actor = #isolation
    ) -> PageSequence<EndPoint.Response, URL> {
        pages(for: endPoint, as: EndPoint.Response.self, from: url, options: options)
    }
}
