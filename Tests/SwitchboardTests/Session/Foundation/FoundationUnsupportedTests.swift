import Foundation
import Switchboard
import SwitchboardTesting
import Testing

/// FoundationSession throws a typed `unsupported` error for options that it lacks, and never ignores them.
@Suite(.timeLimit(.minutes(10)))
struct FoundationUnsupportedTests {
    struct Option: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let words: String
        let change: @Sendable (inout SessionConfiguration) -> Void

        init(_ name: String, says words: String, _ change: @escaping @Sendable (inout SessionConfiguration) -> Void) {
            testDescription = name
            self.words = words
            self.change = change
        }
    }

    static let pem = SessionConfiguration.TLS.PEM.data(Data("-----BEGIN CERTIFICATE-----".utf8))
    static let options = [
        Option("extra authorities", says: "TLS") { $0.tls.extraAuthorities = [pem] },
        Option("not the system's authorities", says: "TLS") { $0.tls.trustsSystem = false },
        Option("client identity", says: "TLS") { $0.tls.clientIdentity = .init(certificate: pem) },
        Option("pins", says: "TLS") { $0.tls.publicKeyPins = ["sha256/AAAA"] },
        Option("TLS 1.0", says: "TLS") { $0.tls.minimumVersion = .tls10 },
        Option("TLS 1.3", says: "TLS") { $0.tls.minimumVersion = .tls13 },
        Option("trusting every server", says: "TLS") { $0.tls.insecureTrustsEveryServer = true },
        Option("no proxy", says: "no proxy") { $0.proxy = .none },
        Option("HTTP proxy", says: "http://p.example:1") { $0.proxy = .http("p.example", port: 1, password: "hush") },
        Option("HTTPS proxy", says: "https://p.example:1") { $0.proxy = .https("p.example", port: 1) },
        Option("SOCKS proxy", says: "p.example:1") { $0.proxy = .socks5("p.example", port: 1) },
        Option("bypass of the system's proxy", says: "proxy") { $0.proxy.bypass = ["localhost"] },
        Option("HTTP/1.1 alone", says: "HTTP version") { $0.httpVersion = .http1 },
        Option("HTTP/2 alone", says: "HTTP version") { $0.httpVersion = .http2PriorKnowledge },
        Option("unix-domain socket", says: "unix-domain socket") { $0.unixSocketPath = "/tmp/socket" },
        Option("resolve", says: "resolver") { $0.resolve = ["a.example:80": ["127.0.0.1"]] },
        Option("local address", says: "local address") { $0.localAddress = "127.0.0.1" },
        Option("IPv4 alone", says: "IPv4") { $0.addressFamily = .ipv4 },
        Option("IPv6 alone", says: "IPv6") { $0.addressFamily = .ipv6 },
        Option("total of connections", says: "all connections") { $0.maximumConnections = 9 },
    ]

    @Test("an unsupported option of FoundationSession is named before sending", arguments: options)
    func unsupported(option: Option) async throws {
        try await MockServer.run { server in
            var configuration = SessionConfiguration()
            option.change(&configuration)
            let error = try await FoundationSession(configuration: configuration).failure(server.url)
            #expect(error.code == .unsupported)
            #expect(error.description.contains("FoundationSession"))
            #expect(error.description.contains(option.words), "\(error)")
            #expect(!error.description.contains("hush"))
            #expect(error.description.contains("GET \(server.url)"))
            #expect(server.connectionCount == 0)
        }
    }

    @Test("a connect timeout is unsupported")
    func unsupportedOfARequest() async throws {
        try await MockServer.run { server in
            var timed = NetworkRequest(.get, server.url)
            timed.timeouts.connect = .seconds(1)
            let error = await #expect(throws: NetworkError.self) { try await FoundationSession().send(timed) }
            #expect(error?.code == .unsupported)
            #expect(server.connectionCount == 0)
        }
    }

    @Test("the default configuration and any connections per host are supported")
    func supported() async throws {
        try await MockServer.run { server in
            for count in [-1, 0, 1, 100, .max] {
                server.enqueue(.text("ok"))
                let configuration = SessionConfiguration(maximumConnectionsPerHost: count)
                let session = FoundationSession(configuration: configuration)
                let text = try await session.text(server.url)
                #expect(text == "ok")
            }
        }
    }
}
