import Foundation
import HTTPTypes
import HTTPTypesFoundation
import Switchboard
import SwitchboardTesting
import SwitchboardURLSession
import Testing

/// The URLSession extensions of swift-http-types, which are written for a plain URLSession, over that of a manager.
@Suite(.timeLimit(.minutes(10)))
struct URLSessionLibraryTests {
    @Test("its calls are calls of the manager")
    func calls() async throws {
        try await MockServer.run { server in
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("interop-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: file) }
            try Data(count: 300_000).write(to: file)
            server.enqueue(
                .status(503), .json(#"{"id":1}"#), .redirect(to: "/end"), .text("end"), .status(201), .status(204),
                .status(404, body: "no"))
            let manager = NetworkManager(
                baseURL: server.url, interceptors: [RetryPolicy(clock: TestClock(skips: true)), BearerAuth("secret")])
            let session = manager.urlSession()
            let request = HTTPRequest(url: server.url.appendingPathComponent("a"), headerFields: [.accept: "a/b"])
            var (data, response) = try await session.data(for: request)
            #expect(response.status == .ok && response.headerFields[.contentType] == "application/json")
            #expect(data == Data(#"{"id":1}"#.utf8))
            (data, response) = try await session.data(for: request)
            #expect(data == Data("end".utf8))
            let post = HTTPRequest(method: .post, url: server.url, headerFields: [.contentType: "a/b"])
            (_, response) = try await session.upload(for: post, from: Data("body".utf8))
            #expect(response.status == .created)
            let put = HTTPRequest(method: .put, url: server.url)
            (_, response) = try await session.upload(for: put, fromFile: file)
            #expect(response.status == .noContent)
            (data, response) = try await session.data(for: request)
            #expect(response.status == .notFound && data == Data("no".utf8))
            let seen = server.requests
            #expect(seen.map(\.target) == ["/a", "/a", "/a", "/end", "/", "/", "/a"])
            #expect(seen.map(\.body.count) == [0, 0, 0, 0, 4, 300_000, 0])
            #expect(seen[4].headers.values(for: "Content-Type") == ["a/b"])
            #expect(seen.allSatisfy { $0.headers["Authorization"] == "Bearer secret" })
        }
    }

    @Test("its errors and cancellations are those of URLSession")
    func errors() async throws {
        let manager = NetworkManager(session: StubSession(.failure(.cannotFindHost), .stall))
        let session = manager.urlSession()
        let url = try #require(URL(string: "https://h.example/"))
        let error = await #expect(throws: URLError.self) { try await session.data(for: HTTPRequest(url: url)) }
        #expect(error?.code == .cannotFindHost)
        let task = Task { try await session.data(for: HTTPRequest(url: url)) }
        task.cancel()
        let cancelled = await #expect(throws: URLError.self) { try await task.value }
        #expect(cancelled?.code == .cancelled)
    }
}
