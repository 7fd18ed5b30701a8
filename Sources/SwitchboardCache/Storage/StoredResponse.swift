import Foundation
import Switchboard
import SwitchboardText

/// A stored response, and the data that determines its freshness. A class, because a hit passes the response several
/// times.
final class StoredResponse: Sendable {
    let status: Int
    let headers: HTTPHeaders
    /// The names in the `Vary` of the fields, by ``CacheVariant/names(_:)``.
    let varyNames: [String]?
    /// The body, or the stored bytes of an incomplete body. Empty if the body is in ``file``.
    let body: Data
    /// The file with a body that is too large for memory. Nil for other bodies.
    let file: CacheFile?
    /// The number of stored bytes of the body, also when only the head was read.
    let bodyCount: Int
    /// The position of the stored bytes of an incomplete response, which has the status and fields of the whole. Nil
    /// for a whole response.
    let part: CachePart?
    /// The URL that answered, after a redirect. Nil for that of the key.
    let url: URL?
    /// The names and request values of the fields that `Vary` names, or their hash when the response comes from a file.
    let variant: String
    /// The time when the response arrived or was last revalidated.
    let responseTime: Date
    /// The age in seconds at ``responseTime`` ([RFC 9111
    /// §4.2.3](https://www.rfc-editor.org/rfc/rfc9111#section-4.2.3)).
    let initialAge: Double
    /// The app's tags.
    let tags: Set<String>
    let rules: CacheRules

    /// Creates the stored form of the response to a request, as the cache received it. With `isTruncated`, the body
    /// ended early. Throws the reason why the response must not be stored; ``refusal(of:)`` has those of the request.
    convenience init(
        _ response: NetworkResponse, to request: NetworkRequest, requestTime: Date, at now: Date,
        isTruncated: Bool = false
    ) throws(CacheRefusal) {
        guard let (response, part) = response.storable(for: request, isTruncated: isTruncated) else {
            throw "HTTP \(response.statusCode) does not fit the Range of the request, or has no strong validator"
        }
        guard let names = CacheVariant.names(response.headers) else { throw CacheVariant.refusal }
        let isOfRequest = response.url == request.url || response.url?.asCacheKey == request.url?.asCacheKey
        self.init(
            status: response.statusCode, headers: response.headers.dated(now), body: response.body,
            url: isOfRequest ? nil : response.url?.withoutUserInfo.0, variant: CacheVariant.text(names, of: request),
            responseTime: now,
            initialAge: Self.age(response.headers, requestTime: requestTime, at: now), tags: request.options.cacheTags,
            part: part)
        // An app's own lifetime allows storing a success without a stated lifetime, but nothing forbidden.
        let isOwn = isSuccess && request.options.cacheLifetime != .server
        let advice = isSuccess ? ": set options.cacheLifetime" : ""
        if let refusal = CacheRules.refusal(status, rules.control) { throw refusal }
        guard isOwn || rules.allowsStoring else { throw "HTTP \(status) states no lifetime\(advice)" }
        guard !isOwn else { return }
        if url != nil {
            // The redirect may lead to another URL next time.
            throw "a redirect led to it\(advice)"
        }
        // A later request may accept a success at any age, by its policy or `max-stale`.
        let isUsable =
            isSuccess || staleness(for: request.options, at: now) == nil || !validators.isEmpty
            || mayReplaceFailure(staleFor: 0, request) || (staleWhileRevalidate(for: request.options) ?? 0) > 0
        guard isUsable else { throw "it is not fresh, and has no ETag or Last-Modified\(advice)" }
    }

    static func refusal(of request: NetworkRequest) -> CacheRefusal? {
        if request.options.cacheLifetime == .none { return "options.cacheLifetime is none" }
        return CacheControl(request.headers).isNoStore ? "the request's Cache-Control has no-store" : nil
    }

    init(
        status: Int, headers: HTTPHeaders, body: Data, url: URL?, variant: String, responseTime: Date,
        initialAge: Double, tags: Set<String>, file: CacheFile? = nil, part: CachePart? = nil
    ) {
        rules = CacheRules(status, headers, at: responseTime)
        self.status = status
        self.headers = headers.storable(without: rules.control.noCacheFields)
        varyNames = CacheVariant.names(self.headers)
        self.body = body
        self.file = file
        bodyCount = file?.bodyCount ?? body.count
        self.url = url
        self.variant = variant
        self.responseTime = responseTime
        self.initialAge = initialAge
        self.tags = tags
        self.part = part
    }

    /// Reads the response of a file from its head. Nil for a damaged head.
    init?(_ head: inout CacheHeadReader, _ bodyCount: Int, _ file: CacheFile?, body: () -> Data) {
        status = Int(truncatingIfNeeded: head.number())
        responseTime = Date(timeIntervalSince1970: Double(bitPattern: head.number()))
        initialAge = Double(bitPattern: head.number())
        rules = CacheRules(&head)
        variant = head.text()
        url = head.texts().first.flatMap { URL(string: $0) }
        tags = Set(head.texts())
        headers = head.fields()
        varyNames = CacheVariant.names(headers)
        let numbers = head.lastNumbers()
        // The body may have arrived whole although a part was expected.
        let isWhole = numbers.isEmpty || numbers == [bodyCount, 0, bodyCount]
        part = isWhole ? nil : CachePart(numbers: numbers, bodyLength: bodyCount)
        (self.bodyCount, self.file) = (bodyCount, file)
        // A cache writes numbers within these ranges.
        guard head.isSound, isWhole == (part == nil), (200..<600).contains(status),
            abs(responseTime.timeIntervalSince1970) < 1e11, (0..<1e11).contains(initialAge),
            abs(rules.dateValue.timeIntervalSince1970) < 1e12
        else { return nil }
        self.body = body()
    }

    /// Returns the response with its body in memory.
    func with(body: Data) -> StoredResponse { with(part: part, body: body) }

    /// Returns the response as a part, or as a whole for nil, with this body.
    func with(part: CachePart?, body: Data = Data()) -> StoredResponse {
        StoredResponse(
            status: status, headers: headers, body: body, url: url, variant: variant, responseTime: responseTime,
            initialAge: initialAge, tags: tags, part: part)
    }

    var isSuccess: Bool { (200..<300).contains(status) }

    /// Returns whether a request has the response's values of the fields that `Vary` names.
    func matches(_ request: NetworkRequest) -> Bool {
        varyNames.map { CacheVariant.matches(variant, $0, request) } ?? false
    }

    /// Returns whether both responses are for the same request fields.
    func isSameVariant(as other: StoredResponse) -> Bool {
        variant.hasBytes(of: other.variant)
            || (try? CacheVariant.hash(variant)) == (try? CacheVariant.hash(other.variant))
    }

    /// Returns whether both arrived at the same time, with the same entity tag and bodies of the same size.
    func isEqual(to other: StoredResponse) -> Bool {
        // A file has the time since 1970, whose last bit differs from that of a `Date`.
        responseTime.timeIntervalSince1970 == other.responseTime.timeIntervalSince1970
            && bodyCount == other.bodyCount && tag == other.tag
    }

    /// Returns the response to a request that it can answer, with its `Age` field. A HEAD gets no body.
    ///
    /// - Throws: `NetworkError.Code.responseTooLarge` for a body above the request's limit,
    ///   `NetworkError.Code.truncatedBody` for a damaged file.
    func answer(to request: NetworkRequest, at now: Date, _ outcome: ResponseCache.Outcome) throws(NetworkError)
        -> NetworkResponse
    {
        let slice = slice(for: request)
        if let error = sizeError(for: request, slice) { throw error }
        var response =
            try slice?.response(of: self, to: request)
            ?? NetworkResponse(
                statusCode: status, headers: headers, body: request.method == .head ? Data() : body, url: url)
        if let file, response.statusCode == status, request.method != .head {
            response.stream = file.bytes(0..<file.bodyCount, for: request)
        }
        let age = age(at: now)
        response.headers.set(HTTPHeader(name: "Age", trimmedValue: String(Int64(age))))
        response.request = request
        response.request?.setCacheOutcome(outcome)
        response.cacheAge = .seconds(age)
        return response
    }

    /// Returns the error for an answer whose body is above the request's limit. Nil for a body within it, and for one
    /// that streams.
    func sizeError(for request: NetworkRequest, _ slice: Slice?) -> NetworkError? {
        let count = slice?.count ?? bodyCount
        guard count > request.limits.responseBody, !request.options.streamsResponse, request.method != .head else {
            return nil
        }
        return request.limits.bodyTooLarge("the stored body has \(count) bytes")
            .with(NetworkResponse(statusCode: status, headers: headers, url: url))
    }
}

extension HTTPHeaders {
    /// Returns the fields with a `Date`, which is the time of arrival if the server sent none ([RFC 9110
    /// §6.6.1](https://www.rfc-editor.org/rfc/rfc9110#section-6.6.1)).
    func dated(_ arrival: Date) -> HTTPHeaders {
        guard !contains("Date") else { return self }
        var fields = self
        fields.add("Date", HTTPDate.text(arrival))
        return fields
    }

    /// Returns the fields to store: without these, fields about the connection ([RFC 9111
    /// §3.1](https://www.rfc-editor.org/rfc/rfc9111#section-3.1)), and cookies, which only the original response sets.
    /// `Connection` and `no-cache` cannot exclude the fields that control caching.
    func storable(without others: Set<String> = []) -> HTTPHeaders {
        let rules = ["cache-control", "expires", "age", "date", "vary"]
        let named = listMembers(of: "Connection").map { $0.lowercased() } + others
        let names = Self.unstorable.union(named.filter { !rules.contains($0) })
        return HTTPHeaders(filter { !names.contains($0.name.lowercased()) })
    }

    /// RFC 9110 §7.6.1 and RFC 9111 §3.1, in lower case.
    private static let unstorable: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade", "proxy-authenticate",
        "proxy-authentication-info", "proxy-authorization", "set-cookie",
    ]
}
