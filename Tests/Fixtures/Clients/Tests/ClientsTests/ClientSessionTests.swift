import AsyncHTTPClient
import Foundation
import Switchboard
import SwitchboardTesting
import Testing

@testable import Clients

@Suite(.timeLimit(.minutes(10)))
struct ClientSessionTests {
    /// Runs a body with a router over the session, and a server with these responses.
    private func withRouter(
        _ answers: MockResponse...,
        options: RequestOptions = RequestOptions(),
        _ body: (Router<URLEndPoint>, MockServer) async throws -> Void
    ) async throws {
        let client = HTTPClient(configuration: .forSwitchboard)
        try await MockServer.run { server in
            for answer in answers { server.enqueue(answer) }
            let router = Router<URLEndPoint>(
                session: ClientSession(client: client), options: options)
            do {
                try await body(router, server)
            } catch {
                try await client.shutdown()
                throw error
            }
        }
        try await client.shutdown()
    }

    @Test("a request and its response arrive whole, with metrics")
    func exchange() async throws {
        try await withRouter(.json("[1]", headers: ["X-A": "1"])) { router, server in
            let response = try await router.response(
                for: URLEndPoint(.post, server.url, task: .requestBody(JSONBody(["a": 1])), headers: ["X-B": "2"]))
            let seen = try await server.takeRequest()
            #expect(response.text == "[1]" && response.headers["X-A"] == "1")
            #expect(response.metrics.bytesReceived == 3 && response.metrics.protocolVersion == "HTTP/1.1")
            #expect(seen.text == #"{"a":1}"# && seen.headers["X-B"] == "2")
            #expect(seen.headers["Content-Type"] == "application/json; charset=utf-8")
        }
    }

    @Test("redirects are followed by the router alone")
    func redirect() async throws {
        try await withRouter(.status(302, headers: ["Location": "/b"]), .text("b")) { router, server in
            let response = try await router.response(for: URLEndPoint(.get, server.url))
            #expect(response.text == "b" && response.history.count == 2)
        }
    }

    @Test("a streamed upload and a streamed response pass in chunks")
    func streams() async throws {
        let big = Data(repeating: 7, count: 1 << 20)
        try await withRouter(.data(big)) { router, server in
            let chunks = ChunkSource([Data("a".utf8), Data("b".utf8)])
            let body = StreamBody(contentType: "text/plain") { HTTPBodyStream { await chunks.next() } }
            var count = 0
            let endPoint = URLEndPoint(.put, server.url, task: .upload(body))
            for try await chunk in router.bytes(for: endPoint) { count += chunk.count }
            #expect(try await server.takeRequest().text == "ab")
            #expect(count == big.count)
        }
    }

    @Test("a body over the limit, a reset, silence and a dead port have codes")
    func errors() async throws {
        try await withRouter(.text("12345"), options: RequestOptions { $0.limits.responseBody = 4 }) { router, server in
            await expect(.responseTooLarge, of: router, server.url)
        }
        try await withRouter(.reset(at: .requestHead)) { router, server in
            await expect(.connectionLost, of: router, server.url)
        }
        try await withRouter(.stall, options: RequestOptions { $0.timeouts.attempt = .milliseconds(200) }) {
            router, server in
            await expect(.timedOut, of: router, server.url)
        }
        try await withRouter { router, _ in
            await expect(.cannotConnect, of: router, try #require(URL(string: "http://127.0.0.1:1/")))
        }
    }

    private func expect(_ code: NetworkError.Code, of router: Router<URLEndPoint>, _ url: URL) async {
        await #expect { try await router.response(for: URLEndPoint(.get, url)) } throws: { code ~= $0 }
    }

    @Test("a canceled task ends its exchange with CancellationError")
    func cancellation() async throws {
        try await withRouter(.stall) { router, server in
            let url = server.url
            let task = Task { try await router.response(for: URLEndPoint(.get, url)) }
            _ = try await server.takeRequest()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }
}

private actor ChunkSource {
    private var chunks: [Data]

    init(_ chunks: [Data]) {
        self.chunks = chunks
    }

    func next() -> Data? {
        chunks.isEmpty ? nil : chunks.removeFirst()
    }
}
