import Foundation

/// The certificate and key with which a client authenticates over TLS.
public struct ClientIdentity: Sendable, Hashable {
    /// The certificate, followed by the chain to its authority if the server needs it.
    public var certificate: PEMSource
    /// The private key. Nil if ``certificate`` contains it.
    public var key: PEMSource?
    /// The password of an encrypted key. Nil for an unencrypted one.
    public var password: String?

    /// Creates an identity.
    public init(certificate: PEMSource, key: PEMSource? = nil, password: String? = nil) {
        self.certificate = certificate
        self.key = key
        self.password = password
    }
}

extension ClientIdentity: CustomStringConvertible, CustomReflectable {
    /// The type's name. Keys and passwords stay out of logs.
    public var description: String { "ClientIdentity" }
    /// A mirror with only the description, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
