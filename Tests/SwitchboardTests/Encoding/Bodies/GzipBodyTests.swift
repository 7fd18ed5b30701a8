@testable import SwitchboardPlatform
import Foundation
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@testable import Switchboard

/// Compressed bodies, which Python's gzip decompresses.
@Suite(.timeLimit(.minutes(10)))
struct GzipBodyTests {
    private let url = URL(text: "https://api.example.com/a")

    private func noise(_ count: Int, seed: UInt64 = 1) -> Data {
        var generator = SeededGenerator(seed: seed)
        return Data((0..<count / 8).flatMap { _ in withUnsafeBytes(of: generator.next()) { Array($0) } })
    }

    private func streamed(_ body: any HTTPBody) async throws -> [Data] {
        let pieces = try await body.makeStream().elements()
        return pieces
    }

    @Test("Python reads a body's gzip, whole or streamed, and text gets smaller", .needsPython)
    func inMemory() async throws {
        let text = Data(String(repeating: "the same again and again, ", count: 10_000).utf8)
        let contents = [
            Data("x".utf8), text, noise(1_000_000), Data(count: 5_000_000), noise(65_536), text.dropFirst(7),
        ]
        var packed: [Data] = []
        for content in contents {
            let body = GzipBody(DataBody(content))
            let whole = try body.encode()
            #expect(try body.encode() == whole)
            packed += [whole, Data(try await streamed(body).joined())]
        }
        let expected = contents.flatMap { [$0, $0] }
        #expect(try await Python.gunzip(packed) == expected)
        #expect(packed[2].count < text.count / 50)
    }

    @Test("a stream is compressed in pieces of 64 KiB, equal at each read", .requirement("S2.7"), .needsPython)
    func streams() async throws {
        let content = noise(600_000) + Data(count: 1_000_000) + noise(800, seed: 2)
        for size in [1_000, 65_536, 2_000_000] {
            let chunks = stride(from: 0, to: content.count, by: size).map {
                content[$0..<min($0 + size, content.count)]
            }
            let body = GzipBody(StreamBody { .init(chunks: chunks) })
            let pieces = try await streamed(body)
            #expect(pieces.dropLast().allSatisfy { $0.count == 65_536 })
            #expect((1...65_536).contains(pieces.last?.count ?? 0))
            #expect(try await streamed(body) == pieces)
            let unpacked = try await Python.gunzip([Data(pieces.joined())])
            #expect(unpacked == [content])
        }
    }

    @Test("a gzip body reads no more than the requested pieces need")
    func laziness() async throws {
        let read = Deliveries<Int>()
        let chunk = noise(65_536)
        let body = GzipBody(
            StreamBody {
                HTTPBodyStream {
                    read.add(1)
                    return chunk
                }
            })
        let stream = try body.makeStream()
        #expect(read.all.isEmpty)
        for count in 1...20 {
            #expect(try await stream.next()?.count == 65_536)
            #expect(read.all.count <= count + 4)
        }
    }

    @Test("a file whose size changes while it is compressed is an error", arguments: [300_000, 2_000_000])
    func changedFile(size: Int) async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("file")
            try noise(1_000_000).write(to: file)
            let stream = try GzipBody(FileBody(file)).makeStream()
            #expect(try await stream.next() != nil)
            try FileHandle(forWritingTo: file).truncate(atOffset: UInt64(size))
            let error = await #expect(throws: NetworkError.self) { while try await stream.next() != nil {} }
            #expect(error?.code == .unreadableFile)
        }
    }

    @Test("cancellation ends an endless stream that never fills a piece")
    func endlessZeros() async throws {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            let zeros = Data(count: 1_000)
            return try await GzipBody(StreamBody { HTTPBodyStream { zeros } }).makeStream().next()
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("an empty stream becomes a valid gzip; an empty body stays empty", .needsPython)
    func nothing() async throws {
        let stream = try await streamed(GzipBody(StreamBody { .init(chunks: []) }))
        #expect(try await Python.gunzip([Data(stream.joined())]) == [Data()])
        let form = GzipBody(FormBody([:]))
        #expect(try form.encode().isEmpty)
        #expect(try await streamed(form).isEmpty)
        #expect(GzipBody(EmptyBody()).isEmpty)
    }

    @Test("a gzip body keeps the inner body's properties, but has no length")
    func properties() throws {
        let once = GzipBody(StreamBody(length: 7, contentType: "text/csv", isReplayable: false) { .init(chunks: []) })
        #expect(once.isStreamed && !once.isReplayable && !once.isEmpty)
        #expect(once.length == nil)
        #expect(once.additionalHeaders == ["Content-Type": "text/csv", "Content-Encoding": "gzip"])
        let memory = GzipBody(DataBody(Data("x".utf8)))
        #expect(!memory.isStreamed && memory.isReplayable)
        #expect(memory.length == nil)
        // RFC 9110 §8.4 lists codings in the order in which they were applied.
        let twice = GzipBody(DataBody(Data("x".utf8), additionalHeaders: ["Content-Encoding": "br"]))
        #expect(twice.additionalHeaders == ["Content-Encoding": "br, gzip"])
    }

    @Test("errors of the inner body are thrown unchanged")
    func errors() async throws {
        struct Spoiled: Error {}
        let error = #expect(throws: NetworkError.self) { try GzipBody(JSONBody(["a": Double.nan])).encode() }
        #expect(error?.code == .encodingFailed)
        let broken = GzipBody(StreamBody { .init(chunks: [Data("abc".utf8)], error: Spoiled()) })
        await #expect(throws: Spoiled.self) { try await streamed(broken) }
        #expect(throws: Spoiled.self) { try GzipBody(StreamBody { throw Spoiled() }).makeStream() }
    }

    @Test("without zlib gzip is unsupported, and the reason names the library")
    func noZlib() async throws {
        let failure = DynamicLibrary.Failure(text: "libz.so.1 was not found")
        let body = GzipBody(DataBody(Data("x".utf8)), zlib: .failure(failure))
        for error in [
            #expect(throws: NetworkError.self) { try body.encode() },
            #expect(throws: NetworkError.self) { try body.makeStream() },
        ] {
            #expect(error?.code == .unsupported)
            #expect(error?.reason == "gzip needs zlib, and libz.so.1 was not found")
        }
        let missing = #expect(throws: DynamicLibrary.Failure.self) { try Zlib(firstOf: ["libno-such.so.1"]) }
        #expect(missing?.text == "libno-such.so.1 was not found")
        let pointer = MemoryLayout<UnsafeRawPointer>.size
        #expect(MemoryLayout<Zlib.Stream>.size == 14 * pointer)
    }

    // MARK: Requests

    private struct Film: Codable, Equatable {
        var originalTitle = "M"
    }

    private func build(_ task: HTTPTask, _ change: @Sendable @escaping (inout RequestOptions) -> Void) throws
        -> NetworkRequest
    {
        try RequestBuilder(options: RequestOptions(change)).makeRequest(for: URLEndPoint(.post, url, task: task))
    }

    @Test("a JSON body inside uses the router's encoder, unless it has its own", .needsPython)
    func encoder() async throws {
        let snake = JSONEncoder()
        snake.keyEncodingStrategy = .convertToSnakeCase
        let own = JSONEncoder()
        let bodies: [any HTTPBody] = [
            JSONBody(Film()), JSONBody(Film(), encoder: own), GzipBody(JSONBody(Film())),
        ]
        let packed = try bodies.map { body in
            try build(.requestBody(GzipBody(body))) { $0.encoder = snake }.body.encode()
        }
        let unpacked = try await Python.gunzip(packed)
        #expect(String(decoding: unpacked[0], as: UTF8.self) == #"{"original_title":"M"}"#)
        #expect(String(decoding: unpacked[1], as: UTF8.self) == #"{"originalTitle":"M"}"#)
        #expect(try await Python.gunzip([unpacked[2]]) == [unpacked[0]])
        let plain = try build(.requestBody(JSONBody(Film()))) { $0.encoder = snake }
        #expect(try plain.sentText == #"{"original_title":"M"}"#)
    }

    @Test("the option wraps every body and keeps its headers and encoder", .needsPython)
    func option() async throws {
        let tasks: [HTTPTask] = [
            .requestBody(JSONBody(["a": 1])), .requestParameters(bodyParameters: ["a": 1], bodyEncoding: .formEncoding),
            .upload(DataBody(Data("raw".utf8), contentType: "text/plain")),
        ]
        let requests = try tasks.map { try build($0) { $0.compressesBody = true } }
        for request in requests { #expect(request.headers.values(for: "Content-Encoding") == ["gzip"]) }
        let unpacked = try await Python.gunzip(try requests.map { try $0.body.encode() })
        #expect(unpacked.map { String(decoding: $0, as: UTF8.self) } == [#"{"a":1}"#, "a=1", "raw"])
        #expect(requests.map { ($0.headers["Content-Type"] ?? "").prefix(16) == "application/json" }[0])
        #expect(requests[2].headers["Content-Type"] == "text/plain")
        let file = try build(.upload(FileBody(URL(fileURLWithPath: #filePath)))) { $0.compressesBody = true }
        #expect(file.body is GzipBody && file.body.isStreamed)
    }

    @Test("the option skips encoded bodies, empty bodies and exempt endpoints")
    func optionLeavesAlone() throws {
        let plain = HTTPTask.requestBody(DataBody(Data("raw".utf8)))
        #expect(try build(plain) { _ in }.sentText == "raw")
        let coded = DataBody(Data("raw".utf8), additionalHeaders: ["Content-Encoding": "br"])
        let kept = try build(.requestBody(coded)) { $0.compressesBody = true }
        #expect(try kept.sentText == "raw")
        #expect(kept.headers.values(for: "Content-Encoding") == ["br"])
        let headers = HTTPTask.requestBody(DataBody(Data("raw".utf8)), headers: ["content-encoding": "zstd"])
        #expect(try build(headers) { $0.compressesBody = true }.sentText == "raw")
        let own = HTTPTask.requestBody(GzipBody(DataBody(Data("raw".utf8))))
        let once = try build(own) { $0.compressesBody = true }
        #expect(once.headers.values(for: "Content-Encoding") == ["gzip"])
        let whole = try GzipBody(DataBody(Data("raw".utf8))).encode()
        #expect(try once.body.encode() == whole)
        for task in [
            HTTPTask.request, .requestBody(EmptyBody()), .requestBody(DataBody(Data())), .requestBody(FormBody([:])),
        ] {
            let empty = try build(task) { $0.compressesBody = true }
            #expect(empty.body.isEmpty)
            #expect(!empty.headers.contains("Content-Encoding") && !empty.headers.contains("Content-Type"))
        }
        var builder = RequestBuilder(headers: ["Content-Encoding": "x-own"])
        builder.options.compressesBody = true
        #expect(try builder.makeRequest(for: URLEndPoint(.post, url, task: plain)).sentText == "raw")
        builder = RequestBuilder(options: RequestOptions { $0.compressesBody = true })
        let excepted = EndPointFixture(
            path: "p", httpMethod: .post, task: plain, options: RequestOptions { $0.compressesBody = false })
        #expect(try builder.makeRequest(for: excepted).sentText == "raw")
    }

    @Test("neither the curl command nor the log shows compressed bytes")
    func logs() async throws {
        let secret = JSONBody(["password": "hunter2"])
        let built = try build(.requestBody(secret)) { $0.compressesBody = true }
        let count = try built.body.encode().count
        #expect(built.curlCommand.hasSuffix(" --data-binary @BODY  # BODY: a file of \(count) bytes"))
        let bare = NetworkRequest(.post, url, body: GzipBody(secret))
        #expect(bare.curlCommand.hasSuffix("  # BODY: a file of unknown length"))
        let texts = Deliveries<String>()
        let logger = NetworkLogger(level: .body, writesCurlCommand: true) { texts.add($0) }
        let router = Router<URLEndPoint>(session: StubSession(.text("ok"), .text("ok")), interceptors: [logger])
        for body in [GzipBody(secret), GzipBody(StreamBody { .init(chunks: []) })] as [any HTTPBody] {
            _ = try await router.response(for: URLEndPoint(.post, url, task: .requestBody(body)))
        }
        #expect(texts.all[0].contains("(\(count) bytes that are no text)"))
        #expect(texts.all[2].contains("(body of unknown length)"))
        #expect(texts.all.allSatisfy { $0.utf8.allSatisfy { $0 == 0x0A || 0x20..<0x7F ~= $0 } })
    }
}
