import Foundation
import Switchboard
import SwitchboardTesting
import Testing

/// What FoundationSession puts on the wire and takes from it, seen by a real loopback server.
@Suite(.timeLimit(.minutes(1)))
struct FoundationSessionWireTests {
    let session = FoundationSession()

    @Test(
        "S0.1 every verb reaches the server as an upper-case token, patch too",
        arguments: ["get", "post", "put", "patch", "delete", "head", "options"])
    func verbsAreUpperCase(verb: String) async throws {
        try await withEchoServer { server in
            _ = try await session.send(NetworkRequest(HTTPMethod(rawValue: verb), server.url))
            let head = try await server.takeRequest().head
            #expect(head.starts(with: Data("\(verb.uppercased()) / HTTP/1.1\r\n".utf8)))
        }
    }

    @Test("S0.1 a custom method is sent exactly as given")
    func customMethodIsSentAsGiven() async throws {
        try await withEchoServer { server in
            _ = try await session.send(NetworkRequest(.custom("Purge"), server.url))
            #expect(try await server.takeRequest().method.rawValue == "Purge")
        }
    }

    @Test("S0.8 S2.3 raw bytes arrive unchanged, with their length and without a made-up Content-Type")
    func rawBodyIsUnchanged() async throws {
        let bytes = Data((0...255).map { UInt8($0) })
        try await withEchoServer { server in
            _ = try await session.send(NetworkRequest(.post, server.url, body: DataBody(bytes)))
            let seen = try await server.takeRequest()
            #expect(seen.body == bytes)
            #expect(seen.headers.values(for: "Content-Length") == ["256"])
            #expect(!seen.headers.contains("Content-Type"))
            #expect(!seen.headers.contains("Transfer-Encoding"))
        }
    }

    @Test(
        "S0.8 S2.2 a request without a body has neither Content-Type nor, for GET, Content-Length",
        arguments: ["GET", "POST"])
    func noBodyNoType(method: String) async throws {
        try await withEchoServer { server in
            _ = try await session.send(NetworkRequest(HTTPMethod(rawValue: method), server.url))
            let seen = try await server.takeRequest()
            #expect(!seen.headers.contains("Content-Type"))
            #expect(seen.headers["Content-Length"] == (method == "GET" ? nil : "0"))
            #expect(seen.body.isEmpty)
        }
    }

    @Test("S2.4 S2.6 a request's own Content-Type beats the body's, and exactly one is sent")
    func oneContentType() async throws {
        struct PagingParameters: Encodable { var page = 0, number = 10 }
        try await withEchoServer { server in
            _ = try await session.send(NetworkRequest(.post, server.url, body: JSONBody(PagingParameters())))
            let plain = try await server.takeRequest()
            #expect(plain.text == #"{"page":0,"number":10}"#)
            #expect(plain.headers.values(for: "Content-Type") == ["application/json; charset=utf-8"])

            let own: HTTPHeaders = ["content-type": "application/vnd.api+json"]
            _ = try await session.send(
                NetworkRequest(.post, server.url, headers: own, body: JSONBody(PagingParameters())))
            #expect(try await server.takeRequest().headers.values(for: "Content-Type") == ["application/vnd.api+json"])
        }
    }

    @Test(
        "S0.9 GET, HEAD and TRACE with a body are refused before anything is sent", arguments: ["GET", "HEAD", "TRACE"])
    func bodyOnGetIsRefused(method: String) async throws {
        try await withEchoServer { server in
            let request = NetworkRequest(HTTPMethod(rawValue: method), server.url, body: JSONBody(["a": 1]))
            let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
            #expect(error?.code == .bodyNotAllowed)
            #expect(error?.description.contains("\(method) \(server.url)") == true)
            #expect(server.connectionCount == 0)
        }
    }

    @Test("an empty header value and repeats of a name arrive, a Cookie's joined by semicolons")
    func headersArrive() async throws {
        try await withEchoServer { server in
            var request = NetworkRequest(.get, server.url)
            request.headers = ["X-Empty": "", "X-Tag": "a", "x-tag": "b", "Cookie": "c=1", "cookie": "d=2"]
            _ = try await session.send(request)
            let seen = try await server.takeRequest().headers
            #expect(seen.values(for: "X-Empty") == [""])
            #expect(seen["X-Tag"] == "a, b")
            #expect(seen.values(for: "Cookie") == ["c=1; d=2"])
        }
    }

    @Test("repeated Set-Cookie fields stay apart, a comma inside a date is no separator")
    func cookiesStayApart() async throws {
        let first = "a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/"
        try await MockServer.run { server in
            server.enqueue(
                .status(
                    200,
                    headers: [HTTPHeader(name: "Set-Cookie", value: first), .init(name: "Set-Cookie", value: "b=2, 3")])
            )
            let response = try await session.send(NetworkRequest(.get, server.url))
            #expect(response.headers.values(for: "Set-Cookie") == [first, "b=2, 3"])
        }
    }

    @Test(
        "S0.10 a 3xx, a 404 and a 500 come back as they are, body and headers kept",
        arguments: [302, 307, 404, 500, 599])
    func statusesAreReturned(status: Int) async throws {
        try await MockServer.run { server in
            server.enqueue(
                .status(status, headers: ["Location": "/elsewhere", "X-Kept": "yes"], body: Data("why".utf8)))
            let response = try await session.send(NetworkRequest(.get, server.url))
            #expect(response.statusCode == status)
            #expect(response.text == "why")
            #expect(response.headers["x-kept"] == "yes")
            #expect(server.requests.count == 1)
        }
    }

    @Test("a 401 with a Basic challenge is returned at once, its body kept", arguments: [401, 407])
    func challengeIsReturned(status: Int) async throws {
        let name = status == 401 ? "WWW-Authenticate" : "Proxy-Authenticate"
        try await MockServer.run { server in
            server.enqueue(
                .status(status, headers: [.init(name: name, value: #"Basic realm="x""#)], body: Data("no".utf8)))
            let response = try await session.send(NetworkRequest(.get, server.url))
            #expect(response.statusCode == status)
            #expect(response.text == "no")
            #expect(response.headers[name] == #"Basic realm="x""#)
        }
    }

    @Test("interim responses are skipped")
    func interimResponsesAreSkipped() async throws {
        try await MockServer.run { server in
            server.enqueue(
                .raw(
                    "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n"
                        + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
            let response = try await session.send(NetworkRequest(.get, server.url))
            #expect(response.statusCode == 200)
            #expect(response.text == "ok")
        }
    }

    @Test("S0.19 the second request uses the connection of the first")
    func connectionIsReused() async throws {
        try await withEchoServer { server in
            for _ in 1...3 { _ = try await session.send(NetworkRequest(.get, server.url)) }
            #expect(server.connectionCount == 1)
            #expect(server.requests.map(\.index) == [0, 1, 2])
        }
    }

    @Test("S0.19 ten thousand requests open neither files nor threads without end")
    func manyRequestsLeakNothing() async throws {
        guard FileManager.default.fileExists(atPath: "/proc/self/fd") else { return }
        func openFiles() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
        try await MockServer.run(handler: { _ in .json("{}") }) { server in
            func send(_ count: Int) async throws {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            for _ in 0..<(count / 4) { _ = try await session.send(NetworkRequest(.get, server.url)) }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            try await send(400)
            let connections = server.connectionCount
            try await send(9_600)
            // Other tests of this process come and go, so files are only bounded; this server's connections are counted exactly.
            #expect(server.requests.count == 10_000)
            #expect(server.connectionCount <= max(connections, 6))
            #expect(try openFiles() < 4_000)
        }
    }

    @Test("metrics say when, how long, and how much")
    func metricsAreFilled() async throws {
        try await MockServer.run { server in
            server.enqueue(.text("12345"))
            let before = Date()
            let metrics = try await session.send(NetworkRequest(.get, server.url)).metrics
            let start = try #require(metrics.start)
            let duration = try #require(metrics.duration)
            let firstByte = try #require(metrics.timeToFirstByte)
            #expect(start >= before && start <= Date())
            #expect(firstByte > .zero && firstByte <= duration)
            #expect(metrics.bytesReceived == 5)
        }
    }

    @Test("a body that is streamed by its owner arrives whole, with its length")
    func streamedBodyArrives() async throws {
        struct Counting: HTTPBody {
            var isStreamed: Bool { true }
            func encode() throws -> Data {
                throw NetworkError(.unknown, reason: "a streamed body is not to be encoded")
            }
            func makeStream() -> HTTPBodyStream {
                let chunks = Chunks((0..<100).map { Data("chunk \($0);".utf8) })
                return HTTPBodyStream { await chunks.next() }
            }
        }
        let expected = (0..<100).map { "chunk \($0);" }.joined()
        try await withEchoServer { server in
            _ = try await session.send(NetworkRequest(.put, server.url, body: Counting()))
            let seen = try await server.takeRequest()
            #expect(seen.text == expected)
            #expect(seen.headers["Content-Length"] == String(expected.utf8.count))
        }
    }
}

/// Chunks, handed out one after the other.
private actor Chunks {
    private var rest: [Data]

    init(_ chunks: [Data]) {
        rest = chunks.reversed()
    }

    func next() -> Data? {
        rest.popLast()
    }
}
