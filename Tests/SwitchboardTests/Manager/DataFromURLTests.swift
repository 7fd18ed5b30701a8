import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct DataFromURLTests {
    @Test("data(from:) returns the bytes at a URL unchanged", .requirement("S0.13"))
    func bytes() async throws {
        let image = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        try await MockServer.run { _ in
            .data(image)
        } body: { server in
            let manager = NetworkManager(session: DefaultSession.make())
            let data = try await manager.data(from: server.url.appendingPathComponent("avatar.png"))
            #expect(data == image)
            let seen = try await server.takeRequest()
            #expect(seen.target == "/avatar.png")
            #expect(seen.headers["Accept"] == "*/*")
        }
    }

    @Test("an error page is never data, and differs from a failed connection", .requirement("S0.13"))
    func errorPage() async throws {
        let page = MockResponse.text("<h1>Not found</h1>", statusCode: 404, headers: ["Content-Type": "text/html"])
        try await MockServer.run {
            $0.path == "/page" ? page : .close
        } body: { server in
            let manager = NetworkManager(session: DefaultSession.make())
            let url = server.url.appendingPathComponent("page")
            let refusal = await #expect(throws: NetworkError.self) { try await manager.data(from: url) }
            #expect(refusal?.code == .notFound)
            #expect(refusal?.body == Data("<h1>Not found</h1>".utf8))
            let failure = await #expect(throws: NetworkError.self) { try await manager.data(from: server.url) }
            #expect(failure?.statusCode == nil)
            #expect(failure?.underlying != nil)
            _ = try await server.takeRequest()
        }
    }

    @Test("a download replaces the file, and an error keeps the old one", .requirement("S0.13"))
    func download() async throws {
        let image = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 13) })
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("avatar-\(UUID().uuidString).png")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("old".utf8).write(to: file)
        try await MockServer.run { server in
            server.enqueue(.status(500, body: Data("oops".utf8)), .data(image).truncated(after: 1_000), .data(image))
            let manager = NetworkManager(session: DefaultSession.make())
            let endPoint = URLEndPoint(.get, server.url, task: .download(to: file))
            let error = await #expect(throws: NetworkError.self) { try await manager.response(for: endPoint) }
            #expect(error?.body == Data("oops".utf8))
            await #expect(throws: NetworkError.self) { try await manager.response(for: endPoint) }
            #expect(try Data(contentsOf: file) == Data("old".utf8))
            let response = try await manager.response(for: endPoint)
            #expect(response.fileURL == file)
            #expect(response.body.isEmpty)
            #expect(try Data(contentsOf: file) == image)
        }
    }

    @Test(
        "download(from:) saves the bytes at a URL, but no error page", .requirement("S0.13"),
        arguments: SessionKind.allCases)
    func saved(kind: SessionKind) async throws {
        try await withFolder { folder in
            try await MockServer.run { server in
                server.enqueue(.text("bytes"), .text("<h1>Gone</h1>", statusCode: 410))
                let manager = NetworkManager(session: kind.make())
                let file = folder.appendingPathComponent("a")
                let progress = TransferProgress()
                let response = try await manager.download(from: server.url, to: file, progress: progress)
                #expect(response.fileURL == file)
                #expect(progress.current.completed == 5)
                let error = await #expect(throws: NetworkError.self) {
                    try await manager.download(from: server.url, to: file)
                }
                #expect(error?.statusCode == 410)
                #expect(try Data(contentsOf: file) == Data("bytes".utf8))
            }
        }
    }
}
