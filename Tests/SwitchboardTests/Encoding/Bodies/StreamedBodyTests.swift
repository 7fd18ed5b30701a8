import Foundation
import Switchboard
import SwitchboardTestSupport
import Testing

/// Bodies that are read while they are sent: FileBody and StreamBody.
@Suite
struct StreamedBodyTests {
    @Test(
        "each stream of a file yields all its bytes in order", arguments: [0, 1, 262_143, 262_144, 600_001])
    func fileIsReadAgain(count: Int) async throws {
        let bytes = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("switchboard-\(UUID().uuidString)")
        try bytes.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let body = FileBody(file, contentType: "image/png")
        #expect(body.length == Int64(count))
        #expect(body.additionalHeaders == ["Content-Type": "image/png"])
        #expect(body.isStreamed && body.isReplayable)
        for _ in 0..<2 {
            var read = Data()
            for try await chunk in try body.makeStream() { read.append(chunk) }
            #expect(read == bytes)
        }
        #expect(try body.encode() == bytes)
    }

    @Test(
        "a missing file or a folder is unreadableFile, and the reason names it",
        arguments: ["", "no-such-file", String(repeating: "folder/", count: 30) + "no-such-file"])
    func unreadableFileIsNamed(name: String) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(name)
        let body = FileBody(file)
        #expect(body.length == nil)
        let error = #expect(throws: NetworkError.self) { try body.makeStream() }
        #expect(error?.code == .unreadableFile)
        #expect(error?.reason?.contains(file.path) == true)
    }

    @Test("the error of a file that shrinks while it is read says so")
    func shrinkingFile() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("file")
            try Data(count: 600_000).write(to: file)
            let stream = try FileBody(file).makeStream()
            var chunks = stream.makeAsyncIterator()
            _ = try await chunks.next()
            try FileHandle(forWritingTo: file).truncate(atOffset: 300_000)
            let error = await #expect(throws: NetworkError.self) {
                while try await chunks.next() != nil {}
            }
            #expect(error?.code == .unreadableFile)
            #expect(error?.reason?.hasSuffix("/file\": its size changed while it was read") == true)
        }
    }

    @Test("a StreamBody opens its source for each stream; encode() throws", .requirement("S2.7"))
    func streamIsOpenedAnew() async throws {
        let body = StreamBody(length: 3, contentType: "text/csv", isReplayable: false) {
            let parts = Parts(["a", "", "bc"])
            return HTTPBodyStream { await parts.next() }
        }
        #expect(body.length == 3)
        #expect(!body.isReplayable)
        for _ in 0..<2 {
            let read = try await body.makeStream().elements().map { String(decoding: $0, as: UTF8.self) }
            #expect(read == ["a", "bc"])
        }
        #expect(throws: NetworkError.self) { try body.encode() }
    }

    private actor Parts {
        private var parts: [String]
        init(_ parts: [String]) { self.parts = parts }
        func next() -> Data? { parts.isEmpty ? nil : Data(parts.removeFirst().utf8) }
    }
}
