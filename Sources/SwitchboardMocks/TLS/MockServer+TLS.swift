import Foundation
import Switchboard

extension MockServer {
    /// Whether the system has a usable OpenSSL. Without one, a secure server does not start.
    public static var supportsTLS: Bool {
        if case .success = OpenSSL.loaded { true } else { false }
    }

    /// The server's certificate, in PEM form. It is its own authority, and different for each server. Nil without TLS.
    public var authorityPEM: Data? { core.tls?.certificatePEM }

    /// A configuration for sessions that trust this server and the system's authorities. Without TLS, a default
    /// configuration. ``MockServer`` has an example.
    ///
    /// Use it with a ``/Switchboard/CurlSession``, the default on Linux. ``/Switchboard/FoundationSession`` throws
    /// ``/Switchboard/NetworkError/Code/unsupported``.
    public var trustingConfiguration: SessionConfiguration {
        var configuration = SessionConfiguration()
        if let authorityPEM { configuration.tls.extraAuthorities = [.data(authorityPEM)] }
        return configuration
    }
}
