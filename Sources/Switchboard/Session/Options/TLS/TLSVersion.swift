import Foundation

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
