import Foundation
import Switchboard
import SwitchboardText

/// The server for requests without a host, with the header fields and query items for that server.
///
/// ```swift
/// let session = SessionChain {
///     ServerDefaults(
///         host: "api.example.com", pathPrefix: "/v1",
///         headers: ["X-App": "7"], query: ["lang": "en"])
///     DefaultSession.shared
/// }
/// var request = NetworkRequest(.get, nil)
/// // https://api.example.com/v1/people?lang=en
/// request.path = "people"
/// // Replaces the chain's defaults for this request.
/// request.options.serverDefaults = ServerDefaults(
///     host: "test.example.com")
/// ```
///
/// A request without a host gets scheme, host and port, and a path that does not begin with a slash is joined to the
/// prefix with one slash. A request with a host keeps its own scheme, host, port and path. Header fields and query
/// items are added if the request has none of their name. Those with a secret's name, such as `Authorization`, are sent
/// only to the origin of this server, and never with TRACE. List it before interceptors that need the host, such as
/// `DigestAuth`, `CookieInterceptor`, `RequestSigner`, `Deduplicator` and `ResponseCache`.
public struct ServerDefaults: Sendable {
    /// The scheme: `http`, or `https`, the default.
    public var scheme: String
    /// The host. Empty to set none.
    public var host: String
    /// The port. Nil, the default, for that of the scheme.
    public var port: Int?
    /// The prefix of relative paths. Default `/`.
    public var pathPrefix: String
    /// Header fields for every request. Default none.
    public var headers: HTTPHeaders
    /// Query items for every request. Default none.
    public var query: Parameters

    /// Creates the defaults of a server.
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

    /// Creates the defaults of a server from a base URL. Its path is the prefix. The items of its query come before
    /// `query`. Its user information becomes an `Authorization` field, unless `headers` has one.
    public init(_ baseURL: URL, headers: HTTPHeaders = [:], query: Parameters = [:]) {
        let parts = URLParts(baseURL)
        let items = FormBody.decode(parts.query ?? "").map { ($0.name, ParameterValue.string($0.value ?? "")) }
        self.init(
            host: parts.host, scheme: parts.scheme, port: parts.port, pathPrefix: parts.path, headers: headers,
            query: Parameters(items + query))
        if let authorization = baseURL.withoutUserInfo.authorization {
            self.headers.addMissing(["Authorization": authorization])
        }
    }

    /// Defaults that leave requests unchanged, for `RequestOptions.serverDefaults`.
    public static let unchanged = ServerDefaults(host: "")

    /// Completes a request with these defaults, whatever its options.
    ///
    /// - Throws: `NetworkError.Code.encodingFailed` for a query item that cannot be written.
    func apply(to request: inout NetworkRequest) throws(NetworkError) {
        if request.host.isEmpty, !host.isEmpty {
            // Set before the host, which changes an empty path to `/`.
            if request.path.utf8.first != .slash { request.path = joined(request.path) }
            request.scheme = scheme
            request.host = host
            request.port = port
        }
        // Another origin chose the URL.
        guard !request.hasLeftOrigin else { return }
        // A response to TRACE repeats the request (RFC 9110 §9.3.8).
        let getsSecrets = isOrigin(of: request) && request.method != .trace
        let secrets = Redaction.standard
        // A user in the request's URL is its authorization.
        let isAuthorized = headers.contains("Authorization") && request.hasAuthorization
        request.headers.addMissing(headers) {
            !getsSecrets && secrets.isSecret(header: $0) || isAuthorized && $0.equalsIgnoringCase("Authorization")
        }
        let items = query.filter { getsSecrets || !secrets.isSecret(parameter: $0.name) }
        try request.addToQuery(Parameters(items), URLEncodedFormEncoder())
    }

    private func joined(_ path: String) -> String {
        var prefix = Substring(pathPrefix)
        guard !path.isEmpty else { return pathPrefix }
        while prefix.hasSuffix("/") { prefix.removeLast() }
        return (prefix.utf8.first == .slash || prefix.isEmpty ? "" : "/") + prefix + "/" + path
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
    /// Completes a request.
    public func adapt(_ request: inout NetworkRequest) async throws {
        try (request.options.serverDefaults ?? self).apply(to: &request)
    }
}

extension ServerDefaults: DumpedAsDescription {
    /// The URL of the server, without header fields and query items.
    public var description: String { "\(scheme)://\(host)\(port.map { ":\($0)" } ?? "")\(pathPrefix)" }
}

extension RequestOptions {
    /// The defaults for this request, in place of those in the chain. Nil, the default, for those in the chain.
    public var serverDefaults: ServerDefaults? {
        get { self[ServerDefaultsOption.self] }
        set { self[ServerDefaultsOption.self] = newValue }
    }
}

private enum ServerDefaultsOption: RequestOption { static let defaultValue: ServerDefaults? = nil }
