import SwitchboardCurl
import Foundation
@testable import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Faults of servers. Each has a code, the same on every session, and a text that names the cause.
@Suite(.inTurn, .serialized, .timeLimit(.minutes(10)))
struct SessionFaultTests {
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
        Fault("garbage instead of HTTP", .raw("SSH-2.0-OpenSSH_9.2\r\n"), .invalidResponse, "status line"),
        Fault("a status that is no number", .raw("HTTP/1.1 abc OK\r\n\r\n"), .invalidResponse, ""),
        Fault("an empty reply", .close, .connectionLost, "without a response"),
        Fault("a reset", .reset, .connectionLost, "reset"),
        Fault("a body shorter than Content-Length", .truncated(after: 3), .truncatedBody, "bytes are missing"),
        Fault(
            "a chunked body without its last chunk", .text("abcdef").chunked(3).truncated(after: 3), .truncatedBody,
            "last chunk"),
        Fault(
            "a chunk size that is none", .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc"),
            .invalidResponse, "chunk"),
        Fault(
            "a negative Content-Length", .raw("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nabc"), .invalidResponse,
            "Content-Length"),
        Fault(
            "a hexadecimal Content-Length", .raw("HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\nhi"), .invalidResponse,
            "Content-Length"),
        Fault(
            "a Content-Length with a blank inside", .raw("HTTP/1.1 200 OK\r\nContent-Length: 1 0\r\n\r\nhi"),
            .invalidResponse, "Content-Length"),
        Fault(
            "a folded Content-Length", .raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n 3\r\n\r\nhi"), .invalidResponse,
            "Content-Length"),
        Fault(
            "two lengths that differ", .raw("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nabcde"),
            .invalidResponse, "conflicting Content-Length fields"),
        Fault(
            "a NUL in the head", .raw("HTTP/1.1 200 OK\r\nX-A: a\0b\r\nContent-Length: 0\r\n\r\n"), .invalidResponse, ""
        ),
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
            "Content-Encoding"),
        Fault(
            "an unknown transfer encoding",
            .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: rot13\r\nContent-Length: 3\r\n\r\nabc"),
            .cannotDecodeResponse, "encoding"),
    ]

    /// Returns whether a session accepts a fault. For libcurl before 7.83 a NUL ends a field, but CurlSession detects
    /// it.
    private static func isTaken(_ fault: Fault, by kind: SessionKind) -> Bool {
        #if os(Linux)
        kind == .foundation && fault.testDescription == "a NUL in the head" && CurlLibrary.version < 0x07_53_00
        #else
        false
        #endif
    }

    @Test(
        "each fault has its code and names the cause and the request [faults]",
        .requirement("S2.10"),
        arguments: SessionKind.allCases, faults)
    func faultsHaveCodes(kind: SessionKind, fault: Fault) async throws {
        try await MockServer.run { server in
            server.enqueue(fault.response)
            let url = server.url.appendingPathComponent("asked")
            if Self.isTaken(fault, by: kind) {
                let response = try await kind.make().send(NetworkRequest(.get, url))
                #expect(response.statusCode == 200)
                return
            }
            let error = await #expect(throws: NetworkError.self) {
                try await kind.make().send(NetworkRequest(.get, url))
            }
            #expect(error?.code == fault.code)
            #expect(
                fault.words.isEmpty || error?.description.contains(fault.words) == true, "\(String(describing: error))")
            #expect(error?.description.contains("GET \(url)") == true)
            #expect(error?.request?.url == url)
        }
    }

    // MARK: Cuts

    /// A response that ends early.
    struct Cut: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: String
        let code: NetworkError.Code
    }

    private static let length = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"
    private static let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    /// Cuts outside of the head. A cut in the head ends the process in Foundation before 6.4; see
    /// ``URLSessionTrapTests``.
    static let cuts = [
        Cut(testDescription: "before the head", bytes: "", code: .connectionLost),
        Cut(testDescription: "before the body", bytes: length, code: .truncatedBody),
        Cut(testDescription: "in the body", bytes: length + "12345", code: .truncatedBody),
        Cut(testDescription: "before the last byte", bytes: length + "123456789", code: .truncatedBody),
        Cut(testDescription: "before the first chunk", bytes: chunks, code: .truncatedBody),
        Cut(testDescription: "in a chunk size", bytes: chunks + "5", code: .truncatedBody),
        Cut(testDescription: "in a chunk", bytes: chunks + "5\r\n123", code: .truncatedBody),
        Cut(testDescription: "behind a chunk", bytes: chunks + "5\r\n12345\r\n", code: .truncatedBody),
        Cut(testDescription: "in the last chunk", bytes: chunks + "5\r\n12345\r\n0\r\n", code: .truncatedBody),
    ]

    @Test(
        "a cut is an error, and the next request works [cut connections]",
        arguments: SessionKind.allCases, cuts)
    func cut(kind: SessionKind, cut: Cut) async throws {
        try await RawServer.run { connection in
            let path = try connection.readHead().split(separator: " ")[1]
            switch path {
            case "/close": try connection.send(cut.bytes)
            case "/reset":
                try connection.send(cut.bytes)
                connection.reset()
            default: try connection.send("HTTP/1.1 204 No Content\r\n\r\n")
            }
        } body: { server in
            let session = kind.make()
            for (path, code) in [("close", cut.code), ("reset", .connectionLost)] {
                let request = NetworkRequest(.get, server.url.appendingPathComponent(path))
                let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
                #expect(error?.code == code, "\(path): \(String(describing: error))")
            }
            let next = try await session.send(NetworkRequest(.get, server.url.appendingPathComponent("next")))
            #expect(next.statusCode == 204)
        }
    }

    @Test("a stream that ends before a length of 20 digits is truncatedBody", arguments: SessionKind.allCases)
    func hugeLength(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.raw("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nabc"))
            var request = NetworkRequest(.get, server.url)
            request.options.streamsResponse = true
            let error = await #expect(throws: NetworkError.self) {
                for try await _ in try await kind.make().send(request).bytes {}
            }
            #expect(error?.code == .truncatedBody)
        }
    }

    @Test(
        "a truncated response keeps its received part [faults]", .requirement("S2.10"),
        arguments: SessionKind.allCases)
    func partialResponseIsKept(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.text("abcdef").with("X-Kept", "yes").truncated(after: 3))
            let error = await #expect(throws: NetworkError.self) {
                try await kind.make().send(NetworkRequest(.get, server.url))
            }
            #expect(error?.statusCode == 200)
            #expect(error?.headers?["X-Kept"] == "yes")
            #expect(error?.body == Data("abc".utf8))
            #expect(error?.response?.statusCode == 200)
        }
    }

    // MARK: No connection

    @Test(
        "a dead port is cannotConnect with a cause, not offline [no connection]",
        .requirement("S1.9", "S3.13"),
        arguments: SessionKind.allCases)
    func deadPort(kind: SessionKind) async throws {
        let port = try MockServer().deadPort
        let url = try #require(URL(string: "http://127.0.0.1:\(port)/"))
        let error = await #expect(throws: NetworkError.self) { try await kind.make().send(NetworkRequest(.get, url)) }
        #expect(error?.code == .cannotConnect)
        #expect(error?.message == "Please check your network connection.")
        #expect(error?.underlying != nil)
        #expect(error?.description.contains("127.0.0.1 port \(port)") == true)
    }

    @Test(
        "an unknown name is cannotFindHost, also cannotConnect [no connection]",
        arguments: SessionKind.allCases)
    func unknownHost(kind: SessionKind) async throws {
        let url = try #require(URL(string: "http://name.invalid/"))  // RFC 6761 §6.4
        let error = await #expect(throws: NetworkError.self) { try await kind.make().send(NetworkRequest(.get, url)) }
        #expect(error?.code == Servers.unknownHostCode)
        #expect(error?.code.isKind(of: .cannotConnect) == true)
    }

    @Test(
        "a host's name does not influence the error's code [no connection]", arguments: SessionKind.allCases,
        ["ssl", "hassle", "chunky", "tls-certificate", "407"])
    func hostNames(kind: SessionKind, name: String) async throws {
        let port = try MockServer().deadPort
        // RFC 6761 §6.3: a name below localhost is this machine if the resolver supports that. Otherwise it is not
        // found.
        let url = try #require(URL(string: "http://\(name).localhost:\(port)/"))
        let error = await #expect(throws: NetworkError.self) { try await kind.make().send(NetworkRequest(.get, url)) }
        #expect(error?.code.isKind(of: .cannotConnect) == true, "\(String(describing: error))")
    }

    // MARK: TLS

    @Test(
        "https to plain HTTP is insecureConnection [bad TLS is refused]",
        arguments: SessionKind.allCases)
    func plainServerForTLS(kind: SessionKind) async throws {
        try await MockServer.run { server in
            let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
            let error = await #expect(throws: NetworkError.self) {
                try await kind.make().send(NetworkRequest(.get, url))
            }
            #expect(error?.code == .insecureConnection)
        }
    }

    @Test(
        "an untrusted certificate is insecureConnection [bad TLS is refused]",
        .needsOpenSSL, arguments: SessionKind.allCases)
    func untrustedCertificate(kind: SessionKind) async throws {
        try await OpenSSLServer.run { server in
            let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
            let error = await #expect(throws: NetworkError.self) {
                try await kind.make().send(NetworkRequest(.get, url))
            }
            #expect(error?.code == .insecureConnection)
            #expect(error?.statusCode == nil)
            #expect(error?.description.lowercased().contains("certificate") == true)
        }
    }
}
