import Foundation

/// Whom a session trusts over TLS, and what it shows of itself.
public struct TLSOptions: Sendable, Hashable {
    /// Whether the system's authorities are trusted. Default true. False with ``extraAuthorities`` trusts those alone;
    /// false without any trusts nobody.
    public var trustsSystem = true
    /// Certificates of authorities that are trusted as well: of a company, or of a test. Default none.
    public var extraAuthorities: [PEMSource] = []
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
