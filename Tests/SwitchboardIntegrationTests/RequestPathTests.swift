import Foundation
import SwitchboardCurl
import SwitchboardPlatform
import SwitchboardTesting
import Testing

@testable import Switchboard
@testable import SwitchboardAuth
import SwitchboardTestSupport
@testable import SwitchboardCalls

/// `NetworkRequest.path` and `query` equal those on the wire.
@Suite(.timeLimit(.minutes(10)))
struct RequestPathTests {
    // Segments of dots are in SessionWireTests: URLSession removes them.
    @Test(
        "path and query equal those on the wire",
        arguments: [
            "", "/", "?x", "?x=1&y=%20", "?", "#part", "/a", "/a/", "/a//b", "//a", "/a%2Fb", "/a%2fb%C3%A9",
            "/a;b=1,2", "/a%2E%2Eb", "/a...b/?q=/../", "/@:!$&'()*+,;=",
        ], SessionKind.allCases)
    func wire(text: String, kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.text("ok"))
            let port = try #require(server.url.port)
            let url = try #require(URL(string: "http://127.0.0.1:\(port)\(text)"))
            let request = NetworkRequest(.get, url)
            _ = try await kind.make().send(request)
            let target = try #require(server.requests.first).target
            var expected = request.path + (request.query.map { "?" + $0 } ?? "")
            #if os(Linux)
            if kind == .foundation, text == "?", CurlLibrary.version >= 0x08_08_00 { expected = "/" }
            #endif
            #expect(target == expected)
            #expect(request.url == url)
        }
    }

    @Test("a URL without a path has the path /")
    func withoutPath() throws {
        for text in ["http://h", "http://h?x", "http://h#f", "http://u:p@h:80", "http://[::1]"] {
            var request = NetworkRequest(.get, URL(string: text))
            #expect(request.path == "/", "\(text)")
            request.path = "/"
            #expect(request.url?.absoluteString == text)
        }
        var request = NetworkRequest(.get, nil)
        #expect(request.path == "")
        request.path = "people"
        #expect(request.path == "people")
        request.host = "h"
        #expect(request.path == "/people")
        request.path = ""
        #expect(request.path == "/" && request.url?.absoluteString == "https://h")
    }

    /// The vectors `get-vanilla` and `get-vanilla-query-order-key-case` of AWS's Signature Version 4 test suite.
    @Test(
        "a signature holds for a bare host (AWS SigV4 test suite)",
        arguments: [
            ("", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
            ("?Param1=value1&Param2=value2", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
        ])
    func signature(text: String, expected: String) async throws {
        let session = StubSession(.text("ok"))
        let signer = RequestSigner { request in
            let canonical = """
                \(request.method)
                \(request.path)
                \(request.query ?? "")
                host:\(request.host)
                x-amz-date:\(request.headers["X-Amz-Date"] ?? "")

                host;x-amz-date
                \(try Self.hash(Data()).hexText)
                """
            let scope = "20150830/us-east-1/service/aws4_request"
            let toSign =
                "AWS4-HMAC-SHA256\n20150830T123600Z\n\(scope)\n\(try Self.hash(Data(canonical.utf8)).hexText)"
            var key = Data("AWS4wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".utf8)
            for part in scope.split(separator: "/") { key = try Self.authenticate(Data(part.utf8), key) }
            request.headers["X-Signature"] = try Self.authenticate(Data(toSign.utf8), key).hexText
        }
        let router = Router<URLEndPoint>(session: session, interceptors: [signer])
        let headers: HTTPHeaders = ["X-Amz-Date": "20150830T123600Z"]
        let url = try #require(URL(string: "https://example.amazonaws.com\(text)"))
        _ = try await router.response(for: URLEndPoint(.get, url, headers: headers))
        #expect(session.requests.first?.headers["X-Signature"] == expected)
        #expect(session.requests.first?.path == "/")
    }

    private static func hash(_ data: Data) throws -> Data {
        Data(try MessageDigest.sha256.checkedHash(data))
    }

    /// Returns the HMAC-SHA-256 (RFC 2104) of a message with a key of up to 64 bytes.
    private static func authenticate(_ message: Data, _ key: Data) throws -> Data {
        let padded = key + Data(count: 64 - key.count)
        let inner = try hash(Data(padded.map { $0 ^ 0x36 }) + message)
        return try hash(Data(padded.map { $0 ^ 0x5C }) + inner)
    }

    @Test("Digest and ServerDefaults agree on the path of a bare host")
    func agreement() async throws {
        let session = StubSession(
            .status(401, headers: ["WWW-Authenticate": #"Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256"#]),
            .text("ok"))
        let router = Router<URLEndPoint>(
            session: session, interceptors: [DigestAuth(user: "u", password: "p")])
        _ = try await router.response(for: URLEndPoint(.get, URL(text: "https://h?x")))
        #expect(session.requests.map(\.path) == ["/", "/"])
        #expect(session.requests.last?.headers["Authorization"]?.contains(#"uri="/?x""#) == true)
        var request = NetworkRequest(.get, nil)
        try ServerDefaults(host: "h", pathPrefix: "/v1").apply(to: &request)
        #expect(request.path == "/v1")
    }
}
