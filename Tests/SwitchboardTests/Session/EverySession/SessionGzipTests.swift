import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Compressed request bodies on the wire. The server sends each body back with `Content-Encoding: gzip`, and libcurl
/// decompresses it.
@Suite(.inTurn, .serialized, .timeLimit(.minutes(10)))
struct SessionGzipTests {
    private static let text = Data(String(repeating: "The quick brown fox. ", count: 20_000).utf8)

    private static let large: Data = {
        var generator = SeededGenerator(seed: 7)
        return Data((0..<500_000).flatMap { _ in withUnsafeBytes(of: generator.next()) { Array($0) } })
    }()

    private static func stream(_ content: Data, isReplayable: Bool = true) -> StreamBody {
        let chunks = stride(from: 0, to: content.count, by: 100_000).map {
            content[$0..<min($0 + 100_000, content.count)]
        }
        return StreamBody(contentType: "text/x-test", isReplayable: isReplayable) { .init(chunks: chunks) }
    }

    @Test(
        "a body in memory arrives as gzip, with its length [bodies]", .requirement("S2.7"),
        arguments: SessionKind.allCases)
    func memory(kind: SessionKind) async throws {
        try await MockServer.run(handler: { .data($0.body, headers: ["Content-Encoding": "gzip"]) }) { server in
            let session = kind.make()
            let body = GzipBody(DataBody(Self.text, contentType: "text/plain"))
            let response = try await session.send(NetworkRequest(.post, server.url, body: body))
            #expect(response.body == Self.text)
            let seen = try await server.takeRequest()
            #expect(seen.headers.values(for: "Content-Encoding") == ["gzip"])
            #expect(seen.headers["Content-Type"] == "text/plain")
            #expect(seen.headers.values(for: "Content-Length") == [String(seen.body.count)])
            #expect(seen.body.count < Self.text.count / 50)
            let unpacked = Python.path == nil ? [Self.text] : try await Python.gunzip([seen.body])
            #expect(unpacked == [Self.text])
        }
    }

    @Test(
        "megabytes are compressed while they are sent [streamed uploads]",
        .requirement("S2.7"),
        arguments: SessionKind.allCases)
    func megabytes(kind: SessionKind) async throws {
        try await MockServer.run(handler: { .data($0.body, headers: ["Content-Encoding": "gzip"]) }) { server in
            let router = Router<URLEndPoint>(session: kind.make())
            let options = RequestOptions { $0.compressesBody = true }
            for content in [Self.large, Self.text] {
                let task = HTTPTask.upload(Self.stream(content))
                let response = try await router.response(
                    for: URLEndPoint(.put, server.url, task: task, options: options))
                #expect(response.body == content)
                let seen = try await server.takeRequest()
                #expect(seen.headers["Content-Type"] == "text/x-test")
                if kind != .foundation { #expect(seen.headers.values(for: "Transfer-Encoding") == ["chunked"]) }
            }
        }
    }

    @Test(
        "a retry and a 307 resend the same compressed bytes [streamed uploads]", .requirement("S2.7"),
        arguments: SessionKind.allCases,
        [true, false])
    func again(kind: SessionKind, isStreamed: Bool) async throws {
        try await MockServer.run { server in
            server.enqueue(.status(503), .redirect(to: "/end", statusCode: 307), .text("done"))
            let policy = RetryPolicy(clock: TestClock(skips: true))
            let router = Router<URLEndPoint>(session: kind.make(), interceptors: [policy])
            let body: any HTTPBody = isStreamed ? Self.stream(Self.text) : DataBody(Self.text)
            let options = RequestOptions { $0.compressesBody = true }
            let endPoint = URLEndPoint(.put, server.url, task: .upload(body), options: options)
            #expect(try await router.response(for: endPoint).text == "done")
            let seen = server.requests
            #expect(seen.count == 3)
            #expect(Set(seen.map(\.body)).count == 1)
            #expect(seen.allSatisfy { $0.headers.values(for: "Content-Encoding") == ["gzip"] })
            let unpacked = Python.path == nil ? [Self.text] : try await Python.gunzip([seen[2].body])
            #expect(unpacked == [Self.text])
        }
    }

    @Test(
        "a one-shot body has no retry and no 307 [streamed uploads]", .requirement("S2.7"),
        arguments: SessionKind.allCases)
    func once(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.status(503), .redirect(to: "/end", statusCode: 307))
            let policy = RetryPolicy(clock: TestClock(skips: true))
            let router = Router<URLEndPoint>(session: kind.make(), interceptors: [policy])
            let options = RequestOptions { $0.compressesBody = true }
            for code in [NetworkError.Code.error5xx, .redirectRefused] {
                let task = HTTPTask.upload(Self.stream(Self.text, isReplayable: false))
                let endPoint = URLEndPoint(.put, server.url, task: task, options: options)
                let error = await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
                #expect(error?.code == code)
            }
            #expect(server.requests.count == 2)
        }
    }

    @Test(
        "a redirect to GET drops the encoding with the body [bodies]", arguments: SessionKind.allCases)
    func seeOther(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.redirect(to: "/end", statusCode: 303), .text("done"))
            let router = Router<URLEndPoint>(session: kind.make())
            let task = HTTPTask.requestBody(GzipBody(DataBody(Self.text)))
            _ = try await router.response(for: URLEndPoint(.post, server.url, task: task))
            #expect(server.requests.map { $0.headers["Content-Encoding"] } == ["gzip", nil])
            #expect(server.requests[1].body.isEmpty)
        }
    }

    @Test(
        "a throwing gzip stream never completes its request [streamed uploads]",
        arguments: SessionKind.allCases)
    func throwing(kind: SessionKind) async throws {
        struct Spoiled: Error {}
        try await MockServer.run(handler: { _ in .text("whole?") }) { server in
            let body = GzipBody(StreamBody { .init(chunks: [Self.large], error: Spoiled()) })
            let error = await #expect(throws: NetworkError.self) {
                try await kind.make().send(NetworkRequest(.post, server.url, body: body))
            }
            #expect(error?.code == .encodingFailed)
            #expect(error?.underlying is Spoiled)
            #expect(server.requests.isEmpty)
        }
    }
}
