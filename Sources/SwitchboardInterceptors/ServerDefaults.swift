import Foundation
import Switchboard
import SwitchboardText

/// Where requests go that name no host, and what they carry there.
///
/// ```swift
/// let session = SessionChain {
///     ServerDefaults(host: "api.example.com", pathPrefix: "/v1", headers: ["X-App": "7"], query: ["lang": "en"])
///     CurlSession()
/// }
/// var request = NetworkRequest(.get, nil)
/// request.path = "people"                                        // https://api.example.com/v1/people?lang=en
/// request.options.serverDefaults = .testing                   // in place of the chain's, for this request
/// ```
///
/// Scheme, host and port are set on a request without a host; one that has a host keeps all three. The prefix goes before a
/// path that does not begin with a slash, joined by one. Fields and query items are added where the request has none of
/// their name; those with a secret's name, such as `Authorization`, go to this environment's own origin alone.
public struct ServerDefaults: Sendable {
    /// `http` or `https`, the default.
    public var scheme: String
    /// The host; empty to set none.
    public var host: String
    /// The port. Nil, the default, for the scheme's own.
    public var port: Int?
    /// What goes before relative paths. Default `/`.
    public var pathPrefix: String
    /// Fields for every request. Default none.
    public var headers: HTTPHeaders
    /// Query items for every request. Default none.
    public var query: Parameters

    /// Makes an environment.
    public init(
        host: String, scheme: String = "https", port: Int? = nil, pathPrefix: String = "/", headers: HTTPHeaders = [:],
        query: Parameters = [:]
    ) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.pathPrefix = pathPrefix
        self.headers = headers
        self.query = query
    }

    /// Makes an environment of a base URL, whose path is the prefix.
    public init(_ baseURL: URL, headers: HTTPHeaders = [:], query: Parameters = [:]) {
        let parts = URLParts(baseURL)
        self.init(
            host: parts.host, scheme: parts.scheme, port: parts.port, pathPrefix: parts.path, headers: headers,
            query: query)
    }

    /// Leaves requests as they are: for `RequestOptions.serverDefaults`.
    public static let unchanged = ServerDefaults(host: "")

    /// Completes a request, with this environment whatever its options say.
    ///
    /// - Throws: `NetworkError.Code.encodingFailed` for a query item that cannot be written.
    func apply(to request: inout NetworkRequest) throws(NetworkError) {
        if request.host.isEmpty, !host.isEmpty {
            // Before the host is set, which makes an empty path the root.
            if !request.path.hasPrefix("/") { request.path = joined(request.path) }
            request.scheme = scheme
            request.host = host
            request.port = port
        }
        // Another origin chose its URL.
        guard !request.hasLeftOrigin else { return }
        let isOwn = isOrigin(of: request)
        let secrets = Redaction.standard
        request.headers.fill(headers) { !isOwn && secrets.isSecret(header: $0) }
        let items = query.filter { isOwn || !secrets.isSecret(parameter: $0.name) }
        try request.addToQuery(Parameters(items), URLEncodedFormEncoder())
    }

    private func joined(_ path: String) -> String {
        var prefix = Substring(pathPrefix)
        guard !path.isEmpty else { return pathPrefix }
        while prefix.hasSuffix("/") { prefix.removeLast() }
        return (prefix.hasPrefix("/") || prefix.isEmpty ? "" : "/") + prefix + "/" + path
    }

    private func isOrigin(of request: NetworkRequest) -> Bool {
        var own = NetworkRequest(.get, nil)
        own.scheme = scheme
        own.host = host
        own.port = port
        guard let url = request.url, let ownURL = own.url else { return false }
        return url.hasSameOrigin(as: ownURL)
    }
}

extension ServerDefaults: Interceptor, RequestAdapter {
    /// Completes the request.
    public func adapt(_ request: inout NetworkRequest) async throws {
        try (request.options.serverDefaults ?? self).apply(to: &request)
    }
}

extension ServerDefaults: CustomStringConvertible, CustomReflectable {
    /// Where it leads, without what requests carry there.
    public var description: String { "\(scheme)://\(host)\(port.map { ":\($0)" } ?? "")\(pathPrefix)" }

    /// Shows the description only, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension RequestOptions {
    /// What completes this request in place of the chain's ``ServerDefaults``. Nil, the default, for that one.
    public var serverDefaults: ServerDefaults? {
        get { self[ServerEnvironmentOption.self] }
        set { self[ServerEnvironmentOption.self] = newValue }
    }
}

private enum ServerEnvironmentOption: RequestOption { static let defaultValue: ServerDefaults? = nil }
