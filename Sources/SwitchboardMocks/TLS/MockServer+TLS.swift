import Foundation
import Switchboard

extension MockServer {
    /// TLS for a ``MockServer``, with a certificate created when the server starts.
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
    /// The server supports HTTP/1.1 only, resumes no TLS session on a new connection, and answers plain HTTP with a
    /// 400. It needs the system's OpenSSL, 1.1.1 or 3, which it loads at run time: `libssl.so.3` on Linux. Apple's
    /// systems have none that a program may load.
    public struct TLS: Sendable, Hashable {
        /// The certificate's host names and addresses. A star matches one label. ``MockServer/url`` has the host
        /// 127.0.0.1, so clients refuse a certificate without that address.
        public var names: [String]
        /// The certificate's time of validity. Default ``Validity/valid``.
        public var validity: Validity
        /// Whether the authority in ``MockServer/authorityPEM`` signed the certificate. If false, an unknown authority
        /// signed it. Default true.
        public var isTrusted: Bool
        /// The oldest TLS version. Default 1.2. Older versions work only if the system's OpenSSL supports them.
        public var minimumVersion: TLSVersion
        /// The newest TLS version. Default 1.3.
        public var maximumVersion: TLSVersion
        /// The client certificate that the server requires. Default none.
        public var clientCertificate: ClientCertificate
        /// The course of every handshake. Default ``Handshake/complete``.
        public var handshake: Handshake

        /// Creates options for a valid certificate of `localhost`, `127.0.0.1` and `::1`. Each parameter changes one
        /// aspect.
        public init(
            names: [String] = ["localhost", "127.0.0.1", "::1"], validity: Validity = .valid, isTrusted: Bool = true,
            minimumVersion: TLSVersion = .tls12, maximumVersion: TLSVersion = .tls13,
            clientCertificate: ClientCertificate = .notAsked, handshake: Handshake = .complete
        ) {
            self.names = names
            self.validity = validity
            self.isTrusted = isTrusted
            self.minimumVersion = minimumVersion
            self.maximumVersion = maximumVersion
            self.clientCertificate = clientCertificate
            self.handshake = handshake
        }

        /// Whether the system has a usable OpenSSL. Without one, a server with TLS does not start.
        public static var isAvailable: Bool {
            if case .success = OpenSSL.loaded { true } else { false }
        }

        /// The time in which a certificate is valid.
        public enum Validity: Sendable, Hashable {
            /// From yesterday, for three weeks.
            case valid
            /// Until yesterday.
            case expired
            /// From tomorrow.
            case notYetValid
        }

        /// The client certificate that a server requires.
        public enum ClientCertificate: Sendable, Hashable {
            /// The server requests no certificate.
            case notAsked
            /// A certificate from the server's authority, such as ``MockServer/clientIdentity``.
            case required
            /// A certificate signed by one of these authorities, in PEM form.
            case requiredOf(authorities: Data)
        }

        /// The course of a handshake. Each fault comes after the client's first message. A ``/Switchboard/CurlSession``
        /// throws ``/Switchboard/NetworkError/Code/insecureConnection`` for all of them except the stall.
        public enum Handshake: Sendable, Hashable {
            /// A complete handshake.
            case complete
            /// The server closes the connection without an answer.
            case closes
            /// The server stays silent until the client leaves or the server stops. The client throws
            /// ``/Switchboard/NetworkError/Code/timedOut``.
            case stalls
            /// The server resets the connection (a TCP RST) without an answer.
            case resets
            /// The server answers with text instead of TLS.
            case garbage
        }
    }
}

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
