import Foundation
import Switchboard

extension NetworkRouter {
    /// The pages of an endpoint whose server says in the `Link` field where the next one is ([RFC
    /// 8288](https://www.rfc-editor.org/rfc/rfc8288), relation `next`).
    ///
    /// ```swift
    /// for try await page in router.pages(of: .issues, as: [Issue].self) { show(page.value) }
    /// ```
    ///
    /// The following pages are asked for with the endpoint's method, header fields and body, at the URL of the link. As
    /// with redirects, that is never http after https, and credentials and all but the harmless header fields stay behind
    /// when scheme, host or port change; see `RequestOptions.headersToOtherOrigins`. They do not come back with a link
    /// that another origin gave. A ``ResponsePage/next`` notes in its fragment, which is never sent, that it is such a link.
    ///
    /// - Parameters:
    ///   - endPoint: What to ask for.
    ///   - type: What a page decodes to.
    ///   - url: Where to go on: the ``ResponsePage/next`` of an earlier page. Nil, the default, for the endpoint's own URL.
    /// - Returns: The pages. Nothing is sent before the first one is asked for.
    public func pages<Value: Decodable & Sendable>(
        of endPoint: EndPoint, as type: Value.Type, from url: URL? = nil
    ) -> PageSequence<Value, URL> {
        let plan = PagePlan<Value, URL>(first: url, comparesBodies: false, environment: { environmentNow }) {
            url, trail in
            let response = try await rawResponse(for: endPoint, options: RequestOptions(), accept: nil) {
                request throws(NetworkError) in
                request = try trail.move(request, to: url)
                request.options.holdResponse()
            }
            trail.arrive(at: response.url ?? response.request?.url)
            return response
        } next: { _, response, _ in
            try response.nextPage()
        }
        return PageSequence(plan: plan)
    }

    /// The pages of endpoints that have a number, or an offset.
    ///
    /// ```swift
    /// let pages = router.pages(as: MoviePage.self, from: 1, while: { $0.page < $0.totalPages }, of: MovieApi.popular)
    /// for try await page in pages { show(page.value) }
    /// ```
    ///
    /// - Parameters:
    ///   - type: What a page decodes to.
    ///   - number: The number of the first page to ask for: the API's first one, or the ``ResponsePage/next`` of an earlier
    ///     page.
    ///   - step: What is added for the next page: 1 by default, the size of a page for an offset.
    ///   - isFollowed: Whether there is a page behind this one.
    ///   - endPoint: Asks for the page of a number.
    /// - Returns: The pages. Nothing is sent before the first one is asked for.
    public func pages<Value: Decodable & Sendable>(
        as type: Value.Type, from number: Int, by step: Int = 1,
        while isFollowed: @escaping @Sendable (Value) -> Bool, of endPoint: @escaping @Sendable (Int) -> EndPoint
    ) -> PageSequence<Value, Int> {
        let plan = PagePlan<Value, Int>(first: number, comparesBodies: true, environment: { environmentNow }) {
            token, trail in
            try await page(endPoint(token ?? number), for: trail)
        } next: { value, _, token in
            guard isFollowed(value) else { return nil }
            let (next, overflow) = (token ?? number).addingReportingOverflow(step)
            return overflow ? nil : next
        }
        return PageSequence(plan: plan)
    }

    /// The pages of endpoints that have a cursor: each page says where the next one begins.
    ///
    /// ```swift
    /// for try await page in router.pages(as: Feed.self, next: \.nextCursor, of: MovieApi.feed) { show(page.value) }
    /// ```
    ///
    /// - Parameters:
    ///   - type: What a page decodes to.
    ///   - cursor: Where to go on: the ``ResponsePage/next`` of an earlier page. Nil, the default, for the first page.
    ///   - next: The cursor of the following page; nil, or empty as some APIs have it, behind the last one.
    ///   - endPoint: Asks for the page at a cursor, which is nil for the first one.
    /// - Returns: The pages. Nothing is sent before the first one is asked for.
    public func pages<Value: Decodable & Sendable, Cursor: Hashable & Sendable>(
        as type: Value.Type, after cursor: Cursor? = nil, next: @escaping @Sendable (Value) -> Cursor?,
        of endPoint: @escaping @Sendable (Cursor?) -> EndPoint
    ) -> PageSequence<Value, Cursor> {
        pages(as: type, after: cursor, next: { value, _ in next(value) }, of: endPoint)
    }

    /// The pages of endpoints that have a cursor which comes in a header field; the rest as in
    /// ``pages(as:after:next:of:)-(_,_,(Value)->Cursor?,_)``.
    ///
    /// ```swift
    /// let pages = router.pages(as: Feed.self, next: { $1.headers["X-Next-Cursor"] }, of: { .feed(after: $0) })
    /// ```
    public func pages<Value: Decodable & Sendable, Cursor: Hashable & Sendable>(
        as type: Value.Type, after cursor: Cursor? = nil,
        next: @escaping @Sendable (Value, NetworkResponse) -> Cursor?,
        of endPoint: @escaping @Sendable (Cursor?) -> EndPoint
    ) -> PageSequence<Value, Cursor> {
        let plan = PagePlan<Value, Cursor>(first: cursor, comparesBodies: true, environment: { environmentNow }) {
            cursor, trail in
            try await page(endPoint(cursor), for: trail)
        } next: { value, response, _ in
            next(value, response).flatMap { ($0 as? any Collection)?.isEmpty == true ? nil : $0 }
        }
        return PageSequence(plan: plan)
    }

    /// The pages of an endpoint, and then of those that have a cursor; the rest as in
    /// ``pages(as:after:next:of:)-(_,_,(Value)->Cursor?,_)``.
    ///
    /// ```swift
    /// let pages = router.pages(as: Feed.self, from: .search("alien"), next: \.nextCursor, of: { .feed(after: $0) })
    /// ```
    ///
    /// - Parameters:
    ///   - type: What a page decodes to.
    ///   - first: Asks for the first page.
    ///   - next: The cursor of the following page; nil, or empty, behind the last one.
    ///   - endPoint: Asks for the page at a cursor.
    /// - Returns: The pages. Nothing is sent before the first one is asked for.
    public func pages<Value: Decodable & Sendable, Cursor: Hashable & Sendable>(
        as type: Value.Type, from first: EndPoint, next: @escaping @Sendable (Value) -> Cursor?,
        of endPoint: @escaping @Sendable (Cursor) -> EndPoint
    ) -> PageSequence<Value, Cursor> {
        pages(as: type, after: nil, next: { value, _ in next(value) }, of: { $0.map(endPoint) ?? first })
    }

    private func page(_ endPoint: EndPoint, for trail: PageTrail) async throws -> NetworkResponse {
        try await rawResponse(for: endPoint, options: RequestOptions(), accept: nil) { request throws(NetworkError) in
            request.options.holdResponse()
            try trail.pass(request)
        }
    }
}

extension NetworkRouter where EndPoint: TypedEndPoint {
    /// The pages of an endpoint that says what it responds, by the `Link` field; see ``pages(of:as:from:)``.
    public func pages(of endPoint: EndPoint, from url: URL? = nil) -> PageSequence<EndPoint.Response, URL> {
        pages(of: endPoint, as: EndPoint.Response.self, from: url)
    }
}
