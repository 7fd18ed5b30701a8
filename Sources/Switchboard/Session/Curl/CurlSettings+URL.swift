#if os(Linux)
import Foundation

/// What follows from the configuration for one URL or another.
extension CurlSettings {
    /// Whether a request waits for a connection that is being made, to share it over HTTP/2. Over TLS the handshake says
    /// whether it can; without, libcurl would wait for the first answer, however long that takes.
    func waitsToShare(isTLS: Bool) -> Bool {
        switch configuration.httpVersion {
        case .automatic: isTLS && CurlLibrary.hasHTTP2
        case .http1: false
        case .http2PriorKnowledge: true
        }
    }

    /// libcurl's `CURL_HTTP_VERSION_`. What is known beforehand is known of connections without TLS: with it both sides
    /// choose, and since 8.10 libcurl would offer nothing else.
    func httpVersion(isTLS: Bool) -> Int {
        switch configuration.httpVersion {
        case .automatic: CurlLibrary.hasHTTP2 ? 4 : 2
        case .http1: 2
        case .http2PriorKnowledge: isTLS ? 4 : 5
        }
    }

    /// What is sent for a URL whose query is empty, where libcurl would leave its `?` out. Nil for all others, and where
    /// a proxy may have to be sent the whole URL.
    func target(of url: String, isTLS: Bool) -> String? {
        guard CurlLibrary.dropsEmptyQuery, let mark = url.utf8.firstIndex(of: UInt8(ascii: "?")) else { return nil }
        let isEmpty = url.utf8[mark...].dropFirst().first.map { $0 == UInt8(ascii: "#") } ?? true
        guard isEmpty, isTLS || !mayHaveHTTPProxy, !url.utf8[..<mark].contains(UInt8(ascii: "#")),
            let scheme = url.range(of: "://")
        else { return nil }
        let path = url.utf8[scheme.upperBound..<mark].drop { $0 != UInt8(ascii: "/") }
        return (path.isEmpty ? "/" : String(path) ?? "/") + "?"
    }

    private var mayHaveHTTPProxy: Bool {
        switch configuration.proxy.kind {
        case .system: hasSystemProxy
        case .none: false
        case .explicit(let scheme, _, _, _, _): scheme.hasPrefix("http")
        }
    }

    /// The host and port of the proxy that the session names.
    var proxyPlace: String? {
        guard case .explicit(_, let host, let port, _, _) = configuration.proxy.kind else { return nil }
        return "\(host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))) port \(port)"
    }

    /// False where a connection without TLS cannot serve a second request.
    var keepsPlainConnections: Bool {
        configuration.httpVersion != .http2PriorKnowledge || !CurlLibrary.breaksPlainHTTP2
    }
}
#endif
