import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

@testable import SwitchboardURLSession

/// Bodies of requests and responses.
@Suite(.inTurn, .timeLimit(.minutes(10)))
struct URLSessionBodyTests {
    private let url = URL(text: "https://h.example/")

    // MARK: Uploads

    @Test("data, files and streams are uploaded [URLSession uploads]", arguments: SessionKind.allCases)
    func uploads(kind: SessionKind) async throws {
        try await MockServer.run(handler: { .text("\($0.body.count)") }) { server in
            try await withFolder { folder in
                let file = folder.appendingPathComponent("upload.bin")
                try Data(count: 3_000_000).write(to: file)
                let session = NetworkManager(baseURL: server.url, session: kind.make()).urlSession()
                var streamed = URLRequest("PUT", server.url)
                streamed.httpBodyStream = InputStream(data: Data(count: 200_000))
                var measured = URLRequest("PUT", server.url, headers: ["Content-Length": "70000"])
                measured.httpBodyStream = InputStream(data: Data(count: 70_000))
                let texts = [
                    try await session.upload(for: URLRequest("POST", server.url), from: Data(count: 100_000)).0,
                    try await session.upload(for: URLRequest("PUT", server.url), fromFile: file).0,
                    try await session.data(for: streamed).0,
                    try await session.data(for: measured).0,
                    try await session.upload(for: URLRequest("POST", server.url), from: Data()).0,
                ].map { String(decoding: $0, as: UTF8.self) }
                #expect(texts == ["100000", "3000000", "200000", "70000", "0"])
                let lengths = server.requests.map { $0.headers["Content-Length"] }
                #expect(lengths[0] == "100000" && lengths[1] == "3000000" && lengths[3] == "70000")
                #expect(server.requests.allSatisfy { $0.headers.values(for: "Content-Length").count < 2 })
            }
        }
    }

    @Test("an upload with a Content-Length may be compressed by the manager")
    func compressed() async throws {
        let stub = StubSession { _ in .status(204) }
        let manager = NetworkManager(session: stub, options: RequestOptions { $0.compressesBody = true })
        var request = URLRequest("PUT", url, headers: ["Content-Length": "2"])
        request.httpBody = Data("{}".utf8)
        _ = try await manager.urlSession().data(for: request)
        let sent = try #require(stub.requests.first)
        #expect(sent.headers["Content-Encoding"] == "gzip" && sent.headers["Content-Length"] != "2")
    }

    @Test("an upload task ignores the body of its request")
    func bodyOfUploadRequest() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("upload.bin")
            try Data("file".utf8).write(to: file)
            let stub = StubSession { _ in .status(204) }
            let session = stub.urlSession()
            var (data, streamed) = (URLRequest("PUT", url), URLRequest("PUT", url))
            data.httpBody = Data("ignored".utf8)
            streamed.httpBodyStream = InputStream(data: Data("ignored".utf8))
            _ = try await session.upload(for: data, from: Data("data".utf8))
            _ = try await session.upload(for: data, fromFile: file)
            _ = try await session.upload(for: streamed, from: Data("data".utf8))
            #expect(stub.recordedRequests.map(\.text) == ["data", "file", "data"])
        }
    }

    @Test("a file is not read before it is sent, and can be sent again")
    func file() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("upload.bin")
            try Data("file".utf8).write(to: file)
            let seen = Deliveries<NetworkRequest>()
            let session = AdHocSession { request in
                seen.add(request)
                return NetworkResponse(statusCode: seen.all.count < 2 ? 503 : 200, url: request.url)
            }
            let manager = NetworkManager(
                session: session, interceptors: [RetryPolicy(clock: TestClock(skips: true))])
            _ = try await manager.urlSession().upload(for: URLRequest("PUT", url), fromFile: file)
            #expect(seen.all.map { ($0.body as? FileBody)?.url } == [file, file])
        }
    }

    @Test("a missing file is an error of the task")
    func missingFile() async throws {
        let session = NetworkManager(session: StubSession { _ in .text("") }).urlSession()
        let missing = URL(fileURLWithPath: "/nonexistent/upload")
        let error = await #expect(throws: URLError.self) {
            try await session.upload(for: URLRequest("PUT", url), fromFile: missing)
        }
        #expect(error?.code == .fileDoesNotExist)
    }

    @Test(
        "the delegate receives the progress of an upload [URLSession upload progress]", arguments: SessionKind.allCases)
    func uploadProgress(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.status(204))
            let delegate = TaskDelegate()
            let session = NetworkManager(baseURL: server.url, session: kind.make()).urlSession(delegate: delegate)
            session.uploadTask(with: URLRequest("POST", server.url), from: Data(count: 1_000_000)).resume()
            let end = try await delegate.ends.first()
            #expect(end == nil)
            let sent = delegate.sent.all
            #expect(sent.map { $0[0] }.reduce(0, +) == 1_000_000)
            #expect(sent.last?[1] == 1_000_000)
            #expect(sent.allSatisfy { $0[2] == 1_000_000 })
        }
    }

    @Test("a server refuses an upload before it has read it", arguments: SessionKind.curlAlone, [true, false])
    func refusedUpload(kind: SessionKind, hasManager: Bool) async throws {
        try await RawServer.run { connection in
            _ = try connection.readHead()
            try connection.send("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")
            connection.endSending()
            try connection.waitForEnd()
        } body: { server in
            try await withFolder { folder in
                let file = folder.appendingPathComponent("upload.bin")
                try Data(count: 8_000_000).write(to: file)
                let delegate = TaskDelegate()
                let session =
                    hasManager
                    ? NetworkManager(session: kind.make()).urlSession(delegate: delegate)
                    : kind.make().urlSession(delegate: delegate)
                var streamed = URLRequest("PUT", server.url, headers: ["Content-Length": "8000000"])
                streamed.httpBodyStream = InputStream(data: Data(count: 8_000_000))
                let put = URLRequest("PUT", server.url)
                let tasks = [
                    session.uploadTask(with: put, from: Data(count: 8_000_000)),
                    session.uploadTask(with: put, fromFile: file), session.dataTask(with: streamed),
                ]
                for task in tasks { task.resume() }
                let ends = try await delegate.ends.wait(for: 3)
                #expect(ends == [nil, nil, nil])
                #expect(delegate.statuses.all == [413, 413, 413])
                #expect(delegate.data.all.reduce(Data(), +) == Data("nonono".utf8))
            }
        }
    }

    @Test("Expect: 100-continue is sent")
    func expect() async throws {
        try await MockServer.run { server in
            server.enqueue(.status(204))
            let session = NetworkManager(baseURL: server.url).urlSession()
            let request = URLRequest(
                "PUT", server.url, body: Data(count: 2_000_000), headers: ["Expect": "100-continue"])
            _ = try await session.data(for: request)
            #expect(server.requests.map { $0.headers["Expect"] } == ["100-continue"])
            #expect(server.requests.map(\.body.count) == [2_000_000])
        }
    }

    // MARK: Streams

    @Test("a short stream becomes a body that can be sent again", arguments: [0, 1, 64 << 10, 100_000])
    func shortStream(count: Int) async throws {
        let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0) })
        // Without a length, an empty stream may have a writer.
        let length: Int64? = count == 0 ? 0 : nil
        let body = try await StreamReader(InputStream(data: data)).body(of: length, inMemoryUpTo: 200_000)
        #expect(body.isReplayable && !body.isStreamed)
        #expect(try body.encode() == data)
    }

    @Test("a long stream is read once while it is sent", arguments: [0, 100_000])
    func longStream(limit: Int) async throws {
        let data = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let body = try await StreamReader(InputStream(data: data)).body(of: 300_000, inMemoryUpTo: limit)
        #expect(!body.isReplayable && body.isStreamed && body.length == 300_000)
        var read = Data()
        for try await chunk in try body.makeStream() { read += chunk }
        #expect(read == data)
    }

    @Test("a stream is not cut after the chunk that passes its Content-Length")
    func longStream() async throws {
        let body = try await StreamReader(InputStream(data: Data(count: 100_000))).body(of: 10, inMemoryUpTo: 1 << 20)
        #expect(try body.encode().count == 100_000)
    }

    @Test("a short stream is not read before its writer has written", arguments: [nil, 10, 20] as [Int64?])
    func liveStream(length: Int64?) async throws {
        final class Live: InputStream {
            private var status = Status.notOpen
            private var hasStarted = false

            override var streamStatus: Status { status }
            override var hasBytesAvailable: Bool { !hasStarted }

            override func open() { status = .open }

            override func close() { status = .closed }

            override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
                if hasStarted { return 0 }
                hasStarted = true
                buffer.initialize(repeating: 7, count: 10)
                return 10
            }
        }
        let body = try await StreamReader(Live(data: Data())).body(of: length, inMemoryUpTo: 1 << 20)
        #expect(body.isStreamed == (length != 10) && body.length == length)
        var read = Data()
        for try await chunk in try body.makeStream() { read += chunk }
        #expect(read == Data(repeating: 7, count: 10))
    }

    @Test("a stream that fails is an error")
    func failingStream() async throws {
        let stream = try #require(InputStream(url: URL(fileURLWithPath: "/nonexistent/stream")))
        let error = await #expect(throws: NetworkError.self) {
            try await StreamReader(stream).body(of: nil, inMemoryUpTo: 10)
        }
        #expect(error?.code == .encodingFailed)
    }

    @Test("a stream that was read before, or fails without an error, is an error")
    func failureWithoutError() async throws {
        final class Failing: InputStream {
            override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int { -1 }
        }
        let used = InputStream(data: Data(count: 10))
        used.open()
        used.close()
        for (stream, reason) in [
            (used, "the body's stream was read before"), (Failing(data: Data(count: 10)), "failed"),
        ] {
            let error = await #expect(throws: NetworkError.self) {
                try await StreamReader(stream).body(of: nil, inMemoryUpTo: 10)
            }
            #expect(error?.code == .encodingFailed && error?.reason?.hasSuffix(reason) == true)
        }
    }

    @Test("canceling ends a stream without an end, and closes it", arguments: SessionKind.allCases)
    func endlessStream(kind: SessionKind) async throws {
        try await RawServer.run { connection in
            _ = try connection.readHead()
            try connection.waitForEnd()
        } body: { server in
            let stream = EndlessStream()
            var request = URLRequest("PUT", server.url)
            request.httpBodyStream = stream
            let session = NetworkManager(baseURL: server.url, session: kind.make()).urlSession()
            let task = Task { [request] in try await session.data(for: request) }
            _ = try await stream.reads.wait(for: 50)
            task.cancel()
            let error = await #expect(throws: URLError.self) { try await task.value }
            #expect(error?.code == .cancelled)
            #expect(try await stream.closings.first())
        }
    }

    // MARK: Responses

    @Test("a delegate of a session receives the body of each status in pieces", arguments: SessionKind.allCases)
    func piecesOfError(kind: SessionKind) async throws {
        let body = Data((0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try await MockServer.run { server in
            server.enqueue(.status(404, body: body))
            let delegate = TaskDelegate()
            kind.make().urlSession(delegate: delegate).dataTask(with: server.url).resume()
            let end = try await delegate.ends.first()
            #expect(end == nil)
            #expect(delegate.statuses.all == [404])
            #expect(delegate.data.all.reduce(Data(), +) == body)
            #expect((delegate.data.all.map(\.count).max() ?? 0) < 1 << 20)
        }
    }

    @Test("a delegate receives a body in pieces [URLSession bodies in pieces]", arguments: SessionKind.allCases)
    func pieces(kind: SessionKind) async throws {
        let body = Data((0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try await MockServer.run { server in
            server.enqueue(.data(body))
            let delegate = TaskDelegate()
            let session = NetworkManager(baseURL: server.url, session: kind.make()).urlSession(delegate: delegate)
            session.dataTask(with: server.url).resume()
            let end = try await delegate.ends.first()
            #expect(end == nil)
            #expect(delegate.data.all.reduce(Data(), +) == body)
            #expect(delegate.data.all.count > 1)
            #expect((delegate.data.all.map(\.count).max() ?? 0) < 1 << 20)
        }
    }

    @Test("the next piece is read when the delegate has received the last one")
    func backPressure() async throws {
        let reads = Protected(0)
        let source = AdHocSession { request in
            var response = NetworkResponse(statusCode: 200, url: request.url)
            response.bytes = ResponseBytes {
                let count = reads.withLock { reads in
                    reads += 1
                    return reads
                }
                return count <= 100 ? Data([UInt8(count)]) : nil
            }
            return response
        }
        let ahead = Deliveries<Int>()
        let delegate = TaskDelegate { data in ahead.add(reads.value - Int(data[0])) }
        source.urlSession(delegate: delegate).dataTask(with: url).resume()
        #expect(try await delegate.ends.first() == nil)
        #expect(ahead.all == Array(repeating: 0, count: 100))
    }

    @Test("a completion handler receives the whole body, also with a delegate", arguments: [true, false])
    func completionHandler(hasDelegate: Bool) async throws {
        let body = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let manager = NetworkManager(session: StubSession(.data(body).chunked(1_000)))
        let delegate = TaskDelegate()
        let session = manager.urlSession(delegate: hasDelegate ? delegate : nil)
        let received: Data? = await withCheckedContinuation { continuation in
            session.dataTask(with: url) { data, _, _ in continuation.resume(returning: data) }.resume()
        }
        #expect(received == body)
        #expect(delegate.data.all.isEmpty)
    }
}
