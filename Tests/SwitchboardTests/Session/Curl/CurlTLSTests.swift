#if os(Linux)
import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Trust of a CurlSession in certificates of trustme, served by Python's ssl.
@Suite(.needsServers, .inTurn, .serialized, .timeLimit(.minutes(10)))
struct CurlTLSTests {
    /// A certificate that must be refused, with libcurl's result code and a few of its words.
    struct Refusal: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let code: Int
        let words: String

        init(_ kind: String, _ code: Int, _ words: String) {
            testDescription = kind
            self.code = code
            self.words = words
        }
    }

    /// 60 is `CURLE_PEER_FAILED_VERIFICATION`, 35 `CURLE_SSL_CONNECT_ERROR`.
    static let refusals = [
        Refusal("elsewhere", 60, "subject name"), Refusal("expired", 60, "expired"),
        Refusal("future", 60, "not yet valid"), Refusal("untrusted", 60, "issuer"),
        Refusal("self-signed", 60, "self"), Refusal("tls1.1", 35, "version"),
    ]

    @Test("an untrusted server is insecureConnection with libcurl's message", arguments: refusals)
    func refused(refusal: Refusal) async throws {
        let session = CurlSession(configuration: try .trusting())
        let url = try Servers.tls(refusal.testDescription)
        let error = try await session.failure(url)
        #expect(error.code == .insecureConnection)
        #expect(error.statusCode == nil)
        let underlying = try #require(error.underlying as? CurlError)
        #expect(underlying.code == refusal.code)
        #expect(underlying.message.contains(refusal.words), "\(underlying)")
        #expect(error.reason?.contains(refusal.words) == true)
        #expect(error.reason?.contains("certificate") == (refusal.code == 60))
        #expect(error.description.contains("GET \(url.absoluteString)"))
    }

    @Test("insecureTrustsEveryServer accepts them all", arguments: refusals.map(\.testDescription).dropLast())
    func trustingEveryServer(kind: String) async throws {
        var configuration = SessionConfiguration()
        configuration.tls.trustsSystem = false
        configuration.tls.insecureTrustsEveryServer = true
        let session = CurlSession(configuration: configuration)
        #expect(try await session.seen(Servers.tls(kind)).tls == "TLSv1.3")
    }

    #if compiler(>=6.2)
    @Test("a session that trusts every server warns once on standard error")
    func warning() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            _ = CurlSession()
            var configuration = SessionConfiguration()
            configuration.tls.insecureTrustsEveryServer = true
            _ = CurlSession(configuration: configuration)
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("Switchboard:") }
        #expect(lines.count == 1)
        #expect(lines.first?.contains("insecureTrustsEveryServer") == true)
    }
    #endif

    // MARK: Authorities

    @Test("an authority of one's own is trusted as a file, as data or in a list")
    func extraAuthority() async throws {
        let (file, other) = (try Servers.file("authority.pem"), try Servers.file("other-authority.pem"))
        let (pem, otherPEM) = (try Data(contentsOf: file), try Data(contentsOf: other))
        let withWindowsLines = String(decoding: pem, as: UTF8.self).replacingOccurrences(of: "\n", with: "\r\n")
        let authorities: [[SessionConfiguration.TLS.PEM]] = [
            [.file(file)], [.data(pem)], [.file(other), .file(file)], [.data(pem), .data(otherPEM)],
            [.data(otherPEM + pem)], [.data(pem.dropLast()), .data(otherPEM)], [.data(Data(withWindowsLines.utf8))],
            [.data(Data("Made by trustme\n".utf8) + pem)],
        ]
        for trustsSystem in [true, false] {
            for (index, authorities) in authorities.enumerated() {
                var configuration = SessionConfiguration()
                configuration.tls.trustsSystem = trustsSystem
                configuration.tls.extraAuthorities = authorities
                let session = CurlSession(configuration: configuration)
                for host in ["127.0.0.1", "localhost"] {
                    let seen = try await session.seen(Servers.tls("good", host: host))
                    #expect(seen.tls == "TLSv1.3", "\(index)")
                }
            }
        }
    }

    @Test("a chain up to the authority is followed")
    func chain() async throws {
        let session = CurlSession(configuration: try .trusting())
        #expect(try await session.seen(Servers.tls("chain")).tls == "TLSv1.3")
    }

    @Test("trust in an authority does not extend to other sessions")
    func trustIsTheSessionsOwn() async throws {
        let url = try Servers.tls("good")
        _ = try await CurlSession(configuration: .trusting()).seen(url)
        var other = SessionConfiguration()
        other.tls.trustsSystem = false
        other.tls.extraAuthorities = [.file(try Servers.file("other-authority.pem"))]
        for configuration in [SessionConfiguration(), other] {
            #expect(try await CurlSession(configuration: configuration).failure(url).code == .insecureConnection)
        }
    }

    @Test("trusting no authority at all is insecureConnection before sending")
    func trustingNobody() async throws {
        try await MockServer.run { server in
            var configuration = SessionConfiguration()
            configuration.tls.trustsSystem = false
            let url = try Servers.url("https", "127.0.0.1", server.port)
            let error = try await CurlSession(configuration: configuration).failure(url)
            #expect(error.code == .insecureConnection)
            #expect(error.reason?.contains("trust no authority") == true)
            #expect(server.connectionCount == 0)
        }
    }

    // MARK: Versions

    @Test(
        "a minimum version refuses only older versions",
        arguments: [
            (SessionConfiguration.TLS.Version.tls13, "tls1.2", nil), (.tls13, "tls1.3", "TLSv1.3"),
            (.tls12, "tls1.2", "TLSv1.2"),
            (.tls12, "tls1.1", nil), (.tls11, "tls1.2", "TLSv1.2"), (.tls10, "good", "TLSv1.3"),
        ])
    func minimumVersion(minimum: SessionConfiguration.TLS.Version, kind: String, version: String?) async throws {
        var configuration = try SessionConfiguration.trusting()
        configuration.tls.minimumVersion = minimum
        let session = CurlSession(configuration: configuration)
        let url = try Servers.tls(kind)
        if let version {
            #expect(try await session.seen(url).tls == version)
        } else {
            #expect(try await session.failure(url).code == .insecureConnection)
        }
    }

    @Test("https to plain HTTP is insecureConnection, http to TLS an error too")
    func wrongScheme() async throws {
        try await MockServer.run { server in
            let url = try Servers.url("https", "127.0.0.1", server.port)
            #expect(try await CurlSession().failure(url).code == .insecureConnection)
        }
        let url = try Servers.url("http", "127.0.0.1", Servers.directory().tls["good"])
        let error = try await CurlSession().failure(url)
        #expect([.connectionLost, .invalidResponse].contains(error.code), "\(error)")
    }

    // MARK: Client certificates

    static func identity(
        _ certificate: String, _ key: String? = nil, password: String? = nil
    ) throws -> SessionConfiguration {
        var configuration = try SessionConfiguration.trusting()
        configuration.tls.clientIdentity = .init(
            certificate: .file(try Servers.file(certificate)), key: try key.map { .file(try Servers.file($0)) },
            password: password)
        return configuration
    }

    @Test(
        "a client certificate is shown with its key in any form and its chain",
        arguments: ["client", "client-tls1.2"])
    func clientCertificate(kind: String) async throws {
        let password = try Servers.directory().keyPassword
        let configurations = [
            (try Self.identity("client.pem", "client.key"), "client"),
            (try Self.identity("client-and-key.pem"), "client"),
            (try Self.identity("client.pem", "client-locked.key", password: password), "client"),
            (try Self.identity("client-below.pem", "client-below.key"), "client below"),
        ]
        for (configuration, name) in configurations {
            let session = CurlSession(configuration: configuration)
            #expect(try await session.seen(Servers.tls(kind)).client == name)
        }
        var inMemory = try Self.identity("client.pem")
        inMemory.tls.clientIdentity = .init(
            certificate: .data(try Data(contentsOf: Servers.file("client.pem"))),
            key: .data(try Data(contentsOf: Servers.file("client.key"))))
        #expect(try await CurlSession(configuration: inMemory).seen(Servers.tls(kind)).client == "client")
    }

    @Test(
        "no client certificate, or one of a stranger, is insecureConnection",
        arguments: ["client", "client-tls1.2"])
    func refusedClient(kind: String) async throws {
        let configurations = [try SessionConfiguration.trusting(), try Self.identity("stranger.pem", "stranger.key")]
        for configuration in configurations {
            let error = try await CurlSession(configuration: configuration).failure(Servers.tls(kind))
            #expect(error.code == .insecureConnection, "\(error)")
            #expect(error.underlying is CurlError)
        }
    }

    @Test("a server that does not ask receives no client certificate")
    func unaskedClientCertificate() async throws {
        let session = CurlSession(configuration: try Self.identity("client.pem", "client.key"))
        #expect(try await session.seen(Servers.tls("good")).client == nil)
    }

    @Test("an encrypted key without its right password is insecureConnection")
    func wrongKeyPassword() async throws {
        for password in [nil, "", "wrong-and-secret"] {
            let configuration = try Self.identity("client.pem", "client-locked.key", password: password)
            let error = try await CurlSession(configuration: configuration).failure(Servers.tls("client"))
            #expect(error.code == .insecureConnection)
            #expect(error.reason?.contains("key") == true, "\(error)")
            #expect(!"\(error)".contains("wrong-and-secret"))
        }
    }

    @Test("the key of another certificate is insecureConnection")
    func keyOfAnother() async throws {
        let session = CurlSession(configuration: try Self.identity("client.pem", "stranger.key"))
        #expect(try await session.failure(Servers.tls("client")).code == .insecureConnection)
    }

    // MARK: Pins

    @Test("a server with one of the pinned keys is accepted, others are refused")
    func pins() async throws {
        let pins = try Servers.directory().pins
        let (right, wrong) = (try #require(pins["good"]), try #require(pins["second"]))
        let url = try Servers.tls("good")
        for accepted in [[right], [wrong, right], [right, wrong]] {
            var configuration = try SessionConfiguration.trusting()
            configuration.tls.publicKeyPins = accepted
            #expect(try await CurlSession(configuration: configuration).seen(url).tls == "TLSv1.3")
        }
        var configuration = try SessionConfiguration.trusting()
        configuration.tls.publicKeyPins = [wrong]
        let error = try await CurlSession(configuration: configuration).failure(url)
        #expect(error.code == .insecureConnection)
        #expect((error.underlying as? CurlError)?.code == 90)  // CURLE_SSL_PINNEDPUBKEYNOTMATCH
        #expect(error.reason?.contains("public key") == true)
    }

    @Test("a pin replaces no trust, and trusting every server replaces no pin")
    func pinsAndTrust() async throws {
        let pins = try Servers.directory().pins
        var untrusting = SessionConfiguration()
        untrusting.tls.publicKeyPins = [try #require(pins["untrusted"])]
        let url = try Servers.tls("untrusted")
        #expect(try await CurlSession(configuration: untrusting).failure(url).code == .insecureConnection)
        untrusting.tls.insecureTrustsEveryServer = true
        #expect(try await CurlSession(configuration: untrusting).seen(url).tls == "TLSv1.3")
        untrusting.tls.publicKeyPins = [try #require(pins["good"])]
        #expect(try await CurlSession(configuration: untrusting).failure(url).code == .insecureConnection)
    }

    static let hash = String(repeating: "A", count: 43) + "="

    @Test(
        "a malformed pin refuses every connection and is named",
        arguments: [
            "sha1/\(hash)", "sha256//\(hash)", "sha256/AAAA", "sha256/\(hash)A", hash, "sha256/", "", "sha256/é",
        ])
    func malformedPin(pin: String) async throws {
        try await MockServer.run { server in
            var configuration = SessionConfiguration()
            configuration.tls.publicKeyPins = ["sha256/\(Self.hash)", pin]
            let session = CurlSession(configuration: configuration)
            for url in [try Servers.tls("good"), server.url] {
                let error = try await session.failure(url)
                #expect(error.code == .insecureConnection)
                #expect(error.reason?.contains("pin") == true)
                if !pin.isEmpty, pin.allSatisfy(\.isASCII) { #expect(error.reason?.contains(pin) == true) }
            }
            #expect(server.connectionCount == 0)
        }
    }

    // MARK: Unreadable files

    @Test("an unusable PEM source fails with insecureConnection")
    func unreadable() async throws {
        let missing = try Servers.file("no such file.pem")
        let noPEM = try Servers.file("servers.json")
        let garbage = "-----BEGIN CERTIFICATE-----\nbm8gY2VydGlmaWNhdGU=\n-----END CERTIFICATE-----\n"
        let authorities: [(SessionConfiguration.TLS.PEM, String)] = [
            (.file(missing), "no such file.pem"), (.file(noPEM), "servers.json"),
            (.file(try #require(Servers.folder)), try #require(Servers.folder).lastPathComponent),
            (.data(Data("nonsense".utf8)), "8 bytes"), (.data(Data()), "0 bytes"),
            (.data(Data(garbage.utf8)), ""), (.file(try Servers.file("good.key")), ""),
        ]
        for (authority, words) in authorities {
            var configuration = SessionConfiguration()
            configuration.tls.trustsSystem = false
            configuration.tls.extraAuthorities = [authority]
            let error = try await CurlSession(configuration: configuration).failure(Servers.tls("good"))
            #expect(error.code == .insecureConnection, "\(authority)")
            #expect(error.reason?.contains(words) == true || words.isEmpty, "\(error)")
        }
        let identities: [(SessionConfiguration.TLS.PEM, SessionConfiguration.TLS.PEM?, String)] = [
            (.file(missing), nil, "no such file.pem"),
            (.file(try Servers.file("client.pem")), .file(missing), "no such file.pem"),
            (.file(noPEM), nil, "servers.json"), (.data(Data(garbage.utf8)), nil, ""),
            (.file(try Servers.file("client.pem")), nil, ""), (.file(try Servers.file("client.key")), nil, ""),
        ]
        for (certificate, key, words) in identities {
            var configuration = try SessionConfiguration.trusting()
            configuration.tls.clientIdentity = .init(certificate: certificate, key: key)
            let error = try await CurlSession(configuration: configuration).failure(Servers.tls("good"))
            #expect(error.code == .insecureConnection, "\(certificate)")
            #expect(error.reason?.contains(words) == true || words.isEmpty, "\(error)")
        }
    }

    // MARK: Metrics and secrets

    @Test("metrics have the duration of TLS for new connections only")
    func metrics() async throws {
        let session = CurlSession(configuration: try .trusting())
        let url = try Servers.tls("good")
        let first = try await session.send(NetworkRequest(.get, url)).metrics
        #expect(try #require(first.secureConnect) > .zero)
        #expect(first.isReusedConnection == false)
        let second = try await session.send(NetworkRequest(.get, url)).metrics
        #expect(second.secureConnect == .zero)
        #expect(second.isReusedConnection == true)
    }

    @Test("no text of a configuration shows a key, its password or a proxy's")
    func secrets() throws {
        var configuration = SessionConfiguration()
        configuration.proxy = .http("proxy.example.test", port: 8080, user: "planted-user", password: "planted-word")
        configuration.tls.extraAuthorities = [.data(Data("planted-authority".utf8))]
        configuration.tls.clientIdentity = .init(
            certificate: .data(Data("planted-certificate".utf8)), key: .data(Data("planted-key".utf8)),
            password: "planted-password")
        var texts = ["\(configuration)", String(reflecting: configuration), "\(configuration.tls)"]
        var dumped = ""
        dump(configuration, to: &dumped)
        dump(configuration.tls.clientIdentity, to: &dumped)
        texts += [dumped, "\(configuration.proxy)", String(reflecting: configuration.proxy)]
        for text in texts { #expect(!text.contains("planted"), "\(text)") }
        #expect(texts[0].contains("proxy.example.test"))
    }
}
#endif
