import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardText

/// A response as it was stored, and what says how long it is good for.
struct StoredResponse: Sendable {
    var status: Int
    var headers: HTTPHeaders
    var body: Data
    /// The URL that answered.
    var url: URL?
    /// The values that the request had in the fields that `Vary` names, with their names; their hash when it comes from
    /// a file.
    var variant: String
    /// When it was stored, or last found to be still right.
    var date: Date
    /// How old it was then, in seconds ([RFC 9111 §4.2.3](https://www.rfc-editor.org/rfc/rfc9111#section-4.2.3)).
    var ageBefore: Double

    /// Nil for a response that must not be stored.
    ///
    /// - Parameters:
    ///   - response: What the server answered.
    ///   - request: What was asked.
    ///   - lifetime: For how long it is to be stored.
    ///   - asked: When it was asked for: its age counts from then.
    ///   - now: The time.
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
            // What a redirect led to is that URL's, and the redirect may lead elsewhere next time.
            let isRedirected = url != nil && request.url != nil && url != request.url
            let isOfUse = freshness > 0 || !validators.isEmpty || isUsable(staleFor: 0, request)
            guard !isRedirected, isOfUse else { return nil }
        }
    }

    /// A stored one, read again.
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

    /// For how many seconds the server says that it is fresh; 0 when it says nothing, or that it is not.
    private var freshness: Double {
        let control = CacheControl(headers)
        if control.isNoCache { return 0 }
        if let maxAge = control.maxAge { return maxAge }
        // Several lines, and what is no date, count as past ([RFC 9111
        // §5.3](https://www.rfc-editor.org/rfc/rfc9111#section-5.3)).
        let lines = headers.values(for: "Expires")
        guard lines.count == 1, let expires = HTTPDate.parse(lines[0], now: date) else { return 0 }
        let sent = headers.values(for: "Date").first.flatMap { HTTPDate.parse($0, now: date) } ?? date
        return max(0, expires.timeIntervalSince(sent))
    }

    /// How many seconds it is past its lifetime; nil while it is not. A clock that was put back ends a lifetime.
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

    /// Whether it may be the answer though it is stale, since the server has none.
    func isUsable(staleFor seconds: Double, _ request: NetworkRequest) -> Bool {
        let control = CacheControl(headers)
        if let own = request.options.staleIfError { return seconds <= own.seconds }
        guard !control.mustRevalidate, !control.isNoCache, let limit = control.staleIfError else { return false }
        return seconds <= limit
    }

    /// How old it is, as a response says it.
    func age(at now: Date) -> Duration {
        .seconds(ageBefore + max(0, now.timeIntervalSince(date)))
    }

    private static func age(_ headers: HTTPHeaders, at now: Date) -> Double {
        // The first member of what should be one ([RFC 9111
        // §5.1](https://www.rfc-editor.org/rfc/rfc9111#section-5.1)).
        let told = headers.listMembers(of: "Age").first.map(CacheControl.seconds) ?? 0
        let sent = headers.values(for: "Date").first.flatMap { HTTPDate.parse($0, now: now) }
        return max(told, sent.map { max(0, now.timeIntervalSince($0)) } ?? 0)
    }

    // MARK: Variants

    /// The request's values of the fields that `Vary` names; nil for `*`, which no other request can match ([RFC 9111
    /// §4.1](https://www.rfc-editor.org/rfc/rfc9111#section-4.1)).
    static func variant(_ headers: HTTPHeaders, of request: NetworkRequest) -> String? {
        let names = headers.listMembers(of: "Vary").map { $0.lowercased() }
        guard !names.contains("*") else { return nil }
        let fields = request.allHeaders
        return Set(names).sorted().map { "\($0): \(fields.values(for: $0).joined(separator: ", "))" }
            .joined(separator: "\n")
    }

    /// Whether it is the answer to a request that has these values.
    func isFor(_ request: NetworkRequest) -> Bool {
        guard let asked = Self.variant(headers, of: request) else { return false }
        return variant == asked || variant == (try? Self.hash(variant: asked))
    }

    private static let hashPrefix = "sha256:"

    /// What stands in a file in place of the values, which may be secrets.
    static func hash(variant: String) throws(NetworkError) -> String {
        variant.isEmpty || variant.hasPrefix(hashPrefix)
            ? variant : hashPrefix + (try MessageDigest.sha256.checkedHash(Data(variant.utf8)).hexText)
    }

    // MARK: Asking whether it is still right

    /// The fields that ask for a new one only if it changed ([RFC 9110
    /// §13.1](https://www.rfc-editor.org/rfc/rfc9110#section-13.1)); none when it has no validator.
    var validators: HTTPHeaders {
        var fields = HTTPHeaders()
        if let tag = headers.values(for: "ETag").first { fields.add("If-None-Match", tag) }
        if let date = headers.values(for: "Last-Modified").first { fields.add("If-Modified-Since", date) }
        // A server's text that could not be sent as a field is none.
        return (try? fields.validate()) == nil ? HTTPHeaders() : fields
    }

    /// Whether a 304 is about this one, and not about another one that the server has
    /// ([RFC 9111 §4.3.4](https://www.rfc-editor.org/rfc/rfc9111#section-4.3.4)).
    func isMeant(by response: NetworkResponse) -> Bool {
        if let url = response.url, let own = self.url, url.asCacheKey != own.asCacheKey { return false }
        guard let tag = response.headers.values(for: "ETag").first else { return true }
        func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : Substring(tag) }
        return headers.values(for: "ETag").first.map { opaque($0) == opaque(tag) } ?? false
    }

    /// The same with the fields of a 304 ([RFC 9111 §4.3.4](https://www.rfc-editor.org/rfc/rfc9111#section-4.3.4)).
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

    /// The answer to a request.
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
    /// The fields without those that are about the connection they came on ([RFC 9111
    /// §3.1](https://www.rfc-editor.org/rfc/rfc9111#section-3.1)), and without cookies, which are set once, by whom they
    /// were sent to. `Connection` cannot name what rules the storing itself.
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

    /// The members of a field that is a list, over all its lines; empty ones are left out ([RFC 9110
    /// §5.6.1](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.1)).
    fileprivate func listMembers(of name: String) -> [String] {
        values(for: name).joined(separator: ",").split(separator: ",")
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}
