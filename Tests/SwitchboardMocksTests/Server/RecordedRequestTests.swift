import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RecordedRequestTests {
    @Test(
        "the target is split into path and query without decoding",
        arguments: [
            ("/", "/", nil, "http://h/"), ("/a/%2F?", "/a/%2F", "", "http://h/a/%2F?"),
            ("/a?b?c", "/a", "b?c", "http://h/a?b?c"),
            ("http://x:1/p?q=http://y", "/p", "q=http://y", "http://x:1/p?q=http://y"),
            ("http://x", "", nil, "http://x"),
            ("http://x?q", "", "q", "http://x?q"), ("*", "*", nil, nil), ("h:443", "h:443", nil, nil),
            ("/p?u=http://y/z", "/p", "u=http://y/z", "http://h/p?u=http://y/z"),
        ])
    func targetParts(target: String, path: String, query: String?, url: String?) async throws {
        let request = try await seen("GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(request.target == target)
        #expect(request.path == path)
        #expect(request.query == query)
        #expect(request.url?.absoluteString == url)
    }

    @Test(
        "the query is decoded pair by pair",
        arguments: [
            ("a=1&a=2", [["a", "1"], ["a", "2"]]), ("a", [["a"]]), ("a=", [["a", ""]]), ("=b", [["", "b"]]),
            ("&&a=b&", [["a", "b"]]),
            ("a=b=c", [["a", "b=c"]]), ("a+b=c%20d%2B", [["a b", "c d+"]]), ("%C3%A4=%E2%82%AC", [["ä", "€"]]),
            ("a=%zz", [["a", "%zz"]]),
        ])
    func queryItems(query: String, pairs: [[String]]) async throws {
        let request = try await seen("GET /?\(query) HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(request.queryItems.map { [$0.name, $0.value].compactMap { $0 } } == pairs)
        #expect(request.queryValue(pairs[0][0]) == pairs[0].dropFirst().first)
    }

    @Test("field names are recorded as sent and found in any case")
    func fieldNames() async throws {
        let request = try await seen("get / HTTP/1.1\r\nhOST: h\r\nX-A:1\r\nx-a: \t2 \t\r\nEmpty:\r\n\r\n")
        #expect(request.method == .get)
        #expect(request.head.starts(with: Data("get / ".utf8)))
        #expect(request.headers.map(\.name) == ["hOST", "X-A", "x-a", "Empty"])
        #expect(request.headers.map(\.value) == ["h", "1", "2", ""])
        #expect(request.headers["host"] == "h")
    }

    @Test("the description has no secrets")
    func description() async throws {
        let request = try await seen("POST /a?api_key=s3cret&page=1 HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi")
        #expect(request.description == "POST /a?api_key=<redacted>&page=1 (2 bytes)")
    }

    @Test("the error of a body of another shape has the key path and no secret")
    func decodingError() async throws {
        let request = try await seen(
            "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 21\r\n\r\n{\"password\":\"s3cret\"}")
        let error = #expect(throws: NetworkError.self) { try request.decode([String: Int].self) }
        #expect(error?.code == .decodingFailed)
        let start = "the body of POST /a (21 bytes): password: expected Int, found a string"
        #expect(error?.reason?.hasPrefix(start) == true)
        #expect(error?.reason?.contains("s3cret") == false)
    }

    private func seen(_ bytes: String) async throws -> RecordedRequest {
        try await MockServer.run { server in
            let client = try RawClient(port: server.port).send(bytes)
            defer { client.leave() }
            return try await server.takeRequest()
        }
    }
}
