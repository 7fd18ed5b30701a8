import Foundation
import Switchboard

extension MockServer {
    /// TLS for a ``MockServer``, with a certificate that is made when it starts.
    ///
    /// ```swift
    /// @Test(.enabled(if: MockServer.TLS.isAvailable)) func pageOverTLS() async throws {
    ///     try await MockServer.run(tls: .init()) { server in
    ///         server.enqueue(.json(#"{"page":1}"#))
    ///         let session = DefaultSession.make(server.trustingConfiguration)
    ///         let router = Router<MovieApi>(session: session)
    ///         ...
    ///     }
    /// }
    /// ```
    ///
    /// It speaks HTTP/1.1 alone, remembers no session from one connection to the next, and answers a client that speaks
    /// plain HTTP with a 400. It needs the system's OpenSSL, 1.1.1 or 3, which is loaded at run time: `libssl.so.3` on
    /// Linux, Homebrew's `openssl@3` on macOS.
    public struct TLS: Sendable, Hashable {
        /// Host names and addresses that the certificate is for. A star stands for one label. ``MockServer/url`` asks
        /// for 127.0.0.1; without that among them a client refuses the certificate.
        public var names: [String]
        /// When the certificate is valid. Default now.
        public var validity: Validity
        /// Whether the authority in ``MockServer/authorityPEM`` has signed the certificate. With false it is another
        /// one, which nobody knows. Default true.
        public var isTrusted: Bool
        /// The oldest version to speak. Default 1.2. What is older works only where OpenSSL still has it.
        public var minimumVersion: TLSVersion
        /// The newest version to speak. Default 1.3.
        public var maximumVersion: TLSVersion
        /// Whether clients have to show a certificate. Default no.
        public var clientCertificate: ClientCertificate
        /// How the handshake goes, on every connection. Default as it should.
        public var handshake: Handshake

        /// Makes options for a certificate of `localhost`, `127.0.0.1` and `::1`, or of other names, with nothing wrong
        /// about it unless it is said here.
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

        /// Whether the system has an OpenSSL that can be used. Without one a server with TLS does not start.
        public static var isAvailable: Bool {
            if case .success = OpenSSL.loaded { true } else { false }
        }

        /// When a certificate is valid.
        public enum Validity: Sendable, Hashable {
            /// From yesterday on, for three weeks.
            case valid
            /// Until yesterday.
            case expired
            /// From tomorrow on.
            case notYetValid
        }

        /// Whether clients have to show a certificate.
        public enum ClientCertificate: Sendable, Hashable {
            /// They are not asked for one.
            case notAsked
            /// One of the server's own authority: ``MockServer/clientIdentity`` is one.
            case required
            /// One that these authorities have signed, in PEM form.
            case requiredOf(authorities: Data)
        }

        /// How the handshake goes. The faults come once the client has begun. From a ``/Switchboard/CurlSession`` each
        /// but the stall is ``/Switchboard/NetworkError/Code/insecureConnection``.
        public enum Handshake: Sendable, Hashable {
            /// As it should.
            case complete
            /// The connection is closed without an answer.
            case closes
            /// No answer, until the client leaves or the server stops: ``/Switchboard/NetworkError/Code/timedOut``.
            case stalls
            /// The connection is reset (a TCP RST) without an answer.
            case resets
            /// The answer is text, and no TLS.
            case garbage
        }
    }
}
