import Foundation
import Switchboard

extension MockServer {
    /// The certificate of the authority to trust, in PEM form, made for this server alone. Nil without TLS.
    public var authorityPEM: Data? { core.tls?.authorityPEM }

    /// What to make a session with that trusts this server besides the system's authorities; without TLS a plain
    /// configuration.
    ///
    /// ```swift
    /// let session = DefaultSession.make(server.trustingConfiguration)
    /// ```
    ///
    /// It needs a ``/Switchboard/CurlSession``, the default on Linux: ``/Switchboard/FoundationSession`` throws
    /// ``/Switchboard/NetworkError/Code/unsupported``.
    public var trustingConfiguration: SessionConfiguration {
        var configuration = SessionConfiguration()
        if let authorityPEM { configuration.tls.extraAuthorities = [.data(authorityPEM)] }
        return configuration
    }

    /// A certificate and key that satisfy the server, where it asks for ``TLS/ClientCertificate/required``. Nil
    /// elsewhere. The ``trustingConfiguration`` does not show it.
    public var clientIdentity: ClientIdentity? { core.tls?.clientIdentity }

    /// Runs a server with TLS for as long as `body` runs; see ``run(configuration:isolation:_:)``.
    public static func run<Output>(
        tls: TLS, isolation: isolated (any Actor)? = #isolation, _ body: (MockServer) async throws -> Output
    ) async throws -> Output {
        try await run(configuration: Configuration(tls: tls), isolation: isolation, body)
    }

    /// Runs a server with TLS and a handler for as long as `body` runs; see
    /// ``run(configuration:isolation:handler:body:)``.
    public static func run<Output>(
        tls: TLS, isolation: isolated (any Actor)? = #isolation, handler: @escaping Handler,
        body: (MockServer) async throws -> Output
    ) async throws -> Output {
        try await run(configuration: Configuration(tls: tls), isolation: isolation, handler: handler, body: body)
    }
}
