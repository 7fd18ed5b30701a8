import Switchboard
import SwitchboardPlatform
import Foundation
import SwitchboardText

/// Sends the cookies of a jar, and stores the cookies that servers set.
///
/// ```swift
/// let manager = NetworkManager(
///     exchangeInterceptors: [CookieInterceptor()])
/// ```
///
/// It runs for each exchange, also after a redirect, so the target of a 302 receives the cookies that the 302 set.
/// `RequestOptions.partition` separates cookies.
///
/// After a redirect or a link from another site, `SameSite` decides which cookies are sent ([RFC 6265bis
/// §5.2](https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis#section-5.2)): a `Strict` cookie never,
/// and a `Lax` cookie or one without the attribute only with a safe method. Every call counts as a navigation. A TRACE
/// request has no cookies of the jar, because its response repeats them ([RFC 9110
/// §9.3.8](https://www.rfc-editor.org/rfc/rfc9110#section-9.3.8)).
/// Hosts with the same registrable domain, a public suffix and one label, are one site; see ``CookieJar``. Schemes and
/// ports do not count. A server's link after a redirect to another origin counts as one from another site.
///
/// If the jar adds cookies, the request has one `Cookie` field. It begins with the pairs that the request already had,
/// which override the jar's cookies of the same name.
public struct CookieInterceptor: ExchangeInterceptor, RequestAdapter {
    /// The storage of the cookies.
    public let jar: CookieJar

    /// Creates the interceptor, by default with an empty jar. Several interceptors may share a jar.
    public init(_ jar: CookieJar = CookieJar()) {
        self.jar = jar
    }

    /// Adds the cookies for the request's URL, sends the request, and stores the cookies of the response, even if its
    /// body is incomplete.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        var sent = request
        let names = apply(to: &sent)
        if !names.isEmpty { request.report(.note("sends \(names.count.counted("cookie"))")) }
        do {
            let response = try await next(sent)
            store(response.headers, from: response.url ?? sent.url, for: request)
            return response
        } catch let error as NetworkError where error.isAbout(request) {
            if let headers = error.headers { store(headers, from: error.url ?? sent.url, for: request) }
            throw error
        }
    }

    /// Adds the cookies for the request's URL.
    public func adapt(_ request: inout NetworkRequest) async throws { _ = apply(to: &request) }

    /// Adds the cookies, and returns their names.
    private func apply(to request: inout NetworkRequest) -> [String] {
        let partition = request.options.partition
        // Asks the jar first, because reading the URL may parse it.
        guard jar.hasCookies(in: partition), let url = request.url else { return [] }
        var cookies = jar.cookies(for: url, in: partition)
        guard !cookies.isEmpty, request.method != .trace else { return [] }
        if request.isCrossSite(in: jar) {
            let isSafe = request.method.isSafe
            cookies.removeAll { $0.sameSite != StoredCookie.SameSite.none && (!isSafe || $0.sameSite == .strict) }
        }
        let own = request.headers.values(for: "Cookie").filter { !$0.trimmedOfBlanks.isEmpty }
        let pairs = own.flatMap { $0.utf8.split(separator: .semicolon) }
        let setNames = Set(pairs.map { Array($0.prefix { $0 != .equals }.trimmedOfBlanks) })
        let added = cookies.filter { !setNames.contains(Array($0.name.utf8)) }
        guard !added.isEmpty else { return [] }
        request.headers["Cookie"] = (own + added.map { "\($0.name)=\($0.value)" }).joined(separator: "; ")
        return added.map(\.name)
    }

    private func store(_ headers: HTTPHeaders, from url: @autoclosure () -> URL?, for request: NetworkRequest) {
        let fields = headers.values(for: "Set-Cookie")
        guard !fields.isEmpty, let url = url() else { return }
        jar.store(fields, from: url, in: request.options.partition)
        let left = fields.count > jar.maximumPerDomain ? ", of which the first \(jar.maximumPerDomain) are read" : ""
        request.report(.note("the server sets \(fields.count.counted("cookie"))\(left)"))
    }
}

extension NetworkRequest {
    /// Returns whether a host of another site led to the URL of the request.
    fileprivate func isCrossSite(in jar: CookieJar) -> Bool {
        crossOriginHops.hosts.contains { !jar.isSameSite($0, host.lowercased()) }
    }
}

extension CookieInterceptor: Resettable {
    /// Does nothing. The jar is reset as a part, once even if several interceptors share it.
    public func reset() {}

    /// The jar.
    public var resettableParts: [any Resettable] { [jar] }
}
