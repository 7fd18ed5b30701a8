import SwitchboardPlatform
import SwitchboardText
import Foundation

// Requests that a server sent to another URL: by a redirect, a link to the next page or the location of an upload.
extension NetworkRequest {
    /// Whether the request has crossed origins, even if it returned, or its URL may come from a server.
    package var hasLeftOrigin: Bool { crossOriginHops.count > 0 || hasUntrustedURL }

    /// Whether the original URL of the request may come from a server instead of the app.
    package var hasUntrustedURL: Bool {
        get { crossOriginHops.hasUntrustedURL }
        set { route.crossOriginHops.hasUntrustedURL = newValue }
    }

    package var crossOriginHops: CrossOriginHops { route.crossOriginHops }

    /// Removes the header fields that another origin must not see. From then on, credentials are added only where
    /// ``CredentialOrigins`` allow them explicitly.
    ///
    /// - Parameter host: The host that chose the URL of the request. Empty if it is unknown.
    package mutating func leaveOrigin(of host: String = "") {
        let names = sameOriginHeaderNames
        for name in names { headers.remove(name) }
        route.crossOriginHops.add(names, host)
    }

    /// Records that redirects of these hosts across origins led to this request, and that they have already removed
    /// header fields.
    package mutating func leaveOriginEarlier(of hosts: [String]) {
        for host in hosts { route.crossOriginHops.add([], host) }
        hasUntrustedURL = true
    }

    package func withURLAndHops(of other: NetworkRequest) -> NetworkRequest {
        var request = self
        if let url = other.url { request.url = url }
        request.route.crossOriginHops = other.crossOriginHops
        request.recordCredentials(recordedIn: other)
        return request
    }

    /// The names of the header fields that another origin must not see, each once.
    var sameOriginHeaderNames: [String] {
        headers.map(\.name).reduce(into: []) { names, name in
            guard !isAllowedCrossOrigin(name), !names.contains(where: { $0.equalsIgnoringCase(name) }) else { return }
            names.append(name)
        }
    }

    /// Returns whether a header field may go to another origin: it is safelisted, or the options allow it.
    package func isAllowedCrossOrigin(_ name: String) -> Bool {
        // `Host` names the old server.
        guard !name.equalsIgnoringCase("Host") else { return false }
        if options.headersToOtherOrigins.contains(where: { $0.equalsIgnoringCase(name) }) { return true }
        return Self.safelistedHeaders.contains(name.lowercased()) && !carriesCredentials(in: name)
    }

    private static let safelistedHeaders: Set<String> = [
        // The CORS-safelisted ones (https://fetch.spec.whatwg.org/#cors-safelisted-request-header).
        "accept", "accept-language", "content-language", "content-type", "range",
        // These describe the body.
        "content-encoding", "content-length", "content-range",
        // These state what the client accepts.
        "accept-encoding", "cache-control", "user-agent",
        // Without these conditions, a request could change another version, or append a range of another version.
        "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since",
        // Without these, the server could repeat events or process a request twice.
        "idempotency-key", "last-event-id",
        // These belong to resumable uploads.
        "tus-resumable", "upload-complete", "upload-draft-interop-version", "upload-length", "upload-offset",
    ]
}

extension NetworkResponse {
    /// Whether an origin other than the requested one influenced the response.
    package var passedAnotherOrigin: Bool {
        request.map { $0.crossOriginHops.count > 0 } ?? false || isRedirectedBySession
    }

    /// Returns whether the request's origin sent the response. False after a redirect through another origin, even if
    /// it came back.
    package func isFromOrigin(of request: NetworkRequest) -> Bool {
        !isRedirectedBySession && (self.request ?? request).crossOriginHops.count == request.crossOriginHops.count
    }

    /// Whether the session itself followed a redirect to another origin.
    private var isRedirectedBySession: Bool {
        guard let url = reportedURL, let requested = request?.url else { return false }
        return !url.hasSameOrigin(as: requested)
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
struct RequestRoute: Sendable {
    var crossOriginHops = CrossOriginHops()
    /// Conditions for requests to other origins that carry the body. All must hold. Empty if the body has only the
    /// endpoint's own content.
    var bodyRules: [@Sendable (NetworkRequest) -> Bool] = []

    var isEmpty: Bool { bodyRules.isEmpty && crossOriginHops == CrossOriginHops() }

    func merging(_ other: RequestRoute) -> RequestRoute {
        var result = self
        if crossOriginHops != other.crossOriginHops { result.crossOriginHops.merge(other.crossOriginHops) }
        if bodyRules.isEmpty { result.bodyRules = other.bodyRules }
        return result
    }
}

/// The number of times a request left its origin, and the header fields that were removed.
package struct CrossOriginHops: Sendable, Hashable {
    package private(set) var count = 0
    private(set) var names: [String] = []
    /// The hosts that led to another origin, in lower case and each once. Empty for an unknown one.
    package private(set) var hosts: [String] = []
    var hasUntrustedURL = false

    mutating func add(_ names: [String], _ host: String) {
        count += 1
        self.names += names
        if !hosts.contains(host) { hosts.append(host) }
    }

    mutating func merge(_ other: CrossOriginHops) {
        count = max(count, other.count)
        names += other.names.filter { !names.contains($0) }
        hosts += other.hosts.filter { !hosts.contains($0) }
        hasUntrustedURL = hasUntrustedURL || other.hasUntrustedURL
    }

    /// The removed fields in words. Nil if none was removed.
    var text: String? {
        names.isEmpty ? nil : "to another origin, without " + names.joined(separator: ", ")
    }
}

extension NetworkRequest {
    /// Returns whether an interceptor wrote a credential to this field.
    package func carriesCredentials(in header: String) -> Bool {
        self[CredentialHeadersOption.self].contains { $0.equalsIgnoringCase(header) }
    }

    mutating func recordCredential(in name: String) {
        if !carriesCredentials(in: name) { self[CredentialHeadersOption.self].append(name) }
    }

    /// Records a credential in each field, and in each parameter of the query, that the earlier request lacks.
    package mutating func recordCredentials(addedTo earlier: NetworkRequest) {
        for field in headers where !earlier.headers.values(for: field.name).contains(field.value) {
            recordCredential(in: field.name)
        }
        guard urlText != earlier.urlText, let query else { return }
        let known = Set(FormBody.decode(earlier.query ?? ""))
        for item in FormBody.decode(query) where !known.contains(item) { recordCredential(inParameter: item.name) }
    }

    mutating func recordCredential(inParameter name: String) {
        let isKnown = self[CredentialParametersOption.self].contains(name)
        if !isKnown { self[CredentialParametersOption.self].append(name) }
    }

    /// Records the names of the parameters in which another request has credentials, because this one got its URL.
    mutating func recordCredentials(recordedIn other: NetworkRequest) {
        for name in other[CredentialParametersOption.self] { recordCredential(inParameter: name) }
    }

    /// Returns a redaction that also redacts the fields and parameters with credentials.
    package func redaction(extending redaction: Redaction) -> Redaction {
        let (headers, parameters) = (self[CredentialHeadersOption.self], self[CredentialParametersOption.self])
        guard !redaction.isEmpty, !headers.isEmpty || !parameters.isEmpty else { return redaction }
        return redaction.adding(credentialsIn: headers, parameters)
    }
}

private enum CredentialHeadersOption: RequestOption { static let defaultValue: [String] = [] }
private enum CredentialParametersOption: RequestOption { static let defaultValue: [String] = [] }

extension NetworkRequest {
    /// The `Authorization` of the user in the URL. Nil without a user, and for TRACE, whose response repeats it ([RFC 9110
    /// §9.3.8](https://www.rfc-editor.org/rfc/rfc9110#section-9.3.8)).
    package var urlAuthorization: String? { method == .trace ? nil : url?.withoutUserInfo.authorization }

    /// Returns the request with another URL, from a redirect or a server's link.
    ///
    /// When scheme, host or port change, it drops the header fields that another origin must not receive; see
    /// ``leaveOrigin(of:)``. Within the first origin, it keeps the user of the URL. When the URL changes, it drops the
    /// digest of an interceptor.
    ///
    /// - Throws: ``NetworkError/Code/redirectRefused`` for an invalid URL, and for a step from https to http.
    package func moved(to target: URL) throws(NetworkError) -> NetworkRequest {
        let url = try checkedURL()
        if let fault = URLFault.of(target) {
            throw NetworkError(
                .redirectRefused, reason: "the URL \(target.absoluteString.quotedURLForMessage) \(fault)")
        }
        try target.refuseDowngrade(from: url)
        var moved = self
        moved.url = target
        if !url.hasSameOrigin(as: target) {
            moved.leaveOrigin(of: host.lowercased())
        } else if crossOriginHops.count == 0 {
            moved.url = target.withUserInfo(of: url)
        }
        if target.absoluteString != url.absoluteString { moved.removeDigest() }
        return moved
    }

    /// Removes the digest of an interceptor. It is for one method and URL (RFC 7616 §3.4), and servers answer 400 or 401
    /// to that of another.
    mutating func removeDigest() {
        guard carriesCredentials(in: "Authorization"), headers["Authorization"]?.hasPrefix("Digest ") == true else {
            return
        }
        headers.remove("Authorization")
    }
}

extension URL {
    package func refuseDowngrade(from source: URL) throws(NetworkError) {
        guard source.isHTTPS, !isHTTPS else { return }
        throw NetworkError(.redirectRefused, reason: "it leads from https to \(absoluteString.quotedURLForMessage)")
    }
}

extension URL {
    package var isHTTPS: Bool {
        absoluteString.utf8.starts(withLowercase: "https:")
    }

    /// Returns whether scheme, host and port are equal ([RFC 6454
    /// §5](https://www.rfc-editor.org/rfc/rfc6454#section-5)).
    package func hasSameOrigin(as other: URL) -> Bool {
        absoluteString.hasServer(of: other.absoluteString)
            || scheme?.lowercased() == other.scheme?.lowercased() && host?.lowercased() == other.host?.lowercased()
                && effectivePort == other.effectivePort
    }

    package var effectivePort: Int { port ?? schemePort }

    /// The port with its colon, as in `Host`. Empty for the default of the scheme.
    package var portSuffix: String { effectivePort == schemePort ? "" : ":\(effectivePort)" }

    private var schemePort: Int { isHTTPS ? 443 : 80 }

    /// Whether the host is this device, by one of its usual names.
    package var isLoopback: Bool {
        IPAddress(host: host ?? "")?.reachesThisMachine ?? (hostName == "localhost")
    }

    /// Whether the host is this device, or a name below `localhost`, which a resolver may map to another address.
    package var isLikelyLoopback: Bool {
        isLoopback || hostName.hasSuffix(".localhost")
    }

    private var hostName: String {
        let host = (host ?? "").lowercased()
        return host.utf8.last == .dot ? String(host.dropLast()) : host
    }
}

extension String {
    /// Whether the texts of two URLs are equal up to the slash after host and port, so that no parts need comparison.
    fileprivate func hasServer(of other: String) -> Bool {
        var slashes = 0
        for (byte, otherByte) in zip(utf8, other.utf8) {
            guard byte == otherByte else { return false }
            if byte == .slash { slashes += 1 }
            if slashes == 3 { return true }
        }
        return false
    }
}
