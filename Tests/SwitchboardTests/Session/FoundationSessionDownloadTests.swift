import Foundation
import Switchboard
import SwitchboardTesting
import Testing

/// Bodies that go into a file.
@Suite(.timeLimit(.minutes(1)))
struct FoundationSessionDownloadTests {
    let session = FoundationSession()

    @Test(
        "S0.13 S3.3 partly: a download is written to its file, over one that is there, and nothing else is left beside it"
    )
    func downloadReplaces() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("movie.bin")
            try Data("old".utf8).write(to: file)
            let body = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            try await MockServer.run { server in
                server.enqueue(.data(body))
                let response = try await session.send(download(server, to: file))
                #expect(response.fileURL == file)
                #expect(response.body.isEmpty)
                #expect(response.metrics.bytesReceived == 200_000)
            }
            #expect(try Data(contentsOf: file) == body)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["movie.bin"])
        }
    }

    @Test(
        "a download that breaks off, times out or is cancelled leaves no file under its name",
        arguments: ["cut", "time", "cancel"])
    func brokenDownloadLeavesNothing(how: String) async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("movie.bin")
            try await MockServer.run { server in
                server.enqueue(how == "cut" ? .truncated(after: 1_000) : .stalled(after: 1_000))
                var request = download(server, to: file)
                if how == "time" { request.timeouts.attempt = .milliseconds(200) }
                let task = Task { [request] in try await session.send(request) }
                _ = try await server.takeRequest()
                if how == "cancel" { task.cancel() }
                await #expect(throws: (any Error).self) { try await task.value }
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        }
    }

    @Test("S0.13 partly: the body of a 404 stays in memory, the file is not touched")
    func errorPageIsNoDownload() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("movie.bin")
            try await MockServer.run { server in
                server.enqueue(.text("no such movie", status: 404))
                let response = try await session.send(download(server, to: file))
                #expect(response.statusCode == 404)
                #expect(response.text == "no such movie")
                #expect(response.fileURL == nil)
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        }
    }

    @Test("a folder that is not there is cannotWriteFile, naming the file")
    func noFolder() async throws {
        try await MockServer.run { server in
            server.enqueue(.text("x"))
            let file = URL(fileURLWithPath: "/no/such/folder/movie.bin")
            let error = await #expect(throws: NetworkError.self) { try await session.send(download(server, to: file)) }
            #expect(error?.code == .cannotWriteFile)
            #expect(error?.description.contains("/no/such/folder/movie.bin") == true)
        }
    }

    private func download(_ server: MockServer, to file: URL) -> NetworkRequest {
        var request = NetworkRequest(.get, server.url)
        request.options.destination = file
        return request
    }

    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("switchboard-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }
}
