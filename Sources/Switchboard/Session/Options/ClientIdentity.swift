import Foundation

/// What a client shows of itself over TLS.
public struct ClientIdentity: Sendable, Hashable {
    /// The certificate, with the chain up to its authority when the server needs it.
    public var certificate: PEMSource
    /// The private key; nil when it stands with the certificate.
    public var key: PEMSource?
    /// What the key is encrypted with; nil when it is not.
    public var password: String?

    /// Makes an identity.
    public init(certificate: PEMSource, key: PEMSource? = nil, password: String? = nil) {
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
