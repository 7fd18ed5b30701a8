#if os(Linux)
import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Routes of a CurlSession to a server: unix sockets, addresses and address families.
@Suite(.inTurn, .serialized, .timeLimit(.minutes(10)))
struct CurlRoutingTests {
    static func session(_ change: (inout SessionConfiguration) throws -> Void) throws -> CurlSession {
        var configuration = SessionConfiguration()
        configuration.proxy = .none
        try change(&configuration)
        return CurlSession(configuration: configuration)
    }

    @Test("any number of connections is accepted", arguments: [-1, 0, 1, Int.max])
    func connections(count: Int) async throws {
        try await MockServer.run(handler: { _ in .text("ok") }) { server in
            for total in [nil, count] {
                let session = try Self.session {
                    $0.maximumConnectionsPerHost = count
                    $0.maximumConnections = total
                }
                #expect(try await session.text(server.url) == "ok")
            }
        }
    }

    // libcurl accepts texts of 8,000,000 bytes.
    @Test("a URL that libcurl refuses is an error, not another URL")
    func longURL() async throws {
        try await MockServer.run(handler: { _ in .text("ok") }) { server in
            let session = try Self.session { _ in }
            let url = try #require(
                URL(string: server.url.absoluteString + "?" + String(repeating: "a", count: 8_000_001)))
            let error = try await session.failure(url)
            #expect(error.code == .invalidRequest)
            #expect(server.requests.isEmpty)
            #expect(try await session.text(server.url) == "ok")
        }
    }

    // MARK: Unix-domain sockets

    @Test("a unix-domain socket is connected to, and Host is the URL's host", .needsServers)
    func unixSocket() async throws {
        let path = try #require(try Servers.directory().unixSockets["plain"])
        let session = try Self.session { $0.unixSocketPath = path }
        for name in ["name.invalid", "other.invalid:81"] {
            let seen = try await session.seen(URL(string: "http://\(name)/path?a=b") ?? URL(text: "about:blank"))
            #expect(seen.host == name)
            #expect(seen.line == "GET /path?a=b HTTP/1.1")
        }
    }

    @Test("TLS over a unix-domain socket verifies the URL's host", .needsServers)
    func unixSocketWithTLS() async throws {
        let path = try #require(try Servers.directory().unixSockets["tls"])
        var configuration = try SessionConfiguration.trusting()
        configuration.unixSocketPath = path
        let session = CurlSession(configuration: configuration)
        let seen = try await session.seen(URL(text: "https://api.example.test/"))
        #expect(seen.tls == "TLSv1.3")
        #expect(seen.host == "api.example.test")
        #expect(try await session.failure(URL(text: "https://other.example.test/")).code == .insecureConnection)
    }

    @Test("a missing, wrong or too long unix-domain socket is cannotConnect")
    func missingUnixSocket() async throws {
        let long = "/tmp/" + String(repeating: "a", count: 200)
        for path in ["/tmp/no-such-socket-\(UUID().uuidString)", "/etc/hosts", long] {
            let session = try Self.session { $0.unixSocketPath = path }
            let error = try await session.failure(URL(text: "http://localhost/"))
            #expect(error.code == .cannotConnect, "\(path): \(error)")
            let isNamed = error.reason == "nothing accepts connections at the Unix socket \(path), or it resets them"
            #expect(isNamed || path == long, "\(error)")
        }
    }

    // MARK: Addresses instead of the resolver's

    @Test("a name is looked up in the session's addresses and stays the Host")
    func resolve() async throws {
        try await MockServer.run(handler: { _ in .text("found") }) { server in
            let session = try Self.session { $0.resolve = ["api.invalid:\(server.port)": ["127.0.0.1"]] }
            let url = try Servers.url("http", "api.invalid", server.port)
            let response = try await session.send(NetworkRequest(.get, url))
            #expect(response.text == "found")
            #expect(response.metrics.remoteAddress == "127.0.0.1:\(server.port)")
            #expect(server.requests.first?.headers["Host"] == "api.invalid:\(server.port)")
            let otherPort = URL(text: "http://api.invalid:9/")
            #expect(try await session.failure(otherPort).code == .cannotFindHost)
            let otherName = try Servers.url("http", "www.invalid", server.port)
            #expect(try await session.failure(otherName).code == .cannotFindHost)
        }
    }

    @Test("of several addresses one that answers is found")
    func severalAddresses() async throws {
        try await MockServer.run(handler: { _ in .text("found") }) { server in
            for addresses in [["127.0.0.9", "127.0.0.1"], ["::1", "127.0.0.1"], ["[::1]", "127.0.0.1"]] {
                let session = try Self.session { $0.resolve = ["api.invalid:\(server.port)": addresses] }
                let url = try Servers.url("http", "api.invalid", server.port)
                #expect(try await session.text(url) == "found")
            }
        }
    }

    // libcurl gives the first address half of its limit for connecting.
    @Test(
        "of several addresses one that never answers is left within the timeout",
        arguments: [
            Timeouts(idle: .seconds(6)), Timeouts(idle: nil, attempt: .seconds(6)), Timeouts(connect: .seconds(6)),
        ])
    func deadAddress(timeouts: Timeouts) async throws {
        try await MockServer.run(handler: { _ in .text("found") }) { server in
            let queue = try FullQueue(on: "127.0.0.2", port: server.port)
            let session = try Self.session {
                $0.resolve = ["api.invalid:\(server.port)": ["127.0.0.2", "127.0.0.1"]]
            }
            var request = NetworkRequest(.get, try Servers.url("http", "api.invalid", queue.port))
            request.timeouts = timeouts
            let response = try await session.send(request)
            #expect(response.text == "found")
        }
    }

    @Test("two sessions keep their addresses apart")
    func addressesAreTheSessionsOwn() async throws {
        try await MockServer.run(handler: { _ in .text("found") }) { server in
            let url = try Servers.url("http", "api.invalid", server.port)
            let knowing = try Self.session { $0.resolve = ["api.invalid:\(server.port)": ["127.0.0.1"]] }
            #expect(try await knowing.text(url) == "found")
            #expect(try await Self.session { _ in }.failure(url).code == Servers.unknownHostCode)
        }
    }

    @Test(
        "an invalid address or name is an error that quotes it",
        arguments: [
            ("localhost:80", "nonsense"), ("localhost:80", ""), ("localhost:80", "127.0.0.1:80"), ("localhost", "::1"),
            ("", "::1"), ("bücher.example:80", "127.0.0.1"),
        ])
    func badAddress(name: String, address: String) async throws {
        try await MockServer.run { server in
            let session = try Self.session { $0.resolve = [name: [address]] }
            let error = try await session.failure(server.url)
            #expect(error.code == .invalidRequest)
            #expect(error.reason?.contains("\(name):\(address)") == true, "\(error)")
            #expect(server.connectionCount == 0)
        }
    }

    // MARK: Families and literals

    @Test("a literal IPv6 address in a URL works, in brackets in Host", .needsServers, .needsIPv6)
    func literalIPv6() async throws {
        let port = try #require(try Servers.directory().bothFamilies)
        let url = try Servers.url("http", "[::1]", port)
        let session = try Self.session { _ in }
        let seen = try await session.seen(url)
        #expect(seen.peer == "::1")
        #expect(seen.host == "[::1]:\(port)")
        let metrics = try await session.send(NetworkRequest(.get, url)).metrics
        #expect(metrics.remoteAddress == "[::1]:\(port)")
    }

    @Test(
        "of a host with addresses of both families the chosen one is used", .needsServers, .needsIPv6,
        arguments: [(SessionConfiguration.AddressFamily.ipv4, "127.0.0.1"), (.ipv6, "::1")])
    func family(family: SessionConfiguration.AddressFamily, peer: String) async throws {
        let port = try #require(try Servers.directory().bothFamilies)
        for addresses in [["127.0.0.1", "::1"], ["::1", "127.0.0.1"]] {
            let session = try Self.session {
                $0.addressFamily = family
                $0.resolve = ["both.invalid:\(port)": addresses]
            }
            #expect(try await session.seen(Servers.url("http", "both.invalid", port)).peer == peer)
        }
    }

    @Test(
        "a literal address of the other family fails before sending", .needsServers, .needsIPv6,
        arguments: [(SessionConfiguration.AddressFamily.ipv4, "[::1]"), (.ipv6, "127.0.0.1")])
    func otherFamily(family: SessionConfiguration.AddressFamily, host: String) async throws {
        let port = try #require(try Servers.directory().bothFamilies)
        let session = try Self.session { $0.addressFamily = family }
        let error = try await session.failure(Servers.url("http", host, port))
        #expect(error.code.isKind(of: .cannotConnect), "\(error)")
    }

    // MARK: The local address

    @Test("a local address is what the server sees", .needsServers, arguments: ["127.0.0.1", "127.0.0.7"])
    func localAddress(address: String) async throws {
        let port = try Servers.directory().plain
        let session = try Self.session { $0.localAddress = address }
        #expect(try await session.seen(Servers.url("http", "127.0.0.1", port)).peer == address)
    }

    @Test(
        "an unavailable or invalid local address is cannotConnect",
        arguments: ["192.0.2.1", "nonsense", ""])  // RFC 5737
    func badLocalAddress(address: String) async throws {
        try await MockServer.run { server in
            let session = try Self.session { $0.localAddress = address }
            let error = try await session.failure(server.url)
            #expect(error.code == .cannotConnect, "\(error)")
            #expect(server.connectionCount == 0)
        }
    }
}
#endif
