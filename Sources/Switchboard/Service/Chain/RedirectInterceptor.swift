import SwitchboardText
import Foundation

/// Follows redirects. Every router runs one as the last interceptor of its calls, unless it lists one itself.
///
/// It follows the [Fetch standard §4.4](https://fetch.spec.whatwg.org/#http-redirect-fetch) and [RFC 9110
/// §15.4](https://www.rfc-editor.org/rfc/rfc9110#section-15.4):
/// - 301 and 302 turn POST into GET, and 303 turns all methods except GET and HEAD into GET. The body and its headers
///   are dropped then.
/// - 307 and 308 send method and body again. A body that cannot be sent again fails with
///   ``NetworkError/Code/redirectRefused``.
/// - When scheme, host or port change, only harmless header fields are sent, which the article <doc:Interceptors>
///   lists, and those that ``RequestOptions/headersToOtherOrigins`` allows. ``NetworkResponse/history`` names the
///   dropped fields.
/// - Only http and https are followed, and never from https to http. Other redirects, and `Location` fields that
///   differ, fail with ``NetworkError/Code/redirectRefused``.
/// - More than ``limit`` redirects fail with ``NetworkError/Code/tooManyRedirects``.
///
/// A 3xx without a `Location`, and any other 3xx, is returned unchanged.
public struct RedirectInterceptor: Interceptor {
    /// The largest number of redirects in one call. 0 follows none: every 3xx is returned unchanged. Default 20.
    public let limit: Int

    /// Creates the interceptor. List it in a router's interceptors to change the limit or its position in the chain.
    public init(limit: Int = 20) {
        self.limit = limit
    }

    /// An interceptor that returns every 3xx unchanged.
    public static let none = RedirectInterceptor(limit: 0)

    /// Sends the request, and follows the redirects of its responses.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        var request = request
        var count = 0
        while true {
            let response = try await next(request)
            guard let redirected = try redirected(request, by: response, after: count) else { return response }
            request = redirected
            count += 1
        }
    }

    // Not inlined, because an asynchronous function has a copy of its code for each suspension.
    /// Returns and reports the next request after `count` redirects, or nil for a response that is returned unchanged.
    @inline(never)
    private func redirected(
        _ request: NetworkRequest, by response: NetworkResponse, after count: Int
    ) throws(NetworkError) -> NetworkRequest? {
        guard limit > 0, let location = try response.redirectLocation() else { return nil }
        guard count < limit else {
            let followed = limit == 1 ? "1 was followed" : "\(limit) were followed"
            throw NetworkError(
                .tooManyRedirects, reason: "\(followed), the next leads to \(location.quotedURLForMessage)"
            ).with(response)
        }
        var request = request
        // The Location may repeat a key that a later interceptor added.
        if let sent = response.request { request.recordCredentials(recordedIn: sent) }
        guard let redirected = try nextRequest(after: request, redirectedBy: response) else { return nil }
        if let url = redirected.url { request.report(.redirect(to: url)) }
        let removed = redirected.crossOriginHops.names.dropFirst(request.crossOriginHops.names.count)
        if !removed.isEmpty { redirected.report(.note("leaves out " + removed.joined(separator: ", "))) }
        return redirected
    }

    /// Returns the redirected request, or nil for a response without a redirect. It does not check the limit.
    ///
    /// - Throws: ``NetworkError/Code/redirectRefused``.
    package func nextRequest(
        after request: NetworkRequest, redirectedBy response: NetworkResponse
    ) throws(NetworkError) -> NetworkRequest? {
        guard let location = try response.redirectLocation() else { return nil }
        do throws(NetworkError) {
            return try redirect(request, to: location, of: response)
        } catch {
            throw error.with(response)
        }
    }

    private func redirect(
        _ request: NetworkRequest, to location: String, of response: NetworkResponse
    ) throws(NetworkError) -> NetworkRequest {
        var request = request
        // A later interceptor may have added the host.
        if request.urlText?.hasOrigin != true, let sent = response.request?.url { request.url = sent }
        guard let url = request.url, let target = Self.resolve(location, against: url) else {
            throw NetworkError(
                .redirectRefused, reason: "the Location \(location.quotedURLForMessage) is not an http or https URL")
        }
        var redirected = try request.moved(to: target)
        if response.changesMethod(of: request.method) {
            redirected.method = .get
            redirected.body = EmptyBody()
            for field in request.headers where field.isDroppedForGET { redirected.headers.remove(field.name) }
            redirected.removeDigest()
        } else if !request.body.isReplayable {
            throw NetworkError(.redirectRefused, reason: "the body cannot be sent twice")
        } else if redirected.hasLeftOrigin, !redirected.body.isEmpty,
            !redirected.route.bodyRules.allSatisfy({ $0(redirected) })
        {
            throw NetworkError(
                .redirectRefused,
                reason: "the body contains common parameters, whose `origins:` do not allow \(redirected.host)")
        }
        return redirected
    }

    /// Resolves a `Location`. If it has no fragment, the fragment of the request's URL is kept. Returns nil when the
    /// result is not an http or https URL with a host.
    static func resolve(_ location: String, against base: URL) -> URL? {
        guard let url = URL(location: location, relativeTo: base), URLFault.of(url) == nil else { return nil }
        var text = base.absoluteString
        guard let mark = text.withUTF8({ $0.firstIndex(ofByte: .numberSign) }), mark + 1 < text.utf8.count,
            !location.utf8.contains(.numberSign)
        else {
            return url
        }
        return URL(string: url.absoluteString + String(decoding: text.utf8.dropFirst(mark), as: UTF8.self))
    }
}

extension HTTPHeader {
    /// Whether a redirect that makes a GET drops the field ([RFC 9110
    /// §15.4](https://www.rfc-editor.org/rfc/rfc9110#section-15.4),
    /// [§10.1.1](https://www.rfc-editor.org/rfc/rfc9110#section-10.1.1)).
    package var isDroppedForGET: Bool {
        let name = name.lowercased()
        return name.hasPrefix("content-") || ["digest", "repr-digest", "last-modified", "expect"].contains(name)
    }
}

extension NetworkRequest {
    /// Returns whether a redirect turned this request into a GET. Another method of `sent` is that of a later
    /// interceptor.
    package func isMadeGET(in sent: NetworkRequest) -> Bool {
        sent.method == .get && method != .get && method != .head
    }
}

extension NetworkResponse {
    /// Returns whether the `Location` of a response with this status is followed ([Fetch, redirect
    /// status](https://fetch.spec.whatwg.org/#redirect-status)).
    package static func isRedirect(_ statusCode: Int) -> Bool {
        switch statusCode {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }

    /// Returns the `Location` of a redirect, or nil for any other response.
    fileprivate func redirectLocation() throws(NetworkError) -> String? {
        guard Self.isRedirect(statusCode) else { return nil }
        return try location().flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the field `Location`, or nil without one.
    ///
    /// - Throws: ``NetworkError/Code/redirectRefused`` for two fields that differ, because no rule selects one.
    package func location() throws(NetworkError) -> String? {
        let locations = headers.values(for: "Location")
        guard locations.allSatisfy({ $0.hasBytes(of: locations[0]) }) else {
            throw NetworkError(.redirectRefused, reason: "it has \(locations.count) Location fields that differ").with(
                self)
        }
        return locations.first
    }

    fileprivate func changesMethod(of method: HTTPMethod) -> Bool {
        switch statusCode {
        case 301, 302: method == .post
        case 303: method != .get && method != .head
        default: false
        }
    }
}
