import ExampleKit
import ExampleSupport
import Foundation
import Switchboard
import SwitchboardTesting
import Testing

@testable import Uploads

/// The example's service: the bytes on the wire, and the server's parsers that read them.
@Suite(.timeLimit(.minutes(10)))
struct UploadServiceTests {
    private func withService(_ body: (UploadService, MockServer) async throws -> Void) async throws {
        try await MockServer.run { request in
            (try? UploadServer.answer(request)) ?? .status(500)
        } body: { server in
            try await body(UploadService(manager: .uploads(at: server.url, session: DefaultSession.make())), server)
        }
    }

    @Test("an object keeps the types of its values, as application/json", .requirement("S2.4", "S0.6"))
    func json() async throws {
        try await withService { service, server in
            let receipt = try await service.send(
                json: ["title": "Tea & \"cake\" ☕️", "stars": 5, "half": 0.5, "seen": true, "by": nil as String?])
            #expect(receipt.type == "application/json")
            #expect(
                receipt.items == [
                    .init(name: "by", kind: "null", content: ""), .init(name: "half", kind: "number", content: "0.5"),
                    .init(name: "seen", kind: "bool", content: "true"),
                    .init(name: "stars", kind: "number", content: "5"),
                    .init(name: "title", kind: "text", content: "Tea & \"cake\" ☕️"),
                ])
            #expect(server.requests.map { $0.headers["Content-Type"] } == ["application/json; charset=utf-8"])
        }
    }

    @Test(
        "sends the article's form byte for byte and escapes special characters", .requirement("S2.5", "S0.7"))
    func form() async throws {
        try await withService { service, server in
            _ = try await service.send(form: ["greeting": "Hello, ", "target": "🌎"])
            #expect(server.requests.map(\.text) == ["greeting=Hello%2C%20&target=%F0%9F%8C%8E"])
            let awkward = ["a&b": "c=d", "e+f": "g h", "50%": "é", "again": ""]
            let receipt = try await service.send(form: Parameters(awkward))
            let understood = Dictionary(uniqueKeysWithValues: receipt.items.map { ($0.name, $0.content) })
            #expect(understood == awkward)
            #expect(receipt.type == "application/x-www-form-urlencoded")
        }
    }

    @Test(
        "fields and files arrive intact, names with quotes and emoji included",
        .requirement("S0.16", "S2.8")
    )
    func multipart() async throws {
        try await withTemporaryFolder { folder in
            try await withService { service, _ in
                let note = folder.appendingPathComponent("no\"te é🙂.txt")
                let empty = folder.appendingPathComponent("empty.bin")
                try Data("abc".utf8).write(to: note)
                try Data().write(to: empty)
                let form = MultipartBody(
                    .field("ti\"tle é🙂", "Holiday"), .file("note", note), .file("empty", empty),
                    .data("raw", Data([0, 13, 10, 255]), fileName: "raw.bin"))
                let receipt = try await service.send(form)
                #expect(receipt.type == "multipart/form-data")
                #expect(receipt.bytes == form.length.map(Int.init))
                // The sums are Python's: `zlib.adler32` of `b"abc"`, of no bytes and of `bytes([0, 13, 10, 255])`.
                #expect(
                    receipt.items == [
                        .init(name: "ti\"tle é🙂", kind: "text", content: "Holiday"),
                        .init(name: "note", kind: "file", content: "no\"te é🙂.txt, text/plain, 3 bytes, 024d0127"),
                        .init(
                            name: "empty", kind: "file",
                            content: "empty.bin, application/octet-stream, no bytes, 00000001"),
                        .init(
                            name: "raw", kind: "file",
                            content: "raw.bin, application/octet-stream, 4 bytes, 013e0117"),
                    ])
            }
        }
    }

    @Test("the progress of a form and of a file ends at the full length", .requirement("S0.18"))
    func progress() async throws {
        try await withTemporaryFolder { folder in
            try await withService { service, server in
                let file = folder.appendingPathComponent("big.bin")
                try Data(repeating: 7, count: 300_000).write(to: file)
                let (one, other) = (TransferProgress(), TransferProgress())
                let receipt = try await service.send(file: file, progress: one)
                #expect(one.current.completed == 300_000)
                #expect(one.current.expected == 300_000)
                #expect(receipt.bytes == 300_000)
                let form = MultipartBody(.file("big", file))
                _ = try await service.send(form, progress: other)
                #expect(other.current.completed == form.length)
                #expect(server.requests.map(\.target) == ["/files/big.bin", "/multipart"])
                #expect(server.requests.first.map { "\($0.method)" } == "PUT")
            }
        }
    }

    @Test(
        "names an unreadable file without sending, or skips it on request",
        .requirement("S0.17"))
    func unreadable() async throws {
        try await withTemporaryFolder { folder in
            try await withService { service, server in
                let gone = folder.appendingPathComponent("gone.txt")
                let parts: [MultipartBody.Part] = [.field("title", "Holiday"), .file("note", gone)]
                for call in [
                    { try await service.send(MultipartBody(parts)) }, { try await service.send(file: gone) },
                ] {
                    let failure = await #expect(throws: Failure.self) { try await call() }
                    #expect(failure?.exitCode == .noInput)
                    #expect(failure?.message.contains(gone.path) == true)
                }
                #expect(server.requests.isEmpty)
                let form = MultipartBody(parts, skipsUnreadableFiles: true)
                #expect(form.failedFiles == [gone.path])
                let receipt = try await service.send(form)
                #expect(receipt.items.map(\.name) == ["title"])
            }
        }
    }

    @Test func whatTheServerRefusesIsSaidInItsWords() async throws {
        let session = StubSession(.json(#"{"message": "Too much."}"#, statusCode: 413))
        let url = try #require(URL(string: "https://uploads.example.com"))
        let service = UploadService(manager: .uploads(at: url, session: session))
        let error = await #expect(throws: NetworkError.self) { try await service.send(json: ["a": 1]) }
        #expect(error?.serverMessage == "Too much.")
        #expect(session.recordedRequests.map(\.target) == ["/json"])
    }
}
