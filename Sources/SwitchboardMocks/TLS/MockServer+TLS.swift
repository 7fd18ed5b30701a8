import Foundation
import Switchboard

extension MockServer {
    /// TLS for a ``MockServer``, with a certificate that the server makes and signs itself when it starts.
    ///
    /// ```swift
    /// import SwitchboardTesting
    ///
    /// @Test(.enabled(if: MockServer.TLS.isAvailable))
    /// func pageOverTLS() async throws {
    ///     try await MockServer.run(tls: .init()) { server in
    ///         server.enqueue(.json(#"{"page":1}"#))
    ///         let session = DefaultSession.make(server.trustingConfiguration)
    ///         let router = Router<MovieApi>(session: session)
    ///         ...
    ///     }
    /// }
    /// ```
    ///
    /// The server supports HTTP/1.1 only, over TLS 1.2 and 1.3. It resumes no TLS session on a new connection, and
    /// answers plain HTTP with a 400. It needs the system's OpenSSL, 1.1.1 or 3, which it loads at run time: `libssl.so.3` on Linux. Apple's
    /// systems have none that a program may load.
    public struct TLS: Sendable, Hashable {
        /// The certificate's host names and addresses. A star matches one label. ``MockServer/url`` has the host
        /// 127.0.0.1, so clients refuse a certificate without that address.
        public var names: [String]

        /// Creates options. The default names are those of this machine.
        public init(names: [String] = ["localhost", "127.0.0.1", "::1"]) {
            self.names = names
        }

        /// Whether the system has a usable OpenSSL. Without one, a server with TLS does not start.
        public static var isAvailable: Bool {
            if case .success = OpenSSL.loaded { true } else { false }
        }
    }
}

extension MockServer {
    /// The server's certificate, in PEM form. It is its own authority, and different for each server. Nil without TLS.
    public var authorityPEM: Data? { core.tls?.certificatePEM }

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

    /// Runs a server with TLS while `body` runs; see ``run(configuration:isolation:_:)``.
    public static func run<Output>(
        tls: TLS, isolation: isolated (any Actor)? = #isolation, _ body: (MockServer) async throws -> Output
    ) async throws -> Output {
        try await run(configuration: Configuration(tls: tls), isolation: isolation, body)
    }
}
