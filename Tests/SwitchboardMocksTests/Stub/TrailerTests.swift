import Foundation
import Switchboard
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

struct TrailerTests {
    private static var response: MockResponse {
        var response = MockResponse.text("film")
        response.trailers = ["X-Checksum": "12"]
        return response
    }

    @Test("a stub's response has its trailers")
    func stub() async throws {
        let router = Router<URLEndPoint>(session: StubSession(Self.response))
        let url = try #require(URL(string: "http://h.test/"))
        let answer = try await router.response(for: URLEndPoint(.get, url))
        #expect(answer.text == "film" && answer.trailers == ["X-Checksum": "12"])
    }

    /// Reads a streamed response, and returns the trailers before and after its end.
    private func trailers(_ session: any NetworkSession, _ url: URL) async throws -> [HTTPHeaders?] {
        let options = RequestOptions { $0.streamsResponse = true }
        let response = try await session.send(NetworkRequest(.get, url, options: options))
        let bytes = response.bytes
        let before = bytes.result?.trailers
        #expect(response.trailers.isEmpty)
        var count: Int64 = 0
        for try await chunk in bytes { count += Int64(chunk.count) }
        #expect(count == 4 && bytes.result?.metrics.bytesReceived == 4)
        return [before, bytes.result?.trailers]
    }

    @Test("a stub's streamed response has its trailers at its end")
    func stream() async throws {
        let url = try #require(URL(string: "http://h.test/"))
        let session = StubSession(Self.response.chunked(3), Self.response, Self.response)
        #expect(try await trailers(session, url) == [nil, ["X-Checksum": "12"]])
        let slow = NetworkConditions(downloadBytesPerSecond: 1)
        let clock = TestClock(skips: true)
        #expect(try await trailers(session.under(slow, clock: clock), url) == [nil, ["X-Checksum": "12"]])
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        let router = Router<URLEndPoint>(session: session)
        let answer = try await router.response(for: URLEndPoint(.get, url, task: .download(to: file)))
        #expect(answer.trailers == ["X-Checksum": "12"])
    }

    @Test("a stub's truncated stream has no trailers")
    func truncated() async throws {
        let options = RequestOptions { $0.streamsResponse = true }
        let url = try #require(URL(string: "http://h.test/"))
        let bytes = try await StubSession(Self.response.truncated(after: 2)).send(
            NetworkRequest(.get, url, options: options)
        ).bytes
        await #expect(throws: NetworkError.self) { for try await _ in bytes {} }
        #expect(bytes.result == nil)
    }

    #if os(Linux)
    @Test("a response without a body has none, from a stub and a server", arguments: [HTTPMethod.get, .head])
    func withoutBody(method: HTTPMethod) async throws {
        try await MockServer.run { server in
            var response = Self.response
            if method == .get { response.statusCode = 204 }
            server.enqueue(response)
            for session in [StubSession(response), CurlSession()] as [any NetworkSession] {
                let answer = try await session.send(NetworkRequest(method, server.url))
                #expect(answer.trailers.isEmpty)
            }
        }
    }

    @Test("a server's streamed response has them at its end")
    func serverStream() async throws {
        try await MockServer.run { server in
            server.enqueue(Self.response)
            let trailers = try await trailers(CurlSession(), server.url)
            #expect(trailers.last == ["X-Checksum": "12"])
        }
    }

    @Test("a server sends them after the last chunk")
    func server() async throws {
        try await MockServer.run { server in
            server.enqueue(Self.response)
            let router = Router<URLEndPoint>(session: CurlSession())
            let answer = try await router.response(for: URLEndPoint(.get, server.url))
            #expect(answer.text == "film" && answer.trailers == ["X-Checksum": "12"])
            #expect(answer.headers["Transfer-Encoding"] == "chunked")
        }
    }
    #endif
}
