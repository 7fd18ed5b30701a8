import Foundation
import Switchboard
import SwitchboardStreams
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Multipart responses, read as they arrive.
@Suite(.inTurn, .serialized, .timeLimit(.minutes(10)))
struct SessionPartsTests {
    private static let type: HTTPHeaders = ["Content-Type": "multipart/byteranges; boundary=\"b 0\""]

    private static func body(_ ranges: [(Int64, String)], of size: Int64) -> Data {
        var text = ""
        for (start, content) in ranges {
            text +=
                "\r\n--b 0\r\nContent-Range: bytes \(start)-\(start + Int64(content.utf8.count) - 1)/\(size)\r\n\r\n"
            text += content
        }
        return Data((text + "\r\n--b 0--\r\n").utf8)
    }

    private static let three = body([(0, "abc"), (10, "defg"), (90, "hi")], of: 100)

    private func request(_ url: URL, streams: Bool) -> NetworkRequest {
        NetworkRequest(.get, url, options: RequestOptions { $0.streamsResponse = streams })
    }

    private func texts(_ parts: ResponseSequence<ResponsePart>) async throws -> [String] {
        var texts: [String] = []
        for try await part in parts {
            texts.append("\(part.contentRange?.description ?? "-") \(String(decoding: part.body, as: UTF8.self))")
        }
        return texts
    }

    @Test(
        "reads the parts, streamed or not, and reuses the connection",
        arguments: SessionKind.allCases, [true, false])
    func parts(kind: SessionKind, streams: Bool) async throws {
        try await MockServer.run { server in
            let session = kind.make()
            for size in [1, 7, 1_000] {
                server.enqueue(.status(206, headers: Self.type, body: Self.three).chunked(size))
                let response = try await session.send(request(server.url, streams: streams))
                let texts = try await texts(try response.parts())
                #expect(texts == ["bytes 0-2/100 abc", "bytes 10-13/100 defg", "bytes 90-91/100 hi"])
            }
            #expect(!kind.freesConnectionAtEnd || server.connectionCount == 1)
        }
    }

    @Test("a router requests multipart once, when the first part is read", arguments: SessionKind.allCases)
    func router(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.status(206, headers: Self.type, body: Self.three).repeated())
            let router = Router<URLEndPoint>(session: kind.make())
            let headers: HTTPHeaders = ["Range": "bytes=0-2,10-13,-2"]
            let parts = router.parts(for: URLEndPoint(.get, server.url, headers: headers))
            #expect(server.requests.isEmpty)
            let read = try await texts(parts)
            #expect(read == ["bytes 0-2/100 abc", "bytes 10-13/100 defg", "bytes 90-91/100 hi"])
            let again = try await texts(parts)
            #expect(again.isEmpty)
            #expect(server.requests.map { $0.headers["Accept"] } == ["multipart/*"])
            #expect(server.requests.map { $0.headers["Range"] } == ["bytes=0-2,10-13,-2"])
            let asked = router.parts(for: URLEndPoint(.get, server.url, headers: ["Accept": "x/y"]))
            let others = try await texts(asked)
            #expect(others.count == 3)
            #expect(server.requests.last?.headers["Accept"] == "x/y")
        }
    }

    @Test("a part arrives with the next boundary; stopping closes the connection", arguments: SessionKind.allCases)
    func early(kind: SessionKind) async throws {
        let count = try #require(Self.three.range(of: Data("bytes 90".utf8))).lowerBound
        try await MockServer.run { server in
            server.enqueue(.status(206, headers: Self.type, body: Self.three).stalled(after: count))
            let router = Router<URLEndPoint>(session: kind.make())
            var bodies: [String] = []
            for try await part in router.parts(for: URLEndPoint(.get, server.url)) {
                bodies.append(String(decoding: part.body, as: UTF8.self))
                if bodies.count == 2 { break }
            }
            #expect(bodies == ["abc", "defg"])
            try await server.waitForDisconnect()
        }
    }

    @Test(
        "a body cut before its last boundary is truncatedBody after its parts",
        arguments: SessionKind.allCases, [true, false])
    func truncated(kind: SessionKind, isCut: Bool) async throws {
        let count = Self.three.count - 8
        try await MockServer.run { server in
            let whole = MockResponse.status(206, headers: Self.type, body: Self.three)
            let short = MockResponse.status(206, headers: Self.type, body: Self.three.prefix(count))
            server.enqueue(isCut ? whole.truncated(after: count) : short)
            var bodies: [String] = []
            let parts = Router<URLEndPoint>(session: kind.make()).parts(for: URLEndPoint(.get, server.url))
            let error = await #expect(throws: NetworkError.self) {
                for try await part in parts { bodies.append(String(decoding: part.body, as: UTF8.self)) }
            }
            #expect(bodies == ["abc", "defg"])
            #expect(error?.code == .truncatedBody)
            #expect(error?.statusCode == 206)
            #expect(error?.url == server.url)
            let behind = try await texts(parts)
            #expect(behind.isEmpty)
        }
    }

    @Test("a part beyond the limit is responseTooLarge and ends the connection", arguments: SessionKind.allCases)
    func limit(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.status(206, headers: Self.type, body: Self.three).stalled(after: Self.three.count - 20))
            let parts = Router<URLEndPoint>(session: kind.make()).parts(for: URLEndPoint(.get, server.url), limit: 3)
            var count = 0
            let error = await #expect(throws: NetworkError.self) { for try await _ in parts { count += 1 } }
            #expect(count == 1)
            #expect(error?.code == .responseTooLarge)
            try await server.waitForDisconnect()
        }
    }

    @Test("a type that is not multipart, or lacks a boundary, is an error", arguments: SessionKind.allCases)
    func types(kind: SessionKind) async throws {
        try await MockServer.run { server in
            let session = kind.make()
            for (type, code) in [
                ("text/plain", NetworkError.Code.unexpectedContentType), ("multipart/byteranges", .invalidResponse),
            ] {
                server.enqueue(.status(206, headers: ["Content-Type": type], body: Self.three))
                let response = try await session.send(request(server.url, streams: false))
                let error = #expect(throws: NetworkError.self) { try response.parts() }
                #expect(error?.code == code)
                #expect(error?.statusCode == 206)
                #expect(error?.url == server.url)
            }
            server.enqueue(.text("not there", statusCode: 404))
            let parts = Router<URLEndPoint>(session: session).parts(for: URLEndPoint(.get, server.url))
            let error = await #expect(throws: NetworkError.self) { try await texts(parts) }
            #expect(error?.code == .notFound)
        }
    }

    @Test("a repeated type is read as one", arguments: SessionKind.allCases)
    func repeatedType(kind: SessionKind) async throws {
        var answer = MockResponse.status(206, headers: Self.type, body: Self.three)
        for field in Self.type { answer.headers.append(field) }
        try await MockServer.run { [answer] server in
            server.enqueue(answer)
            let parts = Router<URLEndPoint>(session: kind.make()).parts(for: URLEndPoint(.get, server.url))
            let read = try await texts(parts)
            #expect(read.count == 3)
        }
    }

    @Test("an endless epilogue is not read to its end", arguments: SessionKind.allCases)
    func epilogue(kind: SessionKind) async throws {
        try await MockServer.run { server in
            let body = Self.three + Data(count: 1_000_000)
            server.enqueue(.status(206, headers: Self.type, body: body).stalled(after: body.count - 1))
            let parts = Router<URLEndPoint>(session: kind.make()).parts(for: URLEndPoint(.get, server.url))
            let read = try await texts(parts)
            #expect(read.count == 3)
            try await server.waitForDisconnect()
        }
    }
}
