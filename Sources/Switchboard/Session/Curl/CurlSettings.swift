#if os(Linux)
import SwitchboardCurl
import Foundation

/// A session's configuration as libcurl takes it: what is the same for every handle of the session, read once.
struct CurlSettings: Sendable {
    let configuration: SessionConfiguration
    private let authorities: Data?
    private let certificate: Data?
    private let key: Data?
    private let pins: String?
    let hasSystemProxy: Bool

    /// - Throws: ``NetworkError/Code/insecureConnection`` for certificates, keys and pins that cannot be used,
    ///   ``NetworkError/Code/unsupported`` for what the system's libcurl cannot do.
    init(_ configuration: SessionConfiguration) throws(NetworkError) {
        if let failure = CurlLibrary.failure {
            throw NetworkError(.unsupported, reason: "CurlSession needs libcurl.so.4, and \(failure)")
        }
        self.configuration = configuration
        let tls = configuration.tls
        authorities = try Self.joined(tls.extraAuthorities)
        if authorities == nil, !tls.trustsSystem, !tls.insecureTrustsEveryServer {
            throw NetworkError(.insecureConnection, reason: "the session's TLSOptions trust nobody")
        }
        certificate = try tls.clientIdentity.map { identity throws(NetworkError) in try identity.certificate.contents()
        }
        key = try tls.clientIdentity.map { identity throws(NetworkError) in
            try (identity.key ?? identity.certificate).contents()
        }
        pins = try Self.pins(tls.publicKeyPins)
        let environment = ProcessInfo.processInfo.environment
        hasSystemProxy = environment.keys.contains { $0.lowercased().hasSuffix("_proxy") }
        if configuration.httpVersion == .http2PriorKnowledge, !CurlLibrary.hasHTTP2 {
            throw NetworkError(.unsupported, reason: "CurlSession has no HTTP/2 with this system's libcurl")
        }
    }

    private static func joined(_ parts: [PEMSource]) throws(NetworkError) -> Data? {
        guard !parts.isEmpty else { return nil }
        var whole = Data()
        for part in parts {
            whole.append(try part.contents())
            whole.append(0x0A)
        }
        return whole
    }

    /// `sha256/...` each, as libcurl wants them: with a second slash, joined by semicolons.
    private static func pins(_ pins: [String]) throws(NetworkError) -> String? {
        guard !pins.isEmpty else { return nil }
        var texts: [String] = []
        for pin in pins {
            guard pin.hasPrefix("sha256/"), let hash = Data(base64Encoded: String(pin.dropFirst(7))), hash.count == 32
            else {
                throw NetworkError(
                    .insecureConnection,
                    reason: "the public-key pin \(pin.quotedForMessage) is not sha256/ and the Base64 of 32 bytes")
            }
            texts.append("sha256//" + hash.base64EncodedString())
        }
        return texts.joined(separator: ";")
    }

    /// Sets what every exchange of the session has in common. Gives the list that must live as long as the handle.
    ///
    /// - Throws: ``NetworkError/Code/unsupported`` for an option that this libcurl was built without.
    func apply(to easy: UnsafeMutableRawPointer) throws(NetworkError) -> UnsafeMutableRawPointer? {
        func set(_ option: Int32, _ value: Int, or what: String = "") throws(NetworkError) {
            try Self.check(swcurl_easy_set_long(easy, option, value), what)
        }
        func set(_ option: Int32, _ text: String, or what: String = "") throws(NetworkError) {
            try Self.check(swcurl_easy_set_text(easy, option, text), what)
        }
        try set(CurlOption.noSignal, 1)
        try set(CurlOption.protocols, 3)  // http and https
        try set(CurlOption.pathAsIs, 1)
        try set(CurlOption.suppressConnectHeaders, 1)
        try set(CurlOption.acceptEncoding, "")  // all that this libcurl can undo
        try set(CurlOption.userAgent, "Switchboard libcurl/\(CurlLibrary.versionText)")
        // A cancelled name lookup is not waited for; since 7.87, and harmless before.
        swcurl_easy_set_long(easy, CurlOption.quickExit, 1)
        try set(CurlOption.httpVersion, httpVersion(isTLS: false), or: "HTTP/2")
        try applyTLS(to: easy)
        try applyProxy(to: easy)
        if let path = configuration.unixSocketPath {
            try set(CurlOption.unixSocketPath, path, or: "unix-domain sockets")
        }
        if let address = configuration.localAddress {
            // libcurl refused one when it connected, and refuses it now when it is told.
            guard !address.isEmpty else { throw NetworkError(.cannotConnect, reason: "the local address is empty") }
            try set(CurlOption.interface, "host!" + address, or: "a local address")
        }
        switch configuration.addressFamily {
        case .any: break
        case .ipv4: try set(CurlOption.ipResolve, 1)
        case .ipv6: try set(CurlOption.ipResolve, 2)
        }
        return try applyAddresses(to: easy)
    }

    private func applyTLS(to easy: UnsafeMutableRawPointer) throws(NetworkError) {
        let tls = configuration.tls
        for option in [CurlOption.sslVersion, CurlOption.proxySSLVersion] {
            try Self.check(swcurl_easy_set_long(easy, option, tls.minimumVersion.number), "a minimum version of TLS")
        }
        if tls.insecureTrustsEveryServer {
            for option in [
                CurlOption.sslVerifyPeer, CurlOption.sslVerifyHost, CurlOption.proxySSLVerifyPeer,
                CurlOption.proxySSLVerifyHost,
            ] { swcurl_easy_set_long(easy, option, 0) }
        }
        try applyAuthorities(to: easy)
        if let certificate, let key {
            try Self.setBlob(certificate, CurlOption.sslCertBlob, easy, "client certificates")
            try Self.setBlob(key, CurlOption.sslKeyBlob, easy, "client certificates")
            // Without a password OpenSSL would ask for one on the terminal.
            swcurl_easy_set_text(easy, CurlOption.keyPassword, tls.clientIdentity?.password ?? "")
        }
        if let pins {
            try Self.check(swcurl_easy_set_text(easy, CurlOption.pinnedPublicKey, pins), "public-key pins")
        }
    }

    /// The system's authorities are libcurl's default: a file, a folder of hashed names, or both. Extra ones replace
    /// the file, so where there is no folder they are joined to it.
    private func applyAuthorities(to easy: UnsafeMutableRawPointer) throws(NetworkError) {
        let file = swcurl_default_ca_file(easy).map { String(cString: $0) }
        let folder = swcurl_default_ca_folder(easy).map { String(cString: $0) }
        guard var authorities else {
            // The file is read once for all connections, which libcurl does only where there is no folder (since 7.87).
            if configuration.tls.trustsSystem, let file, FileManager.default.isReadableFile(atPath: file) {
                swcurl_easy_set_text(easy, CurlOption.caPath, nil)
            }
            return
        }
        if !configuration.tls.trustsSystem {
            swcurl_easy_set_text(easy, CurlOption.caPath, nil)
            swcurl_easy_set_text(easy, CurlOption.proxyCAPath, nil)
        } else if folder == nil, let file, let system = FileManager.default.contents(atPath: file) {
            authorities.append(system)
        }
        try Self.setBlob(authorities, CurlOption.caInfoBlob, easy, "authorities of one's own")
        swcurl_easy_set_text(easy, CurlOption.caInfo, nil)
        authorities.withUnsafeBytes { bytes in
            _ = bytes.baseAddress.map { swcurl_easy_set_blob(easy, CurlOption.proxyCAInfoBlob, $0, bytes.count) }
        }
    }

    private func applyProxy(to easy: UnsafeMutableRawPointer) throws(NetworkError) {
        func set(_ option: Int32, _ text: String) throws(NetworkError) {
            try Self.check(swcurl_easy_set_text(easy, option, text), "proxies")
        }
        switch configuration.proxy.kind {
        case .system:
            // To look for these at every exchange is libcurl's way; that there are none is known once.
            if !hasSystemProxy { try set(CurlOption.proxy, "") }
        case .none: try set(CurlOption.proxy, "")
        case .explicit(let scheme, let host, let port, let user, let password):
            let bracketed = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
            try set(CurlOption.proxy, "\(scheme)://\(bracketed):\(port)")
            // libcurl took them for percent-encoded before 8.8.
            func literal(_ text: String) -> String {
                CurlLibrary.version < 0x08_08_00 ? text.replacingOccurrences(of: "%", with: "%25") : text
            }
            if let user { try set(CurlOption.proxyUserName, literal(user)) }
            if let password { try set(CurlOption.proxyPassword, literal(password)) }
            try set(CurlOption.noProxy, configuration.proxy.bypass.joined(separator: ","))
        }
    }

    private func applyAddresses(to easy: UnsafeMutableRawPointer) throws(NetworkError) -> UnsafeMutableRawPointer? {
        let entries = configuration.resolve.sorted { $0.key < $1.key }
            .map { $0.key + ":" + $0.value.joined(separator: ",") }
        // libcurl skips these without a word: what begins with a minus, since 8.13 also what has no name.
        if let bad = entries.first(where: { $0.hasPrefix(":") || $0.hasPrefix("-") }) {
            throw NetworkError(
                .invalidRequest, reason: "the session's resolve has \(bad.quotedForMessage), without a host")
        }
        var list: UnsafeMutableRawPointer?
        for entry in entries { list = swcurl_list_append(list, entry) ?? list }
        if let list { swcurl_easy_set_pointer(easy, CurlOption.resolve, list) }
        return list
    }

    private static func setBlob(
        _ data: Data, _ option: Int32, _ easy: UnsafeMutableRawPointer, _ what: String
    ) throws(NetworkError) {
        let code = data.withUnsafeBytes { bytes in
            bytes.baseAddress.map { swcurl_easy_set_blob(easy, option, $0, bytes.count) } ?? 0
        }
        try check(code, what)
    }

    private static func check(_ code: Int32, _ what: String) throws(NetworkError) {
        guard code != 0 else { return }
        let text = what.isEmpty ? "an option that it needs" : what
        throw NetworkError(
            .unsupported,
            reason: "CurlSession: libcurl \(CurlLibrary.versionText) refuses \(text): \(CurlLibrary.text(of: code))")
    }
}

extension TLSVersion {
    /// libcurl's `CURL_SSLVERSION_`.
    fileprivate var number: Int {
        switch self {
        case .tls10: 4
        case .tls11: 5
        case .tls12: 6
        case .tls13: 7
        }
    }
}
#endif
