import Foundation
import Switchboard
import SwitchboardTesting
import Testing
import SwitchboardPlatform
import SwitchboardTestSupport
@testable import SwitchboardMocks

/// The raw bytes of a server with TLS, and its start and stop.
@Suite(.needsTLS, .timeLimit(.minutes(10)))
struct MockServerTLSLifecycleTests {
    private let get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
    /// The beginning of a handshake record of 512 bytes (RFC 8446 §5.1).
    private static let halfHello = Data([22, 3, 1, 2, 0, 1, 0, 1])

    @Test("plain HTTP is answered with a 400 that names TLS")
    func plainHTTP() async throws {
        try await MockServer.run(isSecure: true) { server in
            let (text, end) = try RawClient(port: server.port).send(get).readAll()
            #expect(text.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
            #expect(text.hasSuffix("MockServer: this port expects TLS; use an https URL\n"))
            #expect(end == .closed)
            #expect(server.requests.isEmpty)
        }
    }

    @Test("an invalid handshake is answered with an alert")
    func invalidHandshake() async throws {
        try await MockServer.run(isSecure: true) { server in
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

    @Test("a silent client does not delay others", .enabled(if: Curl.isInstalled))
    func silentClient() async throws {
        try await MockServer.run(isSecure: true) { server in
            let silent = try (0..<5).map { _ in try RawClient(port: server.port) }
            let half = try RawClient(port: server.port).send(Self.halfHello)
            server.enqueue(.text("served"))
            #expect(try await Curl.run("--insecure", "\(server.url)").text == "served")
            silent.forEach { $0.leave() }
            half.leave()
            for connection in 1...6 { try await server.waitForDisconnect(of: connection) }
        }
    }

    @Test("a server stops during a handshake", arguments: [Data(), halfHello])
    func stopInHandshake(sent: Data) async throws {
        let server = try MockServer(isSecure: true)
        let client = try RawClient(port: server.port).send(sent)
        while server.openConnections == 0 { await Task.yield() }
        server.stop()
        // On a busy machine, the threads may end later than `stop` waits for them.
        #expect(await comesTrue { server.openConnections == 0 })
        #expect(client.readAll().end != .silent)
    }

    @Test(
        "invalid names of a certificate are refused",
        arguments: [
            ["a,DNS:b"], [""], ["1.2.3"], ["a b"], ["ä.example"],
        ])
    func invalidNames(names: [String]) {
        let error = #expect(throws: NetworkError.self) { try MockServer(isSecure: true, certificateNames: names) }
        #expect(error?.code == .insecureConnection)
        #expect(error?.reason?.hasPrefix("MockServer: ") == true)
    }

    @Test("a server without TLS has no authority")
    func withoutTLS() async throws {
        try await MockServer.run { server in
            #expect(server.authorityPEM == nil)
            #expect(server.trustingConfiguration == SessionConfiguration())
            _ = try RawClient(port: server.port).send(get)
            let seen = try await server.takeRequest()
            #expect(!seen.isSecure)
            #expect(seen.url?.scheme == "http")
        }
    }
}

struct OpenSSLTests {
    @Test("the error of a missing library has its name")
    func missingLibrary() {
        let error = #expect(throws: DynamicLibrary.Failure.self) {
            try OpenSSL(firstOf: ["libno-such.so.3", "libnor.so"])
        }
        #expect(error?.text == "libno-such.so.3 was not found")
    }

    @Test("without the library, TLS is unsupported")
    func withoutLibrary() {
        let error = #expect(throws: NetworkError.self) { try OpenSSL.load(.failure(.init(text: "it is gone"))) }
        #expect(error?.code == .unsupported)
        #expect(error?.reason == "MockServer: TLS needs OpenSSL, and it is gone")
    }

    #if canImport(Glibc)
    @Test("a library without the functions is not used")
    func wrongLibrary() {
        let error = #expect(throws: DynamicLibrary.Failure.self) { try OpenSSL(firstOf: ["libm.so.6"]) }
        #expect(error?.text == "libm.so.6 has no EVP_PKEY_CTX_new_id")
    }
    #endif
}
