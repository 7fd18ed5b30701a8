import Foundation
import Switchboard
import SwitchboardPlatform
import Testing

/// The independent servers of `scripts/oracles/servers`, if `scripts/oracles/with-httpbin` runs them.
enum Servers {
    /// The contents of `servers.json`: ports by name.
    struct Directory: Decodable {
        var tls: [String: Int]
        var plain: Int
        /// A plain server on 127.0.0.1 and ::1, or nil without IPv6.
        var bothFamilies: Int?
        var unixSockets: [String: String]
        var proxies: [String: Int]
        var http2: [String: Int]
        /// The public-key pin of each kind of certificate, computed by the script.
        var pins: [String: String]
        var keyPassword: String
        var proxyUser: String
        var proxyPassword: String
    }

    static let folder = ProcessInfo.processInfo.environment["SWITCHBOARD_SERVERS"].map {
        URL(fileURLWithPath: $0, isDirectory: true)
    }

    /// The code of the error for an unknown name. A machine without a network cannot look it up.
    static var unknownHostCode: NetworkError.Code { NetworkPath.exists ? .cannotFindHost : .noInternetConnection }

    static func directory() throws -> Directory {
        let file = try #require(folder).appendingPathComponent("servers.json")
        return try JSONDecoder().decode(Directory.self, from: Data(contentsOf: file))
    }

    static func file(_ name: String) throws -> URL {
        try #require(folder).appendingPathComponent(name)
    }

    /// Returns the URL of a TLS server with this kind of certificate.
    static func tls(_ kind: String, host: String = "127.0.0.1", path: String = "/") throws -> URL {
        try url("https", host, directory().tls[kind], path)
    }

    /// Returns the URL of an HTTP/2 server. `tls` and `plain` are httpbin on hypercorn; `scripts` and `scriptsTLS` send
    /// scripted frames.
    static func http2(_ name: String, _ path: String) throws -> URL {
        try url(name.lowercased().hasSuffix("tls") ? "https" : "http", "127.0.0.1", directory().http2[name], path)
    }

    static func url(_ scheme: String, _ host: String, _ port: Int?, _ path: String = "/") throws -> URL {
        let port = try #require(port)
        return try #require(URL(string: "\(scheme)://\(host):\(port)\(path)"))
    }

    /// The description of a request by the servers of `plain.py`.
    struct Seen: Decodable {
        var line: String
        var host: String?
        var authorization: String?
        var proxyAuthorization: String?
        /// The client's address.
        var peer: String?
        /// The version of TLS.
        var tls: String?
        /// The common name of the client's certificate.
        var client: String?
    }

    /// One request to a proxy.
    struct ProxyEntry: Decodable, Equatable {
        var proxy: String
        var method: String
        var target: String
        /// The `Proxy-Authorization`, or the user over SOCKS.
        var authorization: String?
        /// The names of the fields that the proxy received, in lower case.
        var fields: [String]?
    }
}

extension SessionConfiguration {
    /// Creates a configuration that also trusts the authority of the servers' certificates.
    static func trusting() throws -> SessionConfiguration {
        var configuration = SessionConfiguration()
        configuration.tls.extraAuthorities = [.file(try Servers.file("authority.pem"))]
        return configuration
    }
}

extension NetworkSession {
    /// Sends a GET to a server of `plain.py` and returns its description of the request.
    func seen(_ url: URL) async throws -> Servers.Seen {
        try JSONDecoder().decode(Servers.Seen.self, from: await send(NetworkRequest(.get, url)).body)
    }

    /// Sends a GET and returns the response's body.
    func text(_ url: URL) async throws -> String {
        try await send(NetworkRequest(.get, url)).text
    }

    /// Sends a GET that must fail, and returns its error.
    func failure(_ url: URL, sourceLocation: SourceLocation = #_sourceLocation) async throws -> NetworkError {
        let error = await #expect(throws: NetworkError.self, sourceLocation: sourceLocation) {
            try await send(NetworkRequest(.get, url))
        }
        return try #require(error, sourceLocation: sourceLocation)
    }
}

extension Trait where Self == ConditionTrait {
    static var needsServers: Self {
        .enabled(if: Servers.folder != nil, "left out without the servers: run scripts/oracles/with-httpbin swift test")
    }

    static var needsIPv6: Self {
        .enabled("left out where loopback has no IPv6") { try Servers.directory().bothFamilies != nil }
    }
}
