import Switchboard
import SwitchboardPlatform
import Foundation
import SwitchboardText

/// Sends the cookies of a jar, and keeps those that servers set.
///
/// ```swift
/// let manager = NetworkManager(exchangeInterceptors: [CookieInterceptor()])
/// ```
///
/// It sees every exchange, those of a redirect too. A cookie set on a 302 is there for the target. Cookies are kept apart by `RequestOptions.partition`.
///
/// Where another site led the request, by a redirect or a link, cookies go as their `SameSite` says ([RFC 6265bis
/// §5.2](https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis#section-5.2)): `Strict` never, `Lax` and those
/// that say nothing with safe methods alone. Every call counts as a navigation: a library has no pages.
///
/// There is one `Cookie` field. Pairs that the request has by itself stay in front and win over the jar's of the same
/// name.
public struct CookieInterceptor: ExchangeInterceptor, RequestAdapter {
    /// Where they are kept.
    public let jar: CookieJar

    /// Makes the interceptor, with an empty jar unless it is given one. Several may share a jar.
    public init(_ jar: CookieJar = CookieJar()) {
        self.jar = jar
    }

    /// Adds the cookies for the request's URL, sends it, and keeps those of the response; also when the response did not
    /// arrive whole.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        var sent = request
        let names = apply(to: &sent)
        if !names.isEmpty { request.report(.note("sends \(Self.count(names))")) }
        do {
            let response = try await next(sent)
            keep(response.headers, from: response.url ?? sent.url, for: request)
            return response
        } catch let error as NetworkError {
            if let headers = error.headers { keep(headers, from: error.url ?? sent.url, for: request) }
            throw error
        }
    }

    /// Adds the cookies for the request's URL.
    public func adapt(_ request: inout NetworkRequest) async throws { _ = apply(to: &request) }

    /// The names of those that were added.
    private func apply(to request: inout NetworkRequest) -> [String] {
        guard let url = request.url else { return [] }
        let cookies = jar.cookies(for: url, in: request.options.partition).filter { $0.goes(with: request) }
        guard !cookies.isEmpty else { return [] }
        let own = request.headers.values(for: "Cookie").filter { !$0.trimmedOfBlanks.isEmpty }
        let pairs = own.flatMap { $0.utf8.split(separator: UInt8(ascii: ";")) }
        let taken = Set(pairs.map { Array($0.prefix { $0 != .equals }.trimmedOfBlanks) })
        let added = cookies.filter { !taken.contains(Array($0.name.utf8)) }
        guard !added.isEmpty else { return [] }
        request.headers["Cookie"] = (own + added.map { "\($0.name)=\($0.value)" }).joined(separator: "; ")
        return added.map(\.name)
    }

    private func keep(_ headers: HTTPHeaders, from url: URL?, for request: NetworkRequest) {
        let fields = headers.values(for: "Set-Cookie")
        guard !fields.isEmpty, let url else { return }
        jar.store(fields, from: url, in: request.options.partition)
        let left = fields.count > jar.maximumPerDomain ? ", of which \(jar.maximumPerDomain) are looked at" : ""
        request.report(.note("the server sets \(fields.count) cookie\(fields.count == 1 ? "" : "s")\(left)"))
    }

    private static func count(_ names: [String]) -> String {
        "\(names.count) cookie\(names.count == 1 ? "" : "s")"
    }
}

extension StoredCookie {
    fileprivate func goes(with request: NetworkRequest) -> Bool {
        guard request.departures.isCrossSite, sameSite != StoredCookie.SameSite.none else { return true }
        return sameSite != .strict && [HTTPMethod.get, .head, .options, .trace].contains(request.method)
    }
}

extension CookieInterceptor: Resettable {
    /// Nothing: the jar is reset as a part, once, though several share it.
    public func reset() {}

    /// The jar.
    public var resettableParts: [any Resettable] { [jar] }
}
