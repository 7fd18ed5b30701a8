#if os(Linux)
import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Requests of the default session to a server with TLS.
@Suite(.needsTLS, .timeLimit(.minutes(10)))
struct MockServerTLSSessionTests {
    @Test("a request is answered over TLS")
    func request() async throws {
        try await MockServer.run(isSecure: true) { server in
            server.enqueue(.json(#"{"page":1}"#, statusCode: 201))
            let session = DefaultSession.make(server.trustingConfiguration)
            #expect(server.url.scheme == "https")
            let response = try await session.send(NetworkRequest(.get, server.url.appendingPathComponent("a")))
            #expect(response.statusCode == 201)
            #expect(response.body == Data(#"{"page":1}"#.utf8))
            let seen = try await server.takeRequest()
            #expect(seen.isSecure)
            #expect(seen.url?.absoluteString == "\(server.url)/a")
        }
    }

    @Test("the default certificate covers localhost")
    func localhost() async throws {
        try await MockServer.run(isSecure: true) { server in
            server.enqueue(.text("here"))
            let session = DefaultSession.make(server.trustingConfiguration)
            let url = try #require(URL(string: "https://localhost:\(server.port)"))
            #expect(try await session.send(NetworkRequest(.get, url)).body == Data("here".utf8))
        }
    }

    @Test("the certificate has the given names")
    func names() async throws {
        try await MockServer.run(isSecure: true, certificateNames: ["api.example.com", "*.example.org"]) { server in
            server.enqueue(.text("one"), .text("two"))
            var configuration = server.trustingConfiguration
            for host in ["api.example.com", "any.example.org"] {
                configuration.resolve["\(host):\(server.port)"] = ["127.0.0.1"]
            }
            let session = DefaultSession.make(configuration)
            for host in ["api.example.com", "any.example.org"] {
                let url = try #require(URL(string: "https://\(host):\(server.port)"))
                #expect(try await session.send(NetworkRequest(.get, url)).statusCode == 200)
            }
            let error = await #expect(throws: NetworkError.self) {
                try await session.send(NetworkRequest(.get, server.url))
            }
            #expect(error?.code == .insecureConnection)
        }
    }

    @Test(
        "an invalid certificate is an insecure connection",
        arguments: [
            ["elsewhere.example"], [],
        ])
    func invalidCertificates(names: [String]) async throws {
        try await MockServer.run(isSecure: true, certificateNames: names) { server in
            let session = DefaultSession.make(server.trustingConfiguration)
            let error = await #expect(throws: NetworkError.self) {
                try await session.send(NetworkRequest(.get, server.url))
            }
            #expect(error?.code == .insecureConnection, "\(String(describing: error))")
            #expect(server.requests.isEmpty)
        }
    }

    @Test("a default session does not trust the server")
    func untrusted() async throws {
        try await MockServer.run(isSecure: true) { server in
            let error = await #expect(throws: NetworkError.self) {
                try await DefaultSession.make().send(NetworkRequest(.get, server.url))
            }
            #expect(error?.code == .insecureConnection)
            try await server.waitForDisconnect(of: 1)
        }
    }

    @Test("trust in one server does not extend to another")
    func separateAuthorities() async throws {
        try await MockServer.run(isSecure: true) { server in
            try await MockServer.run(isSecure: true) { other in
                let session = DefaultSession.make(other.trustingConfiguration)
                let error = await #expect(throws: NetworkError.self) {
                    try await session.send(NetworkRequest(.get, server.url))
                }
                #expect(error?.code == .insecureConnection)
            }
        }
    }

    @Test("a stalled handshake times out")
    func stalledHandshake() async throws {
        try await MockServer.run(isSecure: true) { server in
            server.enqueue(.stall(at: .accept))
            let session = DefaultSession.make(server.trustingConfiguration)
            let options = RequestOptions { $0.timeouts.attempt = .milliseconds(300) }
            let error = await #expect(throws: NetworkError.self) {
                try await session.send(NetworkRequest(.get, server.url, options: options))
            }
            #expect(error?.code == .timedOut)
            try await server.waitForDisconnect(of: 1)
        }
    }

    @Test("FoundationSession refuses the trusting configuration")
    func foundationSession() async throws {
        try await MockServer.run(isSecure: true) { server in
            let session = FoundationSession(configuration: server.trustingConfiguration)
            let error = await #expect(throws: NetworkError.self) {
                try await session.send(NetworkRequest(.get, server.url))
            }
            #expect(error?.code == .unsupported)
        }
    }
}
#endif
