import Foundation

/// Translates a transport's failure messages to plain words.
///
/// libcurl's messages are written for experts: "Empty reply from server", "Received HTTP/0.9 when not allowed". They
/// reach users through ``CurlSession`` and through URLSession on Linux. The underlying error keeps the original
/// message.
package enum TransportText {
    /// The known route of a request to its server.
    package struct Route: Sendable {
        /// The explicit proxy, such as `127.0.0.1 port 80`.
        package var proxy: String?
        package var unixSocketPath: String?
        /// The host and port of the server. Set if environment variables may select a proxy.
        package var serverBehindProxy: String?

        /// Creates a route without a proxy.
        package init(proxy: String? = nil, unixSocketPath: String? = nil, serverBehindProxy: String? = nil) {
            self.proxy = proxy
            self.unixSocketPath = unixSocketPath
            self.serverBehindProxy = serverBehindProxy
        }

        /// Returns the description of an address from libcurl. For a Unix socket, libcurl gives the host of the URL. Before
        /// 8.16, it does not distinguish proxies from servers.
        fileprivate func description(of address: String) -> String {
            if let unixSocketPath { return "the Unix socket \(unixSocketPath)" }
            let isProxy =
                proxy.map { $0.equalsIgnoringCase(address) }
                ?? serverBehindProxy.map { !$0.equalsIgnoringCase(address) }
            return isProxy == true ? address + ", the proxy" : address
        }
    }

    /// Returns plain words for a person, or `text` itself if it is unknown.
    package static func plain(_ text: String, route: Route = Route()) -> String {
        // Since 8.16, libcurl appends the proxy's name without its port.
        if text.hasPrefix("Failed to connect to "), let via = text.range(of: " via ") {
            let name = text[via.upperBound...].prefix { $0 != " " }
            return "nothing accepts connections at \(route.proxy ?? String(name)), the proxy"
        }
        // libcurl has one message for a port without a listener and for a connection that is reset at once.
        for prefix in ["Failed to connect to ", "Could not connect to "] where text.hasPrefix(prefix) {
            let address = route.description(of: Self.address(String(text.dropFirst(prefix.count))))
            return "nothing accepts connections at \(address), or it resets them"
        }
        if text.hasPrefix("OpenSSL SSL_connect: "), let target = text.range(of: " in connection to ") {
            let cause = text.dropFirst("OpenSSL SSL_connect: ".count).prefix(upTo: target.lowerBound)
            let host = String(text[target.upperBound...]).trimmedOfBlanks
            return "\(host) closed the connection in the TLS handshake (\(cause)); perhaps the port speaks plain HTTP"
        }
        if text.contains("SSL_read: "), text.contains("unexpected eof") {
            return "the connection was closed within TLS"
        }
        for (prefix, describe) in prefixes where text.hasPrefix(prefix) {
            return describe(String(text.dropFirst(prefix.count)))
        }
        guard let detail = text.range(of: "SSL routines:") else { return text }
        let words = text[detail.upperBound...].split(separator: ":").last ?? "unknown cause"
        // OpenSSL reports this for a server that does not use TLS.
        let hint = words == "wrong version number" ? "; perhaps the port speaks plain HTTP" : ""
        return "the TLS handshake failed (\(words))\(hint)"
    }

    /// The prefixes of messages, each with a function that describes the rest of the message.
    private static let prefixes: [(String, @Sendable (String) -> String)] = [
        ("Could not resolve host: ", { $0 }),
        ("Could not resolve proxy: ", { "the proxy \($0)" }),
        ("Empty reply from server", { _ in "the server closed it without a response" }),
        ("Server returned nothing", { _ in "the server closed it without a response" }),
        ("Recv failure: ", { "\(lowercasing($0)), while waiting for the response" }),
        ("Send failure: ", { "\(lowercasing($0)), while sending the request" }),
        (
            "Chunky upload is not supported by HTTP 1.0",
            { _ in "the server speaks HTTP/1.0, which has no chunks; give the body's stream a length" }
        ),
        ("Received HTTP/0.9 when not allowed", { _ in "it does not begin with a status line" }),
        (
            "transfer closed with outstanding read data remaining",
            { _ in "the connection was closed before the last chunk" }
        ),
        ("transfer closed with ", { "the connection was closed, \(missing($0)) missing" }),
        ("end of response with ", { "the connection was closed, \(missing($0)) missing" }),
        ("Error while processing content unencoding: ", { "the body does not match its Content-Encoding (\($0))" }),
        (
            "Unrecognized content encoding type. libcurl understands ",
            { rest in
                "its content or transfer encoding is unknown; supported are \(rest.components(separatedBy: " content encodings").first ?? rest)"
            }
        ),
        ("Unrecognized content encoding type", { _ in "its content or transfer encoding is unknown" }),
        ("Unsolicited Transfer-Encoding ", { "its transfer encoding is unknown: \($0)" }),
        (
            "Invalid Content-Length",
            { _ in "it has invalid or conflicting Content-Length fields" }
        ),
        ("SSL certificate problem: ", certificateRefusal),
        ("SSL certificate verify result: ", certificateRefusal),
        ("SSL certificate OpenSSL verify result: ", certificateRefusal),
        ("SSL: no alternative ", { "the server's certificate was refused (no alternative \($0))" }),
        ("SSL: certificate ", { "the server's certificate was refused (\($0))" }),
        ("SSL: public key ", { "the server's certificate was refused (public key \($0))" }),
    ]

    /// Returns `127.0.0.1 port 80` from text that ends with the elapsed time.
    private static func address(_ rest: String) -> String {
        for end in [" after ", ": ", ","] {
            if let range = rest.range(of: end) { return String(rest[..<range.lowerBound]) }
        }
        return rest
    }

    /// Describes a certificate problem. Since 8.17, libcurl appends OpenSSL's number, which is dropped.
    @Sendable private static func certificateRefusal(_ problem: String) -> String {
        if problem.hasPrefix("unable to get local issuer certificate") {
            return "the server's certificate has an issuer that this machine does not trust; "
                + "tls.extraAuthorities adds one"
        }
        var words = problem[...]
        if words.last == ")", let number = words.range(of: " (", options: .backwards) {
            words = words[..<number.lowerBound]
        }
        let advice = words.hasPrefix("self") ? "; tls.extraAuthorities can trust it" : ""
        return "the server's certificate was refused (\(words))" + advice
    }

    /// Returns `5 bytes are` for `5 bytes remaining to read`.
    private static func missing(_ rest: String) -> String {
        let count = rest.prefix { $0.isASCII && $0.isNumber }
        return count == "1" ? "1 byte is" : "\(count) bytes are"
    }

    private static func lowercasing(_ text: String) -> String {
        text.prefix(1).lowercased() + text.dropFirst()
    }
}
