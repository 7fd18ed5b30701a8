import SwitchboardPlatform
import Foundation
import SwitchboardTesting
import SwitchboardTestSupport
import Testing
@testable import Switchboard

/// Heads of responses as a session reads them.
@Suite(.inTurn, .serialized, .timeLimit(.minutes(10)))
struct SessionResponseTests {
    private func send(_ kind: SessionKind, answer: String) async throws -> NetworkResponse {
        try await MockServer.run { server in
            server.enqueue(.raw(answer))
            return try await kind.make().send(NetworkRequest(.get, server.url))
        }
    }

    // MARK: Statuses

    @Test(
        "each status is returned unchanged with body and headers [statuses]",
        arguments: SessionKind.allCases, [200, 201, 206, 226, 299, 300, 400, 404, 418, 499, 500, 599, 600, 999])
    func statusesAreReturned(kind: SessionKind, status: Int) async throws {
        try await MockServer.run { server in
            server.enqueue(.status(status, headers: ["X-Kept": "yes"], body: Data("why".utf8)))
            let response = try await kind.make().send(NetworkRequest(.get, server.url))
            #expect(response.statusCode == status)
            #expect(response.text == "why")
            #expect(response.headers["x-kept"] == "yes")
            #expect(response.url == server.url)
        }
    }

    @Test(
        "a redirect is returned, not followed [redirects are left to the chain]", .requirement("S0.10"),
        arguments: SessionKind.allCases, [301, 302, 303, 307, 308])
    func redirectsAreReturned(kind: SessionKind, status: Int) async throws {
        try await MockServer.run { server in
            server.enqueue(.status(status, headers: ["Location": "/elsewhere"], body: Data("moved".utf8)))
            let request = NetworkRequest(.post, server.url, body: DataBody(Data("once".utf8)))
            let response = try await kind.make().send(request)
            #expect(response.statusCode == status)
            #expect(response.text == "moved")
            #expect(response.headers["location"] == "/elsewhere")
            #expect(server.requests.count == 1)
        }
    }

    @Test(
        "a 3xx without a Location keeps its body [redirects without a Location]", arguments: SessionKind.curlAlone,
        [301, 306, 307, 308])
    func redirectWithoutLocation(kind: SessionKind, status: Int) async throws {
        try await MockServer.run { server in
            server.enqueue(.status(status, body: Data("nowhere".utf8)))
            let response = try await kind.make().send(NetworkRequest(.get, server.url))
            #expect(response.statusCode == status)
            #expect(response.text == "nowhere")
        }
    }

    @Test(
        "a 401 or 407 is returned at once, with body [challenges are returned]",
        arguments: SessionKind.allCases, [401, 407])
    func challengeIsReturned(kind: SessionKind, status: Int) async throws {
        let name = status == 401 ? "WWW-Authenticate" : "Proxy-Authenticate"
        try await MockServer.run { server in
            let session = kind.make()
            for challenge in [#"Basic realm="x""#, #"Digest realm="x", nonce="1", qop="auth""#, "Bearer", "NTLM"] {
                server.enqueue(
                    .status(status, headers: [.init(name: name, value: challenge)], body: Data("no".utf8)))
                let response = try await session.send(NetworkRequest(.get, server.url))
                #expect(response.statusCode == status)
                #expect(response.text == "no")
                #expect(response.headers[name] == challenge)
            }
            #expect(server.requests.count == 4)
        }
    }

    // MARK: Lines

    // RFC 9112 §4: the reason phrase may be empty, and a client ignores it.
    @Test(
        "a reason may be empty or odd, the version 1.0 [status lines]",
        arguments: SessionKind.allCases,
        [
            "HTTP/1.1 200 ", "HTTP/1.1 200  Two  blanks: 404", "HTTP/1.1 200 \u{e9}t\u{e9}", "HTTP/1.0 200 OK",
            "HTTP/1.1 200 OK\tok",
        ])
    func statusLines(kind: SessionKind, line: String) async throws {
        let response = try await send(kind, answer: "\(line)\r\nX-A: 1\r\nContent-Length: 2\r\n\r\nok")
        #expect(response.statusCode == 200)
        #expect(response.headers["X-A"] == "1")
        #expect(response.text == "ok")
    }

    // RFC 9112 §2.2, §4, §5: deviations that a lenient reader accepts.
    @Test(
        "missing spaces in a head are accepted [careless heads]",
        arguments: SessionKind.curlAlone,
        [
            "HTTP/1.1 200\r\nX-A: 1\r\nContent-Length: 2\r\n\r\nok",
            "HTTP/1.1 200 OK\r\nX-A:1\r\nContent-Length:2\r\n\r\nok",
            "HTTP/1.1 200 OK\r\nX-A: \t 1 \t\r\nContent-Length:    2\r\n\r\nok",
            "HTTP/1.1 200 OK\r\nX-B:    \r\nX-A: 1\r\n\r\nok",
        ])
    func carelessHeads(kind: SessionKind, answer: String) async throws {
        let response = try await send(kind, answer: answer)
        #expect(response.statusCode == 200)
        #expect(response.headers.values(for: "X-A") == ["1"])
        #expect(response.text == "ok")
    }

    static let lineFeeds = [
        "HTTP/1.1 200 OK\nX-A: 1\nContent-Length: 2\n\nok", "HTTP/1.1 200 OK\r\nX-A: 1\nContent-Length: 2\r\n\nok",
        "HTTP/1.1 200 OK\nX-A: 1\n\nok",
    ]

    @Test(
        "lines that end in bare LFs are read [heads with bare line feeds]",
        arguments: SessionKind.curlAlone, lineFeeds)
    func bareLineFeeds(kind: SessionKind, answer: String) async throws {
        let response = try await send(kind, answer: answer)
        #expect(response.statusCode == 200)
        #expect(response.headers.values(for: "X-A") == ["1"])
        #expect(response.text == "ok")
    }

    @Test(
        "FoundationSession on Linux refuses bare LFs and missing spaces",
        .enabled(if: URLSessionQuirks.current.reportsLibcurlErrors),
        arguments: lineFeeds + [
            "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\nContent-Length:2\r\n\r\nok",
        ])
    func refusedLineFeeds(answer: String) async throws {
        let error = await #expect(throws: NetworkError.self) { try await send(.foundation, answer: answer) }
        #expect(error?.code == .invalidResponse, "\(String(describing: error))")
    }

    // RFC 9110 §5.5: servers now send UTF-8, and once sent ISO 8859-1.
    @Test("a value in UTF-8 arrives as text [response headers]", arguments: SessionKind.allCases)
    func headerText(kind: SessionKind) async throws {
        let response = try await send(kind, answer: "HTTP/1.1 200 OK\r\nX-A: é日本\r\nX-B:\r\nContent-Length: 0\r\n\r\n")
        #expect(response.headers["X-A"] == "é日本")
        #expect(response.headers.values(for: "X-B") == [""])
    }

    @Test("a value in ISO 8859-1 arrives as text [headers in ISO 8859-1]", arguments: SessionKind.curlAlone)
    func latin1(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(
                .raw(Data("HTTP/1.1 200 OK\r\nX-A: caf".utf8) + [0xE9] + Data("\r\nContent-Length: 0\r\n\r\n".utf8)))
            let response = try await kind.make().send(NetworkRequest(.get, server.url))
            #expect(response.headers["X-A"] == "café")
        }
    }

    @Test("a folded value is one value [response headers]", arguments: SessionKind.allCases)
    func foldedValue(kind: SessionKind) async throws {
        let response = try await send(
            kind, answer: "HTTP/1.1 200 OK\r\nX-A: one\r\n two\r\nX-B: b\r\nContent-Length: 2\r\n\r\nok")
        #expect(response.headers["X-A"] == "one two")
        #expect(response.headers["X-B"] == "b")
        #expect(response.text == "ok")
    }

    @Test("repeated fields stay separate and in order [repeated headers apart]", arguments: SessionKind.curlAlone)
    func repeatsStayApart(kind: SessionKind) async throws {
        let response = try await send(
            kind, answer: "HTTP/1.1 200 OK\r\nX-A: 1\r\nX-B: b\r\nx-a: 2, 3\r\nX-A: 1\r\nContent-Length: 0\r\n\r\n")
        #expect(response.headers.values(for: "X-A") == ["1", "2, 3", "1"])
        #expect(response.headers.map(\.name) == ["X-A", "X-B", "x-a", "X-A", "Content-Length"])
    }

    @Test(
        "repeated fields stay apart, despite commas in dates [Set-Cookie apart]",
        arguments: SessionKind.allCases)
    func cookiesStayApart(kind: SessionKind) async throws {
        let first = "a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/"
        try await MockServer.run { server in
            server.enqueue(
                .status(
                    200,
                    headers: [HTTPHeader(name: "Set-Cookie", value: first), .init(name: "Set-Cookie", value: "b=2, 3")])
            )
            let session = kind.make()
            let response = try await session.send(NetworkRequest(.get, server.url))
            #expect(response.headers.values(for: "Set-Cookie") == [first, "b=2, 3"])
            // Nothing is stored, so the next request has no Cookie.
            server.enqueue(.status(200))
            _ = try await session.send(NetworkRequest(.get, server.url))
            #expect(server.requests.last?.headers.contains("Cookie") == false)
        }
    }

    // MARK: Interim responses

    @Test(
        "interim heads are skipped, an unrequested 100 too [interim responses]",
        arguments: SessionKind.allCases)
    func interimResponsesAreSkipped(kind: SessionKind) async throws {
        let response = try await send(
            kind,
            answer: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n"
                + "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        #expect(response.statusCode == 200)
        #expect(response.headers["Link"] == nil)
        #expect(response.text == "ok")
    }

    @Test(
        "endless 103s are headersTooLarge [interim responses are limited]",
        arguments: SessionKind.curlAlone)
    func interimStorm(kind: SessionKind) async throws {
        let ends = Deliveries<Int>()
        try await RawServer.run { connection in
            _ = try connection.readHead()
            let hints = String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", count: 1_000)
            var sent = 0
            defer { ends.add(sent) }
            // 2 GB, unless the client closes the connection.
            while sent < 50_000 {
                try connection.send(hints)
                sent += 1
            }
        } body: { server in
            let error = await #expect(throws: NetworkError.self) {
                try await kind.make().send(NetworkRequest(.get, server.url))
            }
            #expect(error?.code == .headersTooLarge)
            let sent = try await ends.first()
            #expect(sent < 50_000)
        }
    }

    // MARK: No body

    // RFC 9110 §8.6, §15.3.5, §15.4.5: these responses announce a length and have no body.
    @Test(
        "responses end at the head and keep the connection [HEAD, 204 and 304]",
        arguments: SessionKind.allCases)
    func bodilessResponses(kind: SessionKind) async throws {
        let heads = Protected([
            "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n",
            "HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\n\r\n",
            "HTTP/1.1 204 No Content\r\nContent-Length: 500\r\n\r\n",
            "HTTP/1.1 205 Reset\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nend",
        ])
        try await RawServer.run { connection in
            while true {
                _ = try connection.readHead()
                try connection.send(heads.withLock { $0.removeFirst() })
            }
        } body: { server in
            let session = kind.make()
            let methods: [HTTPMethod] = [.head, .head, .get, .get, .get, .get]
            for (method, status) in zip(methods, [200, 404, 304, 204, 205, 200]) {
                let response = try await session.send(NetworkRequest(method, server.url))
                #expect(response.statusCode == status)
                #expect(response.text == (status == 200 && method == .get ? "end" : ""))
            }
            #expect(!kind.freesConnectionAtEnd || server.connectionCount == 1)
        }
    }
}
