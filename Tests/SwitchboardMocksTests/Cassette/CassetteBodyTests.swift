import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct CassetteBodyTests {
    private let url = "https://h.example/"

    @Test(
        "a body is written as text or base64, and read unchanged",
        arguments: [
            ("plain é\n", "text/plain", nil), ("", "text/plain", nil), (#"{"a":1}"#, "application/json", nil),
            ("é", "text/plain; charset=ISO-8859-1", "base64"), ("e", "text/plain; charset=iso-8859-1", nil),
            ("\u{FEFF}mark", "text/plain", "base64"), ("nul\0", "text/plain", "base64"),
            ("\u{1}", "image/png", "base64"), ("ab", "text/plain; charset=utf-16", "base64"),
        ])
    func bodyEncoding(text: String, type: String, encoding: String?) async throws {
        try await withFile { file in
            let body = Data(text.utf8)
            let request = NetworkRequest(.post, text: url, body: DataBody(body, contentType: type))
            try await Cassette.recording([request], in: file) { _ in
                .status(200, headers: ["Content-Type": type], body: body)
            }
            let archive = try Archive(file)
            #expect(archive.text("response.content.encoding") == encoding)
            #expect(archive.text("request.postData._encoding") == encoding)
            #expect(
                archive.text("response.content.text")
                    == (body.isEmpty ? nil : encoding == nil ? text : body.base64EncodedString()))
            #expect(archive.value("response.content.size") as? Int == body.count)
            #expect(archive.value("request.bodySize") as? Int == body.count)
            #expect(try await Cassette.playing(file).send(request).body == body)
        }
    }

    @Test("every kind of body is read once and sent unchanged")
    func bodyKinds() async throws {
        try await withFile { file in
            let content = Data("from a file".utf8)
            let other = file.deletingLastPathComponent().appendingPathComponent("upload")
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try content.write(to: other)
            let opened = Deliveries<String>()
            let stream = StreamBody(contentType: "text/csv", isReplayable: false) {
                opened.add("opened")
                let chunks = Protected(["a,", "b", ""][...])
                return HTTPBodyStream { chunks.withLock { $0.popFirst() }.map { Data($0.utf8) } }
            }
            try await MockServer.run { _ in
                .text("ok")
            } body: { server in
                let bodies: [any HTTPBody] = [FileBody(other), stream, DataBody(Data("x".utf8)), FormBody(["a": "b"])]
                let requests = bodies.map { NetworkRequest(.post, server.url, body: $0) }
                try await Cassette(file: file, mode: .recordMissing).run { cassette in
                    for request in requests {
                        let response = try await cassette.send(request)
                        #expect(response.request?.body.isReplayable == request.body.isReplayable)
                    }
                }
                #expect(server.requests.map(\.text) == ["from a file", "a,b", "x", "a=b"])
                #expect(
                    server.requests.map { $0.headers["Content-Type"]?.mediaType } == [
                        "application/octet-stream", "text/csv", nil, "application/x-www-form-urlencoded",
                    ])
                #expect(opened.all == ["opened"])
                try await Cassette(file: file, mode: .strict, recording: NoNetwork()).run { cassette in
                    for request in requests { _ = try await cassette.send(request) }
                }
            }
            #expect(try Archive(file).text("request.postData.text", of: 1) == "a,b")
        }
    }

    @Test("the body of a recorded or forwarded request is reported as sent once")
    func sentOnce() async throws {
        try await withFile { file in
            let stub = StubSession { _ in .text("recorded") }
            let cassette = try Cassette(file: file, mode: .rewrite, recording: stub)
            for session in [cassette, StubSession(fallingBackTo: stub)] as [any NetworkSession] {
                for body in [DataBody(Data("once".utf8)), OneShotBody()] as [any HTTPBody] {
                    let counts = Deliveries<Int64>()
                    var request = NetworkRequest(.put, text: url, body: body)
                    request.options.onBodySent = { counts.add($0) }
                    _ = try await session.send(request)
                    #expect(counts.all == [4])
                }
            }
        }
    }

    @Test("a body that cannot be read ends the request")
    func unreadableBody() async throws {
        try await withFile { file in
            let cassette = try Cassette(file: file, mode: .recordMissing, recording: NoNetwork())
            for body in [FileBody(file) as any HTTPBody, JSONBody(Double.nan)] {
                let error = await #expect(throws: NetworkError.self) {
                    try await cassette.send(NetworkRequest(.post, text: url, body: body))
                }
                #expect(error?.code.isKind(of: .encodingFailed) == true)
            }
        }
    }

    @Test("a download is recorded from its file, and written when played")
    func download() async throws {
        try await withFile { file in
            let destination = file.deletingLastPathComponent().appendingPathComponent("picture")
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            let bytes = Data((0...255).map { UInt8($0) })
            try await MockServer.run {
                $0.path == "/missing" ? .text("none", statusCode: 404) : .data(bytes)
            } body: { server in
                let task = HTTPTask.download(to: destination)
                let missing = URLEndPoint(.get, server.url.appendingPathComponent("missing"), task: task)
                for mode in [Cassette.Mode.rewrite, .strict] {
                    try await Cassette(file: file, mode: mode).run { cassette in
                        let router = Router<URLEndPoint>(session: cassette)
                        let response = try await router.rawResponse(for: URLEndPoint(.get, server.url, task: task))
                        #expect(response.fileURL == destination)
                        #expect(response.body.isEmpty)
                        #expect(response.metrics.bytesReceived == 256)
                        #expect(try Data(contentsOf: destination) == bytes)
                        try FileManager.default.removeItem(at: destination)
                        #expect(try await router.rawResponse(for: missing).text == "none")
                        #expect(!FileManager.default.fileExists(atPath: destination.path))
                    }
                }
                #expect(server.requests.count == 2)
                let limited = RequestOptions { $0.limits.downloadedFile = 255 }
                let error = await #expect(throws: NetworkError.self) {
                    try await Router<URLEndPoint>(session: Cassette.playing(file))
                        .rawResponse(for: URLEndPoint(.get, server.url, task: task, options: limited))
                }
                #expect(error?.code == .responseTooLarge)
                #expect(!FileManager.default.fileExists(atPath: destination.path))
            }
        }
    }

    @Test("a stream is delivered as it arrives and recorded as far as it was read")
    func stream() async throws {
        try await withFile { file in
            try await MockServer.run { server in
                var request = NetworkRequest(.get, server.url)
                request.options.streamsResponse = true
                server.enqueue(.text("all of it").chunked(4), .text("first, and").stalled(after: 6))
                let session = try #require(Self.streaming)
                try await Cassette(file: file, mode: .recordMissing, recording: session).run { cassette in
                    let whole = try await cassette.send(request)
                    #expect(whole.body.isEmpty)
                    #expect(try await Self.text(whole.bytes) == "all of it")
                    // The second response never ends. The test reads only its beginning.
                    var endless: ResponseBytes.AsyncIterator? = try await cassette.send(request).bytes
                        .makeAsyncIterator()
                    var text = ""
                    while text.utf8.count < 6 {
                        text += String(decoding: try await #require(endless?.next()), as: UTF8.self)
                    }
                    #expect(text == "first,")
                    endless = nil
                }
                #expect(try Archive(file).text("response.httpVersion") == "HTTP/1.1")
                #expect(try Archive(file).text("serverIPAddress") == "127.0.0.1")
                server.stop()
                try await Cassette(file: file, mode: .replay, recording: NoNetwork()).run { cassette in
                    for text in ["all of it", "first,"] {
                        let response = try await cassette.send(request)
                        #expect(response.body.isEmpty)
                        #expect(try await Self.text(response.bytes) == text)
                    }
                }
            }
        }
    }

    @Test("a stream that breaks is not recorded")
    func brokenStream() async throws {
        try await withFile { file in
            try await MockServer.run { server in
                var request = NetworkRequest(.get, server.url)
                request.options.streamsResponse = true
                server.enqueue(.truncated(after: 3))
                let cassette = try Cassette(
                    file: file, mode: .recordMissing, recording: #require(Self.streaming))
                let bytes = try await cassette.send(request).bytes
                let error = await #expect(throws: NetworkError.self) { try await Self.text(bytes) }
                #expect(error?.code == .truncatedBody)
                try cassette.save()
                #expect(try Archive(file).entries.isEmpty)
            }
        }
    }

    @Test("rewrite keeps the file when its only stream breaks")
    func brokenRewrite() async throws {
        try await withFile { file in
            var request = NetworkRequest(text: url)
            request.options.streamsResponse = true
            try await Cassette.recording([NetworkRequest(text: url)], in: file)
            let before = try Archive(file).text
            let stub = StubSession(.text("abcdef").truncated(after: 3))
            let cassette = try Cassette(file: file, mode: .rewrite, recording: stub)
            let bytes = try await cassette.send(request).bytes
            await #expect(throws: NetworkError.self) { try await Self.text(bytes) }
            try cassette.save()
            #expect(try Archive(file).text == before)
        }
    }

    @Test("trailers of a stream are recorded")
    func streamedTrailers() async throws {
        try await withFile { file in
            var request = NetworkRequest(text: url)
            request.options.streamsResponse = true
            var response = MockResponse.text("abc")
            response.trailers = ["X-Sum": "1"]
            let cassette = try Cassette(file: file, mode: .recordMissing, recording: StubSession(response))
            #expect(try await Self.text(cassette.send(request).bytes) == "abc")
            try cassette.save()
            let bytes = try await Cassette.playing(file).send(request).bytes
            #expect(try await Self.text(bytes) == "abc")
            #expect(bytes.result?.trailers == ["X-Sum": "1"])
        }
    }

    @Test("a played entry is subject to the request's limits")
    func limits() async throws {
        try await withFile { file in
            var request = NetworkRequest(text: url)
            try await Cassette.recording([request], in: file) { _ in .text("abcd", headers: ["X": "y"]) }
            request.limits.responseBody = 3
            let body = await #expect(throws: NetworkError.self) { try await Cassette.playing(file).send(request) }
            #expect(body?.code == .responseTooLarge)
            #expect(body?.statusCode == 200)
            #expect(body?.headers?["X"] == "y")
            #expect(body?.body == Data("abc".utf8))
            request.limits = ResponseLimits(responseHeaders: 10)
            let head = await #expect(throws: NetworkError.self) { try await Cassette.playing(file).send(request) }
            #expect(head?.code == .headersTooLarge)
        }
    }

    @Test("trailers are played")
    func trailers() async throws {
        let session = AdHocSession { request in
            var response = NetworkResponse(statusCode: 200, body: Data("x".utf8), url: request.url)
            response.trailers = ["X-Sum": "1", "X-Token": "aaaaaaaa"]
            return response
        }
        try await withFile { file in
            let request = NetworkRequest(text: url)
            try await Cassette(file: file, mode: .rewrite, recording: session).run { _ = try await $0.send(request) }
            let played = try await Cassette.playing(file).send(request)
            #expect(played.trailers == ["X-Sum": "1", "X-Token": "REDACTED"])
        }
    }

    /// The default session.
    private static let streaming: (any NetworkSession)? = DefaultSession.make()

    private static func text(_ bytes: ResponseBytes) async throws -> String {
        var data = Data()
        for try await chunk in bytes { data += chunk }
        return String(decoding: data, as: UTF8.self)
    }
}

extension String {
    fileprivate var mediaType: String { String(prefix { $0 != ";" }) }
}
