import Foundation
import Switchboard
import SwitchboardTesting
import Testing

/// The raw bytes of a server with TLS, and its start and stop.
@Suite(.needsTLS, .timeLimit(.minutes(3)))
struct MockServerTLSLifecycleTests {
    private let get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
    /// The beginning of a handshake record of 512 bytes (RFC 8446 §5.1).
    private static let halfHello = Data([22, 3, 1, 2, 0, 1, 0, 1])

    @Test func plainHTTPIsToldThatThisIsTLS() async throws {
        try await MockServer.run(tls: .init()) { server in
            let (text, end) = try RawClient(port: server.port).send(get).readAll()
            #expect(text.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
            #expect(text.hasSuffix("MockServer: this port speaks TLS; an http URL, perhaps?\n"))
            #expect(end == .closed)
            #expect(server.requests.isEmpty)
        }
    }

    @Test func nonsenseInTheHandshakeIsAnAlert() async throws {
        try await MockServer.run(tls: .init()) { server in
            let hello = Data([22, 3, 1, 0, 5, 255, 255, 255, 255, 255])
            let (text, end) = try RawClient(port: server.port).send(hello).readAll()
            #expect(text.utf8.first == 21)
            #expect(end == .closed)
            let error = await #expect(throws: NetworkError.self) {
                try await server.waitForDisconnect(of: 1, within: .milliseconds(50))
            }
            #expect(error?.code == .timedOut)
        }
    }

    @Test(.enabled(if: Curl.isInstalled)) func aClientThatSaysNothingKeepsNobodyWaiting() async throws {
        try await MockServer.run(tls: .init()) { server in
            let silent = try (0..<5).map { _ in try RawClient(port: server.port) }
            let half = try RawClient(port: server.port).send(Self.halfHello)
            server.enqueue(.text("served"))
            #expect(try await Curl.run("--insecure", "\(server.url)").text == "served")
            silent.forEach { $0.leave() }
            half.leave()
            for connection in 1...6 { try await server.waitForDisconnect(of: connection) }
        }
    }

    @Test(arguments: [MockServer.TLS.Handshake.complete, .stalls], [Data(), halfHello])
    func stoppingIsQuickAmidAHandshake(handshake: MockServer.TLS.Handshake, sent: Data) async throws {
        let server = try MockServer(configuration: .init(tls: .init(handshake: handshake)))
        let client = try RawClient(port: server.port).send(sent)
        while server.openConnections == 0 { await Task.yield() }
        let time = ContinuousClock().measure { server.stop() }
        #expect(time < .seconds(1))
        #expect(server.openConnections == 0)
        #expect(client.readAll().end != .silent)
    }

    @Test(arguments: [
        MockServer.TLS(names: ["a,DNS:b"]), .init(names: [""]), .init(names: ["1.2.3"]), .init(names: ["a b"]),
        .init(names: ["ä.example"]), .init(minimumVersion: .tls13, maximumVersion: .tls12),
        .init(clientCertificate: .requiredOf(authorities: Data("no PEM".utf8))),
    ])
    func optionsOfWhichNothingCanBeMadeAreRefused(tls: MockServer.TLS) {
        let error = #expect(throws: NetworkError.self) { try MockServer(configuration: .init(tls: tls)) }
        #expect(error?.code == .insecureConnection)
        #expect(error?.reason?.hasPrefix("MockServer: ") == true)
    }

    @Test func aServerWithoutTLSHasNothingToTrust() async throws {
        try await MockServer.run { server in
            #expect(server.authorityPEM == nil)
            #expect(server.clientIdentity == nil)
            #expect(server.trustingConfiguration == SessionConfiguration())
            _ = try RawClient(port: server.port).send(get)
            let seen = try await server.takeRequest()
            #expect(!seen.isSecure)
            #expect(seen.url?.scheme == "http")
        }
    }
}
