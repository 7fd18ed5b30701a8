import SwitchboardText
import Foundation

extension SessionConfiguration {
    /// The servers that a session trusts over TLS, and the client's certificate.
    public struct TLS: Sendable, Hashable {
        /// Whether the system's authorities are trusted. Default true. With false, only ``extraAuthorities`` are
        /// trusted; without any, every request fails.
        public var trustsSystem = true
        /// Certificates of additional trusted authorities, such as those of a company or a test. Default none.
        public var extraAuthorities: [PEM] = []
        /// The certificate and key for a server that requests them. Default nil.
        public var clientIdentity: Identity?
        /// Hashes of public keys: `sha256/` and 44 characters of Base64 ([RFC 7469
        /// §2.4](https://www.rfc-editor.org/rfc/rfc7469#section-2.4)). If the list is not empty, the key of each server
        /// must be in it, for every host of the session. A pin in another format makes every connection fail. Default
        /// none.
        public var publicKeyPins: [String] = []
        /// The oldest version of TLS to accept. Default 1.2.
        public var minimumVersion = Version.tls12
        /// Whether any certificate is accepted. Anyone on the network path can then read and change all traffic, so use
        /// it only on a development machine. Creating such a session prints a warning on standard error. Default false.
        public var insecureTrustsEveryServer = false

        /// Creates options that trust the system's authorities and accept TLS 1.2 and later.
        public init() {}

        /// A version of TLS.
        public enum Version: Sendable, Hashable {
            /// TLS 1.0, deprecated by RFC 8996.
            case tls10
            /// TLS 1.1, deprecated by RFC 8996.
            case tls11
            /// TLS 1.2
            case tls12
            /// TLS 1.3
            case tls13
        }

        /// The certificate and key with which a client authenticates over TLS.
        public struct Identity: Sendable, Hashable {
            /// The certificate, followed by the chain to its authority if the server needs it.
            public var certificate: PEM
            /// The private key. Nil if ``certificate`` contains it.
            public var key: PEM?
            /// The password of an encrypted key. Nil for an unencrypted one.
            public var password: String?

            /// Creates an identity.
            public init(certificate: PEM, key: PEM? = nil, password: String? = nil) {
                self.certificate = certificate
                self.key = key
                self.password = password
            }
        }

        /// Certificates or a key in PEM format: one or more blocks between `-----BEGIN` and `-----END` lines.
        public enum PEM: Sendable, Hashable {
            /// A file that is read when a ``CurlSession`` is created.
            case file(URL)
            /// Text in memory.
            case data(Data)
        }
    }
}

extension SessionConfiguration.TLS.Identity: DumpedAsDescription {
    /// A fixed text. Keys and passwords stay out of logs.
    public var description: String { "client identity" }
}

extension SessionConfiguration.TLS.PEM: DumpedAsDescription {
    /// The file's path or the number of bytes, never the content.
    public var description: String {
        switch self {
        case .file(let url): "PEM file \(url.path)"
        case .data(let data): "PEM of \(data.count) bytes"
        }
    }
}

extension SessionConfiguration.TLS.PEM {
    func contents() throws(NetworkError) -> Data {
        let data: Data
        switch self {
        case .data(let bytes): data = bytes
        case .file(let url):
            do {
                data = try Data(contentsOf: url)
            } catch {
                throw NetworkError(
                    .insecureConnection,
                    reason: "the file \(url.path.quotedInFull) cannot be read: \(error.localizedDescription)",
                    underlying: error)
            }
        }
        guard data.range(of: Data("-----BEGIN ".utf8)) != nil else {
            throw NetworkError(.insecureConnection, reason: "\(description.quotedInFull) contains no PEM text")
        }
        return data
    }
}
