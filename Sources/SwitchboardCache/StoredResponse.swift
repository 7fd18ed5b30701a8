import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardText

/// A stored response, and the data that determines its freshness.
struct StoredResponse: Sendable {
    var status: Int
    var headers: HTTPHeaders
    var body: Data
    /// The URL that answered.
    var url: URL?
    /// The names and request values of the fields that `Vary` names, or their hash when the response comes from a file.
    var variant: String
    /// The time when the response was stored or last revalidated.
    var date: Date
    /// The age in seconds at that time ([RFC 9111 §4.2.3](https://www.rfc-editor.org/rfc/rfc9111#section-4.2.3)).
    var ageBefore: Double

    /// Creates the stored form of a response. Nil for a response that must not be stored.
    ///
    /// - Parameters:
    ///   - response: The server's response.
    ///   - request: The request as the cache received it.
    ///   - lifetime: The lifetime to apply.
    ///   - asked: The time when the request was sent. The age counts from then.
    ///   - now: The current time.
    init?(
        _ response: NetworkResponse, to request: NetworkRequest, for lifetime: CacheLifetime, asked: Date, at now: Date
    ) {
        guard lifetime != .none, (200..<300).contains(response.statusCode), response.statusCode != 206,
            response.stream == nil,
            let variant = Self.variant(response.headers, of: request)
        else { return nil }
        status = response.statusCode
        headers = response.headers.storable
        body = response.body
        url = response.url?.withoutUserInfo.0
        self.variant = variant
        date = min(asked, now)
        ageBefore = Self.age(response.headers, at: now)
        let control = CacheControl(headers)
        guard !control.isNoStore, !CacheControl(request.headers).isNoStore else { return nil }
        if case .server = lifetime {
            // A redirected response belongs to the last URL: the redirect may lead elsewhere next time.
            let isRedirected = url != nil && request.url != nil && url != request.url
            let isOfUse = freshness > 0 || !validators.isEmpty || isUsable(staleFor: 0, request)
            guard !isRedirected, isOfUse else { return nil }
        }
    }

    /// Creates a stored response from a file.
    init(
        status: Int, headers: HTTPHeaders, body: Data, url: URL?, variant: String, date: Date, ageBefore: Double
    ) {
        self.status = status
        self.headers = headers.storable
        self.body = body
        self.url = url
        self.variant = variant
        self.date = date
        self.ageBefore = ageBefore
    }

    // MARK: Freshness

    /// The lifetime in seconds that the server states. 0 when it states none or forbids reuse.
    private var freshness: Double {
        let control = CacheControl(headers)
        if control.isNoCache { return 0 }
        if let maxAge = control.maxAge { return maxAge }
        // Several lines, or text that is not a date, count as expired ([RFC 9111
        // §5.3](https://www.rfc-editor.org/rfc/rfc9111#section-5.3)).
        let lines = headers.values(for: "Expires")
        guard lines.count == 1, let expires = HTTPDate.parse(lines[0], now: date) else { return 0 }
        let sent = headers.values(for: "Date").first.flatMap { HTTPDate.parse($0, now: date) } ?? date
        return max(0, expires.timeIntervalSince(sent))
    }

    /// Returns the seconds since the lifetime ended, or nil for a fresh response. A clock that was set back ends the
    /// lifetime.
    func staleness(for lifetime: CacheLifetime, at now: Date) -> Double? {
        let stored = now.timeIntervalSince(date)
        let over: Double =
            switch lifetime {
            case .none: .infinity
            case .unlimited: -1
            case .time(let time): stored - time.seconds
            case .server: ageBefore + stored - freshness
            }
        if stored < 0, lifetime != .unlimited { return .infinity }
        return over < 0 ? nil : over
    }

    /// Returns whether the stale response may answer because the server fails.
    func isUsable(staleFor seconds: Double, _ request: NetworkRequest) -> Bool {
        let control = CacheControl(headers)
        if let own = request.options.staleIfError { return seconds <= own.seconds }
        guard !control.mustRevalidate, !control.isNoCache, let limit = control.staleIfError else { return false }
        return seconds <= limit
    }

    /// Returns the current age, as the `Age` field states it.
    func age(at now: Date) -> Duration {
        .seconds(ageBefore + max(0, now.timeIntervalSince(date)))
    }

    private static func age(_ headers: HTTPHeaders, at now: Date) -> Double {
        // Reads the first member if the field has several ([RFC 9111
        // §5.1](https://www.rfc-editor.org/rfc/rfc9111#section-5.1)).
        let told = headers.listMembers(of: "Age").first.map(CacheControl.seconds) ?? 0
        let sent = headers.values(for: "Date").first.flatMap { HTTPDate.parse($0, now: now) }
        return max(told, sent.map { max(0, now.timeIntervalSince($0)) } ?? 0)
    }

    // MARK: Variants

    /// Returns the request's values of the fields that `Vary` names. Nil for `*`, which matches no other request ([RFC
    /// 9111 §4.1](https://www.rfc-editor.org/rfc/rfc9111#section-4.1)).
    static func variant(_ headers: HTTPHeaders, of request: NetworkRequest) -> String? {
        let names = headers.listMembers(of: "Vary").map { $0.lowercased() }
        guard !names.contains("*") else { return nil }
        let fields = request.allHeaders
        return Set(names).sorted().map { "\($0): \(fields.values(for: $0).joined(separator: ", "))" }
            .joined(separator: "\n")
    }

    /// Returns whether the response matches the fields of a request that its `Vary` names.
    func isFor(_ request: NetworkRequest) -> Bool {
        guard let asked = Self.variant(headers, of: request) else { return false }
        return variant == asked || variant == (try? Self.hash(variant: asked))
    }

    private static let hashPrefix = "sha256:"

    /// Returns the hash that a file holds instead of the values, which may be secrets.
    static func hash(variant: String) throws(NetworkError) -> String {
        variant.isEmpty || variant.hasPrefix(hashPrefix)
            ? variant : hashPrefix + (try MessageDigest.sha256.checkedHash(Data(variant.utf8)).hexText)
    }

    // MARK: Revalidation

    /// The header fields of a conditional request ([RFC 9110
    /// §13.1](https://www.rfc-editor.org/rfc/rfc9110#section-13.1)). Empty when the response has no validator.
    var validators: HTTPHeaders {
        var fields = HTTPHeaders()
        if let tag = headers.values(for: "ETag").first { fields.add("If-None-Match", tag) }
        if let date = headers.values(for: "Last-Modified").first { fields.add("If-Modified-Since", date) }
        // Ignores validators that cannot be sent as a field.
        return (try? fields.validate()) == nil ? HTTPHeaders() : fields
    }

    /// Returns whether a 304 is about this response and not about another one of the server ([RFC 9111
    /// §4.3.4](https://www.rfc-editor.org/rfc/rfc9111#section-4.3.4)).
    func isMeant(by response: NetworkResponse) -> Bool {
        if let url = response.url, let own = self.url, url.asCacheKey != own.asCacheKey { return false }
        guard let tag = response.headers.values(for: "ETag").first else { return true }
        func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : Substring(tag) }
        return headers.values(for: "ETag").first.map { opaque($0) == opaque(tag) } ?? false
    }

    /// Returns the response with the updated fields of a 304 ([RFC 9111
    /// §4.3.4](https://www.rfc-editor.org/rfc/rfc9111#section-4.3.4)).
    func confirmed(by response: NetworkResponse, asked: Date, at now: Date) -> StoredResponse {
        var result = self
        let ofTheBody = ["Content-Length", "Content-Encoding", "Content-Type", "Content-Range", "Transfer-Encoding"]
        var fields = response.headers.storable
        for name in ofTheBody { fields.remove(name) }
        result.headers.merge(fields)
        result.date = min(asked, now)
        result.ageBefore = Self.age(response.headers, at: now)
        return result
    }

    /// Returns the response to a request, with its `Age` field.
    func answer(to request: NetworkRequest, at now: Date) -> NetworkResponse {
        var response = NetworkResponse(status: status, headers: headers, body: body, url: url)
        let age = age(at: now)
        response.headers.set("Age", "\(age.components.seconds)")
        response.request = request
        response.cacheAge = age
        return response
    }
}

extension HTTPHeaders {
    /// The fields to store: without fields about the connection ([RFC 9111
    /// §3.1](https://www.rfc-editor.org/rfc/rfc9111#section-3.1)), and without cookies, which only the original
    /// response sets. `Connection` cannot exclude the fields that govern caching.
    fileprivate var storable: HTTPHeaders {
        let rules = ["cache-control", "expires", "age", "date", "vary"]
        let names = Self.unstorable.union(
            listMembers(of: "Connection").map { $0.lowercased() }.filter { !rules.contains($0) })
        return HTTPHeaders(filter { !names.contains($0.name.lowercased()) })
    }

    /// RFC 9110 §7.6.1 and RFC 9111 §3.1, in lower case.
    private static let unstorable: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade", "proxy-authenticate",
        "proxy-authentication-info", "proxy-authorization", "set-cookie", "set-cookie2",
    ]

    /// Returns the members of a list field over all its lines, without empty ones ([RFC 9110
    /// §5.6.1](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.1)).
    fileprivate func listMembers(of name: String) -> [String] {
        values(for: name).joined(separator: ",").split(separator: ",")
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}
