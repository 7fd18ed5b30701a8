import SwitchboardPlatform
import SwitchboardText
import Foundation

// Requests that a server led to another URL: by a redirect, a link to the next page or the location of an upload.
extension NetworkRequest {
    /// Whether a server led the request away from its original origin, even if it came back, or may have chosen its
    /// original URL.
    package var hasLeftOrigin: Bool { departures.count > 0 || isForeign }

    /// Whether someone other than the app may have chosen the original URL of the request.
    var isForeign: Bool {
        get { departures.isForeign }
        set { route.departures.isForeign = newValue }
    }

    /// The number of times the request left its origin, and the header fields that were removed.
    package var departures: Departures { route.departures }

    /// Removes the header fields that another origin must not see. From then on, credentials are added only where
    /// ``CredentialOrigins`` allow them explicitly.
    ///
    /// - Parameter isSameSite: True if the request goes to a host of the same site.
    package mutating func leaveOrigin(isSameSite: Bool = false) {
        let names = headersForOrigin
        for name in names { headers.remove(name) }
        route.departures.add(names, isSameSite)
    }

    /// Returns this request as if a server had led it to the destination of an equal one.
    package func led(like other: NetworkRequest) -> NetworkRequest {
        var request = self
        if let url = other.url { request.url = url }
        request.route.departures = other.departures
        return request
    }

    /// The names of the header fields to remove, each once.
    var headersForOrigin: [String] {
        headers.map(\.name).reduce(into: []) { names, name in
            guard !goesToOtherOrigins(name), !names.contains(where: { $0.equalsIgnoringCase(name) }) else { return }
            names.append(name)
        }
    }

    /// Returns whether a header field may go to another origin: it is harmless, or the options allow it.
    func goesToOtherOrigins(_ name: String) -> Bool {
        // The old host name would make the new server choose the wrong site.
        guard !name.equalsIgnoringCase("Host") else { return false }
        if options.headersToOtherOrigins.contains(where: { $0.equalsIgnoringCase(name) }) { return true }
        return Self.harmlessHeaders.contains(name.lowercased()) && !carriesCredentials(in: name)
    }

    /// The names in lower case.
    private static let harmlessHeaders: Set<String> = [
        // The CORS-safelisted ones (https://fetch.spec.whatwg.org/#cors-safelisted-request-header).
        "accept", "accept-language", "content-language", "content-type", "range",
        // These describe the body.
        "content-encoding", "content-length", "content-range",
        // These state what the client accepts.
        "accept-encoding", "cache-control", "user-agent",
        // Without these, a request would change another version, or a range would be joined to one.
        "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since",
        // Without these, events are lost, or a request is processed twice.
        "idempotency-key", "last-event-id",
        // The protocols of resumable uploads.
        "tus-resumable", "upload-complete", "upload-draft-interop-version", "upload-length", "upload-offset",
    ]
}

extension NetworkResponse {
    /// Whether an origin other than the requested one influenced the response.
    package var passedAnotherOrigin: Bool {
        request.map { $0.departures.count > 0 } ?? false || isFromElsewhere
    }

    /// Returns whether the request's origin sent the response. False after a redirect through another origin, even if
    /// it came back.
    package func isFromOrigin(of request: NetworkRequest) -> Bool {
        !isFromElsewhere && (self.request ?? request).departures.count == request.departures.count
    }

    /// Whether the session itself followed a redirect to another origin.
    private var isFromElsewhere: Bool {
        guard let url = ownURL, let asked = request?.url else { return false }
        return !url.hasSameOrigin(as: asked)
    }
}

extension RequestOptions {
    /// Names of header fields that also go to another origin, by a redirect, a link to the next page or the location of
    /// an upload. Default none: only fields that are known to be harmless go there.
    ///
    /// `Host` is never kept.
    public var headersToOtherOrigins: Set<String> {
        get { self[HeadersToOtherOriginsOption.self] }
        set { self[HeadersToOtherOriginsOption.self] = newValue }
    }
}

private enum HeadersToOtherOriginsOption: RequestOption { static let defaultValue: Set<String> = [] }

/// The history of a request and its rules for other origins. It is stored in the options, and stays with the request
/// when other options are assigned.
package struct RequestRoute: Sendable {
    var departures = Departures()
    /// Conditions for requests to other origins that carry the body. All must hold. Empty if the body has only the
    /// endpoint's own content.
    package var bodyRules: [@Sendable (NetworkRequest) -> Bool] = []

    /// Whether the request has neither history nor rules.
    var isEmpty: Bool { bodyRules.isEmpty && departures == Departures() }

    /// Returns this value joined with what `other` adds.
    func joined(_ other: RequestRoute) -> RequestRoute {
        var result = self
        if departures != other.departures { result.departures.join(other.departures) }
        if bodyRules.isEmpty { result.bodyRules = other.bodyRules }
        return result
    }
}

/// The number of times a request left its origin, and the header fields that were removed.
package struct Departures: Sendable, Hashable {
    private(set) var count = 0
    private(set) var names: [String] = []
    /// Whether another site influenced the destination of the request.
    package private(set) var isCrossSite = false
    var isForeign = false

    mutating func add(_ names: [String], _ isSameSite: Bool) {
        count += 1
        self.names += names
        if !isSameSite { isCrossSite = true }
    }

    mutating func join(_ other: Departures) {
        count = max(count, other.count)
        names += other.names.filter { !names.contains($0) }
        isCrossSite = isCrossSite || other.isCrossSite
        isForeign = isForeign || other.isForeign
    }

    /// The removed fields, as the end of a sentence. Nil if none was removed.
    var text: String? {
        names.isEmpty ? nil : "to another origin, without " + names.joined(separator: ", ")
    }
}

extension NetworkRequest {
    /// Returns whether an interceptor wrote a credential to this field, whatever its name.
    package func carriesCredentials(in header: String) -> Bool {
        self[CredentialHeadersOption.self].contains { $0.equalsIgnoringCase(header) }
    }

    /// Marks a field as a credential.
    package mutating func noteCredential(in name: String) {
        if !carriesCredentials(in: name) { self[CredentialHeadersOption.self].append(name) }
    }

    /// Returns a redaction that also contains these fields.
    package func redaction(over redaction: Redaction) -> Redaction {
        let names = self[CredentialHeadersOption.self]
        return names.isEmpty || redaction.isNone ? redaction : redaction.adding(headerNames: names)
    }
}

private enum CredentialHeadersOption: RequestOption { static let defaultValue: [String] = [] }

extension NetworkRequest {
    /// Returns the request at another URL, where a redirect or a server's link leads.
    ///
    /// When scheme, host or port change, it drops the header fields that another origin must not receive; see
    /// ``leaveOrigin()``.
    ///
    /// - Throws: ``NetworkError/Code/redirectRefused`` for a URL that no request can go to, and for a step from https
    ///   to http.
    package func moved(to target: URL) throws(NetworkError) -> NetworkRequest {
        let url = try checkedURL()
        if let fault = URLFault.of(target) {
            throw NetworkError(.redirectRefused, reason: "the URL \(target.shown) \(fault)")
        }
        try target.refuseDowngrade(from: url)
        var moved = self
        moved.url = target
        if !url.hasSameOrigin(as: target) { moved.leaveOrigin(isSameSite: url.isSameSite(as: target)) }
        return moved
    }
}

extension URL {
    /// Throws if the step from `there` to this URL leads from https to another scheme.
    ///
    /// - Throws: ``NetworkError/Code/redirectRefused``.
    package func refuseDowngrade(from there: URL) throws(NetworkError) {
        guard there.isHTTPS, !isHTTPS else { return }
        throw NetworkError(.redirectRefused, reason: "it leads from https to \(shown)")
    }

    /// Returns whether the hosts are equal or one is a subdomain of the other. Two subdomains of a third host count as
    /// different sites.
    fileprivate func isSameSite(as other: URL) -> Bool {
        let (one, two) = ((host ?? "").lowercased(), (other.host ?? "").lowercased())
        return one == two || one.hasSuffix("." + two) || two.hasSuffix("." + one)
    }

    fileprivate var shown: String { Redaction.standard.url(absoluteString).quotedForMessage }
}

extension URL {
    /// Whether the scheme is https, ignoring case.
    package var isHTTPS: Bool {
        absoluteString.utf8.starts(withLowercase: "https:")
    }

    /// Returns whether scheme, host and port are equal ([RFC 6454
    /// §5](https://www.rfc-editor.org/rfc/rfc6454#section-5)).
    package func hasSameOrigin(as other: URL) -> Bool {
        scheme?.lowercased() == other.scheme?.lowercased() && host?.lowercased() == other.host?.lowercased()
            && effectivePort == other.effectivePort
    }

    /// The port, or the default of the scheme.
    package var effectivePort: Int { port ?? schemePort }

    /// The port with its colon, as in `Host`. Empty for the default of the scheme.
    package var portSuffix: String { effectivePort == schemePort ? "" : ":\(effectivePort)" }

    private var schemePort: Int { isHTTPS ? 443 : 80 }

    /// Whether the host is this device, by one of its usual names.
    package var isLoopback: Bool {
        let host = host ?? ""
        return IPAddress(host: host)?.isLoopback ?? (host.lowercased() == "localhost")
    }

    /// Whether the host is this device, or a name below `localhost`, which a resolver may map to another address.
    package var isLikelyLoopback: Bool {
        isLoopback || (host ?? "").lowercased().hasSuffix(".localhost")
    }
}
