import Foundation

/// Whom a session trusts over TLS, and what it shows of itself.
public struct TLSOptions: Sendable, Hashable {
    /// Whether the system's authorities are trusted. Default true. False with ``extraAuthorities`` trusts those alone;
    /// false without any trusts nobody.
    public var trustsSystem = true
    /// Certificates of authorities that are trusted as well: of a company, or of a test. Default none.
    public var extraAuthorities: [PEM] = []
    /// The certificate and key to show to a server that asks for one. Default nil.
    public var clientIdentity: ClientIdentity?
    /// Hashes of public keys, as `sha256/` and 44 characters of Base64 ([RFC 7469
    /// §2.4](https://www.rfc-editor.org/rfc/rfc7469#section-2.4)). When there are any, the server's own key must be one
    /// of them, for every host of the session. A pin of another form refuses every connection. Default none.
    public var publicKeyPins: [String] = []
    /// The oldest version of TLS to accept. Default 1.2.
    public var minimumVersion = TLSVersion.tls12
    /// Accepts any certificate of anybody, so that everybody on the way can read and change everything. For a
    /// development machine at most; a session that is made with it says so on standard error. Default false.
    public var insecureTrustsEveryServer = false

    /// The system's trust, TLS 1.2 and later.
    public init() {}
}

/// A version of TLS.
public enum TLSVersion: Sendable, Hashable {
    /// TLS 1.0, deprecated by RFC 8996.
    case tls10
    /// TLS 1.1, deprecated by RFC 8996.
    case tls11
    /// TLS 1.2
    case tls12
    /// TLS 1.3
    case tls13
}

/// Certificates or a key in PEM form: text between `-----BEGIN` and `-----END` lines, one or several.
public enum PEM: Sendable, Hashable {
    /// Read from a file when a session first needs it.
    case file(URL)
    /// At hand.
    case data(Data)
}

/// What a client shows of itself over TLS.
public struct ClientIdentity: Sendable, Hashable {
    /// The certificate, with the chain up to its authority when the server needs it.
    public var certificate: PEM
    /// The private key; nil when it stands with the certificate.
    public var key: PEM?
    /// What the key is encrypted with; nil when it is not.
    public var password: String?

    /// Makes an identity.
    public init(certificate: PEM, key: PEM? = nil, password: String? = nil) {
        self.certificate = certificate
        self.key = key
        self.password = password
    }
}

extension ClientIdentity: CustomStringConvertible, CustomReflectable {
    /// Names the type alone: keys and passwords stay out of logs.
    public var description: String { "ClientIdentity" }
    /// Shows the description only, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension PEM: CustomStringConvertible, CustomReflectable {
    /// The file's path, or the number of bytes: never what they say.
    public var description: String {
        switch self {
        case .file(let url): "PEM file \(url.path)"
        case .data(let data): "PEM of \(data.count) bytes"
        }
    }
    /// Shows the description only, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension PEM {
    /// The bytes.
    ///
    /// - Throws: ``NetworkError/Code/insecureConnection`` when the file cannot be read or holds no PEM.
    func contents() throws(NetworkError) -> Data {
        let data: Data
        switch self {
        case .data(let bytes): data = bytes
        case .file(let url):
            do {
                data = try Data(contentsOf: url)
            } catch {
                throw NetworkError(
                    .insecureConnection, reason: "the file \(url.path.quotedForMessage) cannot be read",
                    underlying: error)
            }
        }
        guard data.range(of: Data("-----BEGIN ".utf8)) != nil else {
            throw NetworkError(.insecureConnection, reason: "\(description.quotedForMessage) holds no PEM text")
        }
        return data
    }
}
