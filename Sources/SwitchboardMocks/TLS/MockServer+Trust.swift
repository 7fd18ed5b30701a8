import Foundation
import Switchboard

extension MockServer {
    /// The certificate of the server's authority, in PEM form. Each server has a separate authority. Nil without TLS.
    public var authorityPEM: Data? { core.tls?.authorityPEM }

    /// A configuration for sessions that trust this server and the system's authorities. Without TLS, a default
    /// configuration.
    ///
    /// ```swift
    /// try await MockServer.run(tls: .init()) { server in
    ///     let session = DefaultSession.make(server.trustingConfiguration)
    /// }
    /// ```
    ///
    /// Use it with a ``/Switchboard/CurlSession``, the default on Linux. ``/Switchboard/FoundationSession`` throws
    /// ``/Switchboard/NetworkError/Code/unsupported``.
    public var trustingConfiguration: SessionConfiguration {
        var configuration = SessionConfiguration()
        if let authorityPEM { configuration.tls.extraAuthorities = [.data(authorityPEM)] }
        return configuration
    }

    /// A certificate and key that the server accepts with ``TLS/ClientCertificate/required``, otherwise nil.
    /// ``trustingConfiguration`` does not contain it.
    public var clientIdentity: ClientIdentity? { core.tls?.clientIdentity }

    /// Runs a server with TLS while `body` runs; see ``run(configuration:isolation:_:)``.
    public static func run<Output>(
        tls: TLS, isolation: isolated (any Actor)? = #isolation, _ body: (MockServer) async throws -> Output
    ) async throws -> Output {
        try await run(configuration: Configuration(tls: tls), isolation: isolation, body)
    }

    /// Runs a server with TLS and a handler while `body` runs; see ``run(configuration:isolation:handler:body:)``.
    public static func run<Output>(
        tls: TLS, isolation: isolated (any Actor)? = #isolation, handler: @escaping Handler,
        body: (MockServer) async throws -> Output
    ) async throws -> Output {
        try await run(configuration: Configuration(tls: tls), isolation: isolation, handler: handler, body: body)
    }
}
