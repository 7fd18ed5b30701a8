import Foundation

/// The servers that a session trusts over TLS, and the client's certificate.
public struct TLSOptions: Sendable, Hashable {
    /// Whether the system's authorities are trusted. Default true. With false, only ``extraAuthorities`` are trusted;
    /// without any, every request fails.
    public var trustsSystem = true
    /// Certificates of additional trusted authorities, such as those of a company or a test. Default none.
    public var extraAuthorities: [PEMSource] = []
    /// The certificate and key for a server that requests them. Default nil.
    public var clientIdentity: ClientIdentity?
    /// Hashes of public keys: `sha256/` and 44 characters of Base64 ([RFC 7469
    /// §2.4](https://www.rfc-editor.org/rfc/rfc7469#section-2.4)). If the list is not empty, the key of each server
    /// must be in it, for every host of the session. A pin in another format makes every connection fail. Default none.
    public var publicKeyPins: [String] = []
    /// The oldest version of TLS to accept. Default 1.2.
    public var minimumVersion = TLSVersion.tls12
    /// Whether any certificate is accepted. Anyone on the network path can then read and change all traffic, so use it
    /// only on a development machine. Creating such a session prints a warning on standard error. Default false.
    public var insecureTrustsEveryServer = false

    /// Creates options that trust the system's authorities and accept TLS 1.2 and later.
    public init() {}
}
