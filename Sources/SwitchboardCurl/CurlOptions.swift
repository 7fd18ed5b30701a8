#if os(Linux)
import SwitchboardCurlC
import Foundation

/// The options that all exchanges of a loop share.
package struct CurlOptions: Sendable {
    package enum Version: Sendable { case automatic, http1, http2PriorKnowledge }
    package enum AddressFamily: Int, Sendable { case any, ipv4, ipv6 }
    package enum Proxy: Sendable {
        case system, none
        /// A URL of scheme, host and port, the credentials, and the hosts that bypass the proxy.
        case named(String, user: String?, password: String?, bypass: [String])
    }

    package struct TLS: Sendable {
        /// A `CURL_SSLVERSION_` value of libcurl.
        package var minimumVersion = 6
        package var trustsSystem = true
        package var trustsEveryServer = false
        /// Certificates and keys are PEM text.
        package var authorities: Data?
        package var certificate: Data?
        package var key: Data?
        package var keyPassword: String?
        /// The pins in libcurl's format: `sha256//` and the hash each, joined by semicolons.
        package var pins: String?

        package init() {}
    }

    package var connectionsPerHost = 6
    package var connections: Int?
    package var version = Version.automatic
    package var tls = TLS()
    package var proxy = Proxy.system
    package var unixSocketPath: String?
    package var localAddress: String?
    package var addressFamily = AddressFamily.any
    /// Entries of the form `host:port:address,address`.
    package var resolve: [String] = []
    package var userAgent = ""
    /// Whether the environment names a proxy, read once. libcurl would read the environment for each exchange.
    package let hasSystemProxy: Bool

    /// Creates options with the defaults of `SessionConfiguration`, and an empty `User-Agent`.
    package init() {
        hasSystemProxy = swcurl_has_proxy_variable()
    }
}

/// A mirror without children, so that a `dump` of a session prints no password and no key.
extension CurlOptions: CustomReflectable {
    package var customMirror: Mirror { Mirror(self, children: []) }
}

// MARK: Options that depend on the URL

extension CurlOptions {
    /// Returns whether a connection may turn out to be HTTP/2. Over TLS, the handshake decides.
    func mayBeHTTP2(isTLS: Bool) -> Bool {
        switch version {
        case .automatic: isTLS && CurlLibrary.hasHTTP2
        case .http1: false
        case .http2PriorKnowledge: true
        }
    }

    /// Returns a `CURL_HTTP_VERSION_` value of libcurl. Prior knowledge applies only to connections without TLS: with
    /// TLS, both sides negotiate, and since 8.10 libcurl would offer nothing else.
    func httpVersion(isTLS: Bool) -> Int {
        switch version {
        case .automatic: CurlLibrary.hasHTTP2 ? 4 : 2
        case .http1: 2
        case .http2PriorKnowledge: isTLS ? 4 : 5
        }
    }

    /// Splits a URL into the URL of its server and its request target. From a whole URL, libcurl would format the target
    /// twice per request, and since 8.8 omit the `?` of an empty query. The target is nil, and the URL whole, for a proxy
    /// that may need it, and for a path that libcurl encodes.
    func split(_ url: String, isTLS: Bool) -> (server: String, target: String?) {
        guard isTLS || !mayHaveHTTPProxy, let path = url.endOfServer(isTLS: isTLS) else { return (url, nil) }
        let target = url.utf8[path...].prefix { $0 != 0x23 }
        guard target.allSatisfy({ (0x21...0x7E).contains($0) }) else { return (url, nil) }
        let server = String(url[..<path]) + "/"
        return (server, (target.first == 0x2F ? "" : "/") + String(Substring(target)))
    }

    /// The header fields of each request that does not set them itself. libcurl would format them twice per request.
    var defaultFields: [(name: String, line: String)] {
        var fields = [(name: "user-agent", line: "User-Agent: " + userAgent)]
        let encodings = CurlLibrary.acceptedEncodings
        if !encodings.isEmpty { fields.append((name: "accept-encoding", line: "Accept-Encoding: " + encodings)) }
        return fields
    }

    private var mayHaveHTTPProxy: Bool {
        switch proxy {
        case .system: hasSystemProxy
        case .none: false
        case .named(let url, _, _, _): url.hasPrefix("http")
        }
    }

    /// Returns whether no TLS is between this client and the server, not even to a proxy.
    func isPlain(isTLS: Bool) -> Bool {
        switch proxy {
        case .system: !isTLS && !hasSystemProxy
        case .none: !isTLS
        case .named(let url, _, _, _): !isTLS && !url.hasPrefix("https")
        }
    }

    var reusesPlainConnections: Bool { version != .http2PriorKnowledge || !CurlLibrary.breaksPlainHTTP2 }
}

// MARK: Setting options

extension CurlOptions {
    /// Sets the options on a handle. Returns the list that must live as long as the handle.
    func apply(to easy: UnsafeMutableRawPointer) throws(CurlFailure) -> UnsafeMutableRawPointer? {
        func set(_ option: Int32, _ value: Int, or what: String = "") throws(CurlFailure) {
            try Self.check(swcurl_easy_set_long(easy, option, value), what)
        }
        func set(_ option: Int32, _ text: String, or what: String = "") throws(CurlFailure) {
            try Self.check(swcurl_easy_set_text(easy, option, text), what)
        }
        try set(CurlOption.noSignal, 1)
        try set(CurlOption.protocols, 3)  // http and https
        try set(CurlOption.pathAsIs, 1)
        try set(CurlOption.suppressConnectHeaders, 1)
        // For a proxy's CONNECT. Requests carry it among their fields.
        if mayHaveHTTPProxy { try set(CurlOption.userAgent, userAgent) }
        // Does not wait for a canceled name lookup. Supported from 7.87 to 8.19, and harmless otherwise.
        swcurl_easy_set_long(easy, CurlOption.quickExit, 1)
        try set(CurlOption.httpVersion, httpVersion(isTLS: false), or: "HTTP/2")
        try applyTLS(to: easy)
        switch proxy {
        case .system where hasSystemProxy: break
        case .system, .none:
            try set(CurlOption.proxy, "", or: "proxies")
            swcurl_easy_set_text(easy, CurlOption.noProxy, "")  // libcurl would read the environment for each exchange
        case .named(let url, let user, let password, let bypass):
            try set(CurlOption.proxy, url, or: "proxies")
            // Before 8.8, libcurl percent-decodes them.
            func literal(_ text: String) -> String {
                CurlLibrary.version < 0x08_08_00 ? text.replacingOccurrences(of: "%", with: "%25") : text
            }
            if let user { try set(CurlOption.proxyUserName, literal(user), or: "proxies") }
            if let password { try set(CurlOption.proxyPassword, literal(password), or: "proxies") }
            // libcurl ignores a `*` among other hosts.
            let hosts = bypass.contains("*") ? "*" : bypass.joined(separator: ",")
            try set(CurlOption.noProxy, hosts, or: "proxies")
        }
        if let unixSocketPath { try set(CurlOption.unixSocketPath, unixSocketPath, or: "unix-domain sockets") }
        if let localAddress { try set(CurlOption.interface, "host!" + localAddress, or: "a local address") }
        if addressFamily != .any { try set(CurlOption.ipResolve, addressFamily.rawValue) }
        var list: UnsafeMutableRawPointer?
        for entry in resolve { list = swcurl_list_append(list, entry) ?? list }
        if let list { swcurl_easy_set_pointer(easy, CurlOption.resolve, list) }
        return list
    }

    private func applyTLS(to easy: UnsafeMutableRawPointer) throws(CurlFailure) {
        for option in [CurlOption.sslVersion, CurlOption.proxySSLVersion] {
            try Self.check(swcurl_easy_set_long(easy, option, tls.minimumVersion), "a minimum version of TLS")
        }
        if tls.trustsEveryServer {
            for option in [
                CurlOption.sslVerifyPeer, CurlOption.sslVerifyHost, CurlOption.proxySSLVerifyPeer,
                CurlOption.proxySSLVerifyHost,
            ] { swcurl_easy_set_long(easy, option, 0) }
        }
        if let certificate = tls.certificate, let key = tls.key {
            try Self.setBlob(certificate, CurlOption.sslCertBlob, easy, "client certificates")
            try Self.setBlob(key, CurlOption.sslKeyBlob, easy, "client certificates")
            // Without a password, OpenSSL would ask for one on the terminal.
            swcurl_easy_set_text(easy, CurlOption.keyPassword, tls.keyPassword ?? "")
        }
        if let pins = tls.pins {
            try Self.check(swcurl_easy_set_text(easy, CurlOption.pinnedPublicKey, pins), "public-key pins")
        }
    }

    /// Sets the trusted authorities. libcurl's default is the system's authorities: a file, a folder of hashed names,
    /// or both. Custom authorities replace the file, so the system's file is appended to them, unless the folder has
    /// certificates.
    func applyAuthorities(to easy: UnsafeMutableRawPointer) throws(CurlFailure) {
        let file = swcurl_default_ca_file(easy).map { String(cString: $0) }
        let folder = swcurl_default_ca_folder(easy).map { String(cString: $0) }
        let (usualFile, usualFolder) = Self.usualPlaces
        guard let authorities = try tls.bundle(replacing: file ?? usualFile, folder: folder ?? usualFolder) else {
            // Reads the file once for all connections. libcurl does that only without a folder (since 7.87). From 8.21
            // on, the folder stays.
            if tls.trustsSystem, let file, access(file, R_OK) == 0 {
                swcurl_easy_set_text(easy, CurlOption.caPath, nil)
            }
            return
        }
        if !tls.trustsSystem {
            let noFolder = Self.noFolder(CurlLibrary.version)
            // A TLS library without folders refuses these options.
            swcurl_easy_set_text(easy, CurlOption.caPath, noFolder)
            swcurl_easy_set_text(easy, CurlOption.proxyCAPath, noFolder)
        }
        try Self.setBlob(authorities, CurlOption.caInfoBlob, easy, "authorities of one's own")
        swcurl_easy_set_text(easy, CurlOption.caInfo, nil)
        // A libcurl without proxies over TLS has no such option.
        if mayHaveHTTPProxy { try? Self.setBlob(authorities, CurlOption.proxyCAInfoBlob, easy, "") }
    }

    private static let usualPlaces = usualAuthorities(CurlLibrary.version)

    /// Returns the file and the folder that have the system's authorities on usual systems. Both are nil from 7.84 on,
    /// because libcurl names its own.
    static func usualAuthorities(
        _ version: UInt32,
        among files: [String] = [
            "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        ]
    ) -> (file: String?, folder: String?) {
        guard version < 0x07_54_00 else { return (nil, nil) }
        return (files.first { access($0, R_OK) == 0 }, "/etc/ssl/certs")
    }

    /// Returns the folder to set so that libcurl trusts no folder. From 8.21 on, nil restores the default folder.
    /// OpenSSL finds nothing below a path that is no folder, and GnuTLS reads nothing from it.
    static func noFolder(_ version: UInt32) -> String? { version < 0x08_15_00 ? nil : "/dev/null" }

    private static func setBlob(
        _ data: Data, _ option: Int32, _ easy: UnsafeMutableRawPointer, _ what: String
    ) throws(CurlFailure) {
        let code = data.withUnsafeBytes { bytes in
            bytes.baseAddress.map { swcurl_easy_set_blob(easy, option, $0, bytes.count) } ?? 0
        }
        try check(code, what)
    }

    private static func check(_ code: Int32, _ what: String) throws(CurlFailure) {
        guard code != 0 else { return }
        throw .refusedOption(what.isEmpty ? "an option that it needs" : what, code: code)
    }
}

extension CurlOptions.TLS {
    /// Returns the trusted certificates in place of the system's file, or nil to use that file. Each transfer copies
    /// them, so they contain the file only if the system's folder has no certificates.
    ///
    /// - Throws: libcurl's failure for a file that exists and cannot be read.
    func bundle(replacing file: String?, folder: String?) throws(CurlFailure) -> Data? {
        guard let authorities else { return nil }
        let names = folder.flatMap { try? FileManager.default.contentsOfDirectory(atPath: $0) } ?? []
        // The names that OpenSSL looks for: a hash and a number.
        guard trustsSystem, !names.contains(where: { $0.hasSuffix(".0") }), let file,
            access(file, F_OK) == 0 || errno != ENOENT
        else { return authorities }
        guard let system = FileManager.default.contents(atPath: file) else {
            let message = "the file of the system's authorities, \(file), cannot be read"
            throw .libcurl(code: CurlCode.unreadableAuthorities, message: message)
        }
        return authorities + system
    }
}
#endif
