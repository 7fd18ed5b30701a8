#if os(Linux)
import SwitchboardCurl
import Foundation
import SwitchboardText

extension CurlLoop {
    convenience init(_ configuration: SessionConfiguration) throws(NetworkError) {
        if let failure = CurlLibrary.failure {
            throw NetworkError(
                CurlLibrary.lacksDescriptors ? .unknown : .unsupported,
                reason: "CurlSession needs libcurl.so.4, and \(failure)")
        }
        let options = try CurlOptions(configuration)
        do throws(CurlFailure) {
            try self.init(options)
        } catch {
            throw error.networkError(of: NetworkRequest(.get, nil), isHeadComplete: false)
        }
    }
}

extension CurlOptions {
    fileprivate init(_ configuration: SessionConfiguration) throws(NetworkError) {
        self.init()
        connectionsPerHost = configuration.maximumConnectionsPerHost
        connections = configuration.maximumConnections
        userAgent = "Switchboard libcurl/\(CurlLibrary.versionText)"
        version =
            switch configuration.httpVersion {
            case .automatic: .automatic
            case .http1: .http1
            case .http2PriorKnowledge: .http2PriorKnowledge
            }
        if version == .http2PriorKnowledge, !CurlLibrary.hasHTTP2 {
            throw NetworkError(.unsupported, reason: "CurlSession has no HTTP/2 with this system's libcurl")
        }
        addressFamily =
            switch configuration.addressFamily {
            case .any: .any
            case .ipv4: .ipv4
            case .ipv6: .ipv6
            }
        unixSocketPath = configuration.unixSocketPath
        localAddress = configuration.localAddress
        // Old versions of libcurl refuse an empty address on connecting, new ones when the option is set.
        if localAddress?.isEmpty == true {
            throw NetworkError(
                .cannotConnect, reason: "the session's localAddress is empty: leave it nil, or set an address")
        }
        resolve = configuration.resolve.map { "\($0):\($1.joined(separator: ","))" }.sorted()
        // libcurl silently skips entries that begin with a minus and, since 8.13, entries without a host name.
        if let invalid = resolve.first(where: { $0.hasPrefix(":") || $0.hasPrefix("-") }) {
            throw NetworkError(
                .invalidRequest, reason: "the session's resolve has \(invalid.quotedForMessage), without a host")
        }
        proxy = configuration.proxy.curlProxy
        // libcurl compares them with the host of the URL byte by byte.
        let bypass = if case .named(_, _, _, let bypass) = proxy { bypass } else { [String]() }
        if let invalid = (resolve + bypass).first(where: { !$0.allSatisfy(\.isASCII) }) {
            throw NetworkError(
                .invalidRequest,
                reason: "the session's resolve or proxy.bypass has \(invalid.quotedForMessage), which is not ASCII: "
                    + "write the host as URLs have it, such as xn--bcher-kva.example")
        }
        tls = try TLS(configuration.tls)
    }
}

extension CurlOptions.TLS {
    fileprivate init(_ options: SessionConfiguration.TLS) throws(NetworkError) {
        self.init()
        // CURL_SSLVERSION_TLSv1_0 to CURL_SSLVERSION_TLSv1_3.
        minimumVersion =
            switch options.minimumVersion {
            case .tls10: 4
            case .tls11: 5
            case .tls12: 6
            case .tls13: 7
            }
        trustsSystem = options.trustsSystem
        trustsEveryServer = options.insecureTrustsEveryServer
        for part in options.extraAuthorities {
            authorities = (authorities ?? Data()) + (try part.contents()) + [0x0A]
        }
        if authorities == nil, !trustsSystem, !trustsEveryServer {
            throw NetworkError(
                .insecureConnection,
                reason: "the session's TLS options trust no authority: set trustsSystem or extraAuthorities")
        }
        if let identity = options.clientIdentity {
            certificate = try identity.certificate.contents()
            key = try (identity.key ?? identity.certificate).contents()
            keyPassword = identity.password
        }
        var hashes: [String] = []
        for pin in options.publicKeyPins {
            guard pin.hasPrefix("sha256/"), let hash = Data(base64Encoded: String(pin.dropFirst(7))), hash.count == 32
            else {
                throw NetworkError(
                    .insecureConnection,
                    reason: "the public-key pin \(pin.quotedForMessage) is not sha256/ and the Base64 of 32 bytes")
            }
            hashes.append("sha256//" + hash.base64EncodedString())
        }
        if !hashes.isEmpty { pins = hashes.joined(separator: ";") }
    }
}

extension SessionConfiguration.Proxy {
    fileprivate var curlProxy: CurlOptions.Proxy {
        switch kind {
        case .system: return .system
        case .none: return .none
        case .explicit(let scheme, let host, let port, let user, let password):
            let bracketed = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
            return .named(
                "\(scheme)://\(bracketed):\(port)", user: user, password: password,
                bypass: bypass.map(\.withoutBrackets))
        }
    }

    /// The host and port of an explicit proxy, as in libcurl's messages.
    fileprivate var hostAndPort: String? {
        guard case .explicit(_, let host, let port, _, _) = kind else { return nil }
        return "\(host.withoutBrackets) port \(port)"
    }
}

extension SessionConfiguration {
    /// The limits of connections, for the text of an error.
    var connectionLimits: String {
        "maximumConnectionsPerHost: \(maximumConnectionsPerHost)"
            + (maximumConnections.map { ", maximumConnections: \($0)" } ?? "")
    }

    /// Returns the route to a URL, for the text of an error.
    func route(to url: URL?) -> TransportText.Route {
        var route = TransportText.Route(proxy: proxy.hostAndPort, unixSocketPath: unixSocketPath)
        if case .system = proxy.kind, CurlOptions().hasSystemProxy, let url, let host = url.host {
            route.serverBehindProxy = "\(host.withoutBrackets) port \(url.effectivePort)"
        }
        return route
    }
}

extension String {
    fileprivate var withoutBrackets: String { trimmingCharacters(in: CharacterSet(charactersIn: "[]")) }
}
#endif
