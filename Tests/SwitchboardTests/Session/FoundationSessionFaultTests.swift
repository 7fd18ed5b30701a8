import Foundation
import Switchboard
import SwitchboardTesting
import Testing

/// What becomes of servers that misbehave: each its own code, and words that name the cause.
@Suite(.timeLimit(.minutes(1)))
struct FoundationSessionFaultTests {
    let session = FoundationSession()

    struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let response: MockResponse
        let code: NetworkError.Code
        let words: String

        init(_ name: String, _ response: MockResponse, _ code: NetworkError.Code, _ words: String) {
            testDescription = name
            self.response = response
            self.code = code
            self.words = words
        }
    }

    static let faults = [
        Fault("garbage instead of HTTP", .raw("SSH-2.0-OpenSSH_9.2\r\n"), .invalidResponse, "HTTP/0.9"),
        Fault("a status that is no number", .raw("HTTP/1.1 abc OK\r\n\r\n"), .invalidResponse, "HTTP version"),
        Fault("an empty reply", .close, .connectionLost, "Empty reply"),
        Fault("a reset", .reset, .connectionLost, "reset"),
        Fault("a body shorter than Content-Length", .truncated(after: 3), .truncatedBody, "bytes remaining"),
        Fault(
            "a chunked body without its last chunk", .text("abcdef").chunked(3).truncated(after: 3), .truncatedBody,
            "outstanding"),
        Fault(
            "a chunk size that is none", .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc"),
            .invalidResponse, "chunk"),
        Fault(
            "a negative Content-Length", .raw("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nabc"), .invalidResponse,
            "Content-Length"),
        Fault(
            "two lengths that differ", .raw("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nabcde"),
            .invalidResponse, "Content-Length fields that differ"),
        Fault(
            "a header line of 10 MB",
            .raw(
                "HTTP/1.1 200 OK\r\nX-Big: " + String(repeating: "a", count: 10_000_000)
                    + "\r\nContent-Length: 0\r\n\r\n"),
            .headersTooLarge, "header is larger"),
        Fault(
            "10 MB of header lines",
            .raw(
                "HTTP/1.1 200 OK\r\n"
                    + (0..<10_000).map { "X-\($0): " + String(repeating: "a", count: 1_000) + "\r\n" }.joined()
                    + "\r\n"),
            .headersTooLarge, "header is larger"),
        Fault(
            "content that is not the gzip it says", .text("no gzip").with("Content-Encoding", "gzip"),
            .cannotDecodeResponse,
            "unencoding"),
        Fault(
            "an unknown content encoding", .text("what").with("Content-Encoding", "rot13"), .cannotDecodeResponse,
            "content encoding"),
    ]

    @Test(
        "S2.10 each fault of a server has its own code and a message that names the cause and the request",
        arguments: faults)
    func faultsHaveCodes(fault: Fault) async throws {
        try await MockServer.run { server in
            server.enqueue(fault.response)
            let url = server.url.appendingPathComponent("asked")
            let error = await #expect(throws: NetworkError.self) { try await session.send(NetworkRequest(.get, url)) }
            #expect(error?.code == fault.code)
            #expect(error?.description.contains(fault.words) == true, "\(String(describing: error))")
            #expect(error?.description.contains("GET \(url)") == true)
            #expect(error?.request?.url == url)
        }
    }

    @Test("S2.10 what arrived of a truncated response stays on the error")
    func partialResponseIsKept() async throws {
        try await MockServer.run { server in
            server.enqueue(.text("abcdef").with("X-Kept", "yes").truncated(after: 3))
            let error = await #expect(throws: NetworkError.self) {
                try await session.send(NetworkRequest(.get, server.url))
            }
            #expect(error?.status == 200)
            #expect(error?.headers?["X-Kept"] == "yes")
            #expect(error?.body == Data("abc".utf8))
            #expect(error?.response?.statusCode == 200)
        }
    }

    @Test(
        "S1.9 S3.13 a dead port is cannotConnect, the cause attached, and partly S1.9: loopback is never reported offline"
    )
    func deadPort() async throws {
        let port = try MockServer().deadPort
        let url = try #require(URL(string: "http://127.0.0.1:\(port)/"))
        let error = await #expect(throws: NetworkError.self) { try await session.send(NetworkRequest(.get, url)) }
        #expect(error?.code == .cannotConnect)
        #expect(error?.message == "Please check your network connection.")
        #expect(error?.urlErrorCode == .cannotConnectToHost)
        #expect(error?.description.contains("127.0.0.1 port \(port)") == true)
    }

    @Test("a name that does not resolve is cannotFindHost, which cannotConnect catches")
    func unknownHost() async throws {
        let url = try #require(URL(string: "http://name.invalid/"))  // RFC 6761 §6.4
        let error = await #expect(throws: NetworkError.self) { try await session.send(NetworkRequest(.get, url)) }
        #expect(error?.code == .cannotFindHost)
        #expect(error?.code.isKind(of: .cannotConnect) == true)
    }

    @Test("https to a server that speaks plain HTTP is insecureConnection")
    func plainServerForTLS() async throws {
        try await MockServer.run { server in
            let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
            let error = await #expect(throws: NetworkError.self) { try await session.send(NetworkRequest(.get, url)) }
            #expect(error?.code == .insecureConnection)
        }
    }

    @Test(
        "a body over the limit ends the exchange while it is still arriving, announced or not",
        arguments: [true, false])
    func bodyOverTheLimit(isAnnounced: Bool) async throws {
        try await MockServer.run { server in
            let body = MockResponse.data(Data(repeating: 7, count: 1_000_000)).stalled(after: 900_000)
            server.enqueue(isAnnounced ? body : body.chunked(10_000))
            var request = NetworkRequest(.get, server.url)
            request.limits.responseBody = 50_000
            let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
            #expect(error?.code == .responseTooLarge)
            #expect(error?.reason?.contains("50000") == true)
            #expect((error?.body?.count ?? .max) <= 50_000)
            try await server.waitForDisconnect()
        }
    }

    @Test(
        "a redirect without a Location is returned, one whose body URLSession loses is truncated",
        arguments: [301, 306, 307, 308])
    func redirectWithoutLocation(status: Int) async throws {
        try await MockServer.run { server in
            server.enqueue(.status(status), .status(status, body: Data("body".utf8)))
            let response = try await session.send(NetworkRequest(.get, server.url))
            #expect(response.statusCode == status)
            let second = await Result { try await session.send(NetworkRequest(.get, server.url)) }
            switch second {
            case .success(let response): #expect(response.text == "body")
            case .failure(let error):
                #expect((error as? NetworkError)?.code == .truncatedBody)
                #expect((error as? NetworkError)?.status == status)
            }
        }
    }

    @Test("a scheme in upper case is the same scheme")
    func upperCaseScheme() async throws {
        try await MockServer.run { server in
            server.enqueue(.text("ok"))
            let url = try #require(URL(string: "HTTP://127.0.0.1:\(server.port)/"))
            let response = try await session.send(NetworkRequest(.get, url))
            #expect(response.text == "ok")
        }
    }

    @Test("a body of exactly the limit is accepted")
    func bodyAtTheLimit() async throws {
        try await MockServer.run { server in
            server.enqueue(.data(Data(repeating: 7, count: 50_000)))
            var request = NetworkRequest(.get, server.url)
            request.limits.responseBody = 50_000
            let last = try await session.send(request)
            #expect(last.body.count == 50_000)
        }
    }

    @Test("what FoundationSession cannot do is unsupported, never ignored")
    func unsupported() async throws {
        var timed = NetworkRequest(.get, URL(string: "http://127.0.0.1/"))
        timed.timeouts.connect = .seconds(1)
        let error = await #expect(throws: NetworkError.self) { try await session.send(timed) }
        #expect(error?.code == .unsupported)
        #expect(error?.description.contains("connecting") == true)
    }

    @Test("a request after the invalidation fails at once, one before it ends by itself")
    func invalidatedSession() async throws {
        try await MockServer.run { server in
            let session = FoundationSession()
            server.enqueue(.text("first").delayed(by: .milliseconds(50)))
            async let first = session.send(NetworkRequest(.get, server.url))
            _ = try await server.takeRequest()
            session.invalidate()
            session.invalidate()
            let error = await #expect(throws: NetworkError.self) {
                try await session.send(NetworkRequest(.get, server.url))
            }
            #expect(error?.code == .sessionInvalidated)
            #expect(try await first.text == "first")
        }
    }
}
