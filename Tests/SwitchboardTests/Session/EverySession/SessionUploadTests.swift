import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Request bodies that are produced or read while they are sent.
@Suite(.inTurn, .serialized, .timeLimit(.minutes(10)))
struct SessionUploadTests {
    @Test(
        "a stream arrives whole, chunked or with a length [streamed uploads]",
        arguments: SessionKind.allCases, [true, false])
    func streamedBodyArrives(kind: SessionKind, isLengthKnown: Bool) async throws {
        let chunks = (0..<100).map { Data("chunk \($0);".utf8) } + [Data(), Data(repeating: 0x41, count: 300_000)]
        let expected = Data(chunks.joined())
        let body = StreamBody(length: isLengthKnown ? Int64(expected.count) : nil, contentType: "text/csv") {
            .init(chunks: chunks)
        }
        try await withEchoServer { server in
            let session = kind.make()
            for _ in 1...2 {
                _ = try await session.send(NetworkRequest(.put, server.url, body: body))
                let seen = try await server.takeRequest()
                #expect(seen.body == expected)
                #expect(seen.headers["Content-Type"] == "text/csv")
                let framing = ["Content-Length", "Transfer-Encoding"].flatMap { seen.headers.values(for: $0) }
                #expect(framing == [String(expected.count)] || !isLengthKnown && framing == ["chunked"])
            }
            #expect(!kind.freesConnectionAtEnd || server.connectionCount == 1)
        }
    }

    @Test("a stream without bytes is an empty body [streamed uploads]", arguments: SessionKind.allCases)
    func emptyStream(kind: SessionKind) async throws {
        try await withEchoServer { server in
            let session = kind.make()
            for length in [nil, 0, 0] as [Int64?] {
                let body = StreamBody(length: length) { .init(chunks: []) }
                _ = try await session.send(NetworkRequest(.post, server.url, body: body))
                let seen = try await server.takeRequest()
                #expect(seen.body == Data())
                #expect(length == nil || seen.headers.values(for: "Content-Length") == ["0"])
                #expect(length == nil || !seen.headers.contains("Transfer-Encoding"))
            }
            #expect(!kind.freesConnectionAtEnd || server.connectionCount == 1)
        }
    }

    @Test(
        "a stream's error ends the request as encodingFailed [streamed uploads]",
        arguments: SessionKind.allCases, [0, 1, 5])
    func throwingStream(kind: SessionKind, count: Int) async throws {
        struct Spoiled: Error, Equatable {}
        let chunks = Array(repeating: Data(repeating: 1, count: 200_000), count: count)
        try await MockServer.run(handler: { _ in .text("whole?") }) { server in
            for length in [nil, 2_000_000] as [Int64?] {
                let body = StreamBody(length: length) { .init(chunks: chunks, error: Spoiled()) }
                let error = await #expect(throws: NetworkError.self) {
                    try await kind.make().send(NetworkRequest(.post, server.url, body: body))
                }
                #expect(error?.code == .encodingFailed)
                #expect(error?.underlying is Spoiled)
                #expect(error?.reason == "Spoiled was thrown by the body's stream")
                #expect(error?.method == .post)
            }
            // The server never accepts a partial body.
            #expect(server.requests.isEmpty)
        }
    }

    @Test(
        "a stream that fails to open is encodingFailed [streamed uploads]",
        arguments: SessionKind.allCases)
    func unopenedStream(kind: SessionKind) async throws {
        struct Locked: Error {}
        try await MockServer.run { server in
            let body = StreamBody { throw Locked() }
            let error = await #expect(throws: NetworkError.self) {
                try await kind.make().send(NetworkRequest(.post, server.url, body: body))
            }
            #expect(error?.code == .encodingFailed)
            #expect(error?.underlying is Locked)
            #expect(error?.reason == "Locked was thrown by the body's stream")
            #expect(server.requests.isEmpty)
        }
    }

    @Test(
        "a stream's own CancellationError is encodingFailed [streamed uploads]",
        arguments: SessionKind.allCases)
    func cancelledStream(kind: SessionKind) async throws {
        try await MockServer.run { server in
            let body = StreamBody { .init(chunks: [Data("a".utf8)], error: CancellationError()) }
            for session in [kind.make(), StubSession(.status(200))] as [any NetworkSession] {
                let error = await #expect(throws: NetworkError.self) {
                    try await session.send(NetworkRequest(.post, server.url, body: body))
                }
                #expect(error?.code == .encodingFailed)
                #expect(error?.reason == "CancellationError was thrown by the body's stream")
            }
        }
    }

    @Test(
        "a wrong announced length is encodingFailed [streamed uploads]",
        arguments: SessionKind.allCases,
        [[0], [999], [1_001], [400_000], [1_000, 1], [500, 500, 0, 7], [999, 1, 400_000]])
    func wrongLength(kind: SessionKind, counts: [Int]) async throws {
        try await MockServer.run(handler: { _ in .text("whole?") }) { server in
            let body = StreamBody(length: 1_000) { .init(chunks: counts.map { Data(count: $0) }) }
            let error = await #expect(throws: NetworkError.self) {
                try await kind.make().send(NetworkRequest(.post, server.url, body: body))
            }
            #expect(error?.code == .encodingFailed)
            #expect(error?.reason?.contains("1000") == true)
            #expect(server.requests.isEmpty)
        }
    }

    @Test("bytes of a stream that announces none are encodingFailed", arguments: SessionKind.allCases)
    func bytesBehindNone(kind: SessionKind) async throws {
        try await MockServer.run(handler: { _ in .text("whole?") }) { server in
            let body = StreamBody(length: 0) { .init(chunks: [Data("abc".utf8)]) }
            let error = await #expect(throws: NetworkError.self) {
                try await kind.make().send(NetworkRequest(.put, server.url, body: body))
            }
            #expect(error?.code == .encodingFailed)
        }
    }

    @Test("a negative length is encodingFailed, before anything is sent", arguments: SessionKind.allCases)
    func negativeLength(kind: SessionKind) async throws {
        try await MockServer.run(handler: { _ in .text("whole?") }) { server in
            let body = StreamBody(length: -5) { .init(chunks: []) }
            let error = await #expect(throws: NetworkError.self) {
                try await kind.make().send(NetworkRequest(.put, server.url, body: body))
            }
            #expect(error?.code == .encodingFailed && server.requests.isEmpty)
        }
    }

    @Test("an empty chunk is not the end of a body [streamed uploads]", arguments: SessionKind.allCases, [nil, 7])
    func emptyChunk(kind: SessionKind, length: Int64?) async throws {
        try await MockServer.run(handler: { .data($0.body) }) { server in
            let chunks = ["", "abc", "", "", "defg", ""].map { Data($0.utf8) }
            let body = StreamBody(length: length) { .init(chunks: chunks) }
            let response = try await kind.make().send(NetworkRequest(.post, server.url, body: body))
            #expect(response.text == "abcdefg")
        }
    }

    @Test("a large last chunk waits for the end of the stream", arguments: SessionKind.allCases, [0, 1])
    func chunkBehindALargeOne(kind: SessionKind, extra: Int) async throws {
        try await MockServer.run(handler: { .text(String($0.body.count)) }) { server in
            let body = StreamBody(length: 3 << 20) { .init(chunks: [Data(count: 3 << 20), Data(count: extra)]) }
            var request = NetworkRequest(.post, server.url, body: body)
            request.timeouts.attempt = .seconds(300)  // Turns a hang into a failure.
            guard extra > 0 else {
                let response = try await kind.make().send(request)
                return #expect(response.text == String(3 << 20))
            }
            let error = await #expect(throws: NetworkError.self) { try await kind.make().send(request) }
            #expect(error?.code == .encodingFailed)
        }
    }

    // MARK: Files

    @Test(
        "a file is sent with its length, an empty one too [uploads from files]", arguments: SessionKind.allCases,
        [0, 1, 700_000])
    func file(kind: SessionKind, size: Int) async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("movie.bin")
            let content = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            try content.write(to: file)
            try await withEchoServer { server in
                let request = NetworkRequest(.put, server.url, body: FileBody(file, contentType: "video/x"))
                _ = try await kind.make().send(request)
                let seen = try await server.takeRequest()
                #expect(seen.body == content)
                #expect(seen.headers.values(for: "Content-Length") == [String(size)])
                #expect(seen.headers["Content-Type"] == "video/x")
            }
        }
    }

    @Test(
        "a missing file or a folder is unreadableFile [uploads from files]",
        arguments: SessionKind.allCases, ["missing", "folder"])
    func noFile(kind: SessionKind, what: String) async throws {
        try await withFolder { folder in
            let file = what == "folder" ? folder : folder.appendingPathComponent("missing")
            try await MockServer.run(handler: { _ in .text("whole?") }) { server in
                let error = await #expect(throws: NetworkError.self) {
                    try await kind.make().send(NetworkRequest(.put, server.url, body: FileBody(file)))
                }
                #expect(error?.code == .unreadableFile)
                #expect(error?.description.contains(file.path) == true)
                #expect(server.requests.isEmpty)
            }
        }
    }

    @Test("a file that is known to be missing opens no connection", arguments: SessionKind.allCases)
    func noConnectionWithoutFile(kind: SessionKind) async throws {
        try await withFolder { folder in
            let (missing, file) = (folder.appendingPathComponent("missing"), folder.appendingPathComponent("file"))
            try Data(count: 10).write(to: file)
            let form = MultipartBody(.field("title", "Holiday"), .file("photo", missing))
            let bodies: [any HTTPBody] = [
                FileBody(missing), FileBody(folder), FileBody(file, range: 5..<11), form, GzipBody(FileBody(missing)),
                GzipBody(form),
            ]
            try await MockServer.run(handler: { _ in .text("received") }) { server in
                let session = kind.make()
                for body in bodies {
                    let error = await #expect(throws: NetworkError.self) {
                        try await session.send(NetworkRequest(.put, server.url, body: body))
                    }
                    #expect(error?.code == .unreadableFile)
                }
                _ = try await session.send(NetworkRequest(.put, server.url, body: FileBody(file)))
                #expect(server.connectionCount == 1)
            }
        }
    }

    // MARK: Responses before the end

    @Test(
        "an early 413 is the response [answers before the body's end]",
        arguments: SessionKind.allCases)
    func earlyAnswer(kind: SessionKind) async throws {
        try await MockServer.run(bodyLimit: 1_000) { server in
            let request = NetworkRequest(.post, server.url, body: DataBody(Data(count: 3_000_000)))
            let response = try await kind.make().send(request)
            #expect(response.statusCode == 413)
            #expect(response.text.hasPrefix("MockServer: the body has more than 1000 bytes"))
        }
    }

    @Test(
        "a response arrives while the stream waits [a refusal ends the upload]",
        arguments: SessionKind.curlAlone,
        [
            "Content-Length: 6\r\nConnection: close\r\n\r\nenough", "Content-Length: 6\r\n\r\nenough",
            "Transfer-Encoding: chunked\r\n\r\n6\r\nenough\r\n0\r\n\r\n",
            "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n6\r\nenough\r\n0\r\n\r\n",
        ])
    func answerWhileStreamWaits(kind: SessionKind, rest: String) async throws {
        try await RawServer.run { client in
            _ = try client.readHead()
            try client.read(11)  // 6 CRLF "sliver" CRLF
            try client.send("HTTP/1.1 403 No\r\n" + rest)
            try client.waitForEnd()
        } body: { server in
            let (body, isCancelled) = waiting()
            let response = try await kind.make().send(NetworkRequest(.post, server.url, body: body))
            #expect(response.statusCode == 403)
            #expect(response.text == "enough")
            // The stream is canceled too.
            #expect(try await isCancelled.first())
        }
    }

    @Test(
        "a connection that ends while the stream waits ends the request [cut connections]",
        arguments: SessionKind.curlAlone,
        [
            ("", NetworkError.Code.connectionLost), ("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nenough", nil),
            ("HTTP/1.1 200 OK\r\n\r\nenough", nil),
            ("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nenough", .truncatedBody),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nenough\r\n", .truncatedBody),
        ])
    func endWhileStreamWaits(kind: SessionKind, answer: (bytes: String, code: NetworkError.Code?)) async throws {
        try await RawServer.run { client in
            _ = try client.readHead()
            try client.read(11)
            try client.send(answer.bytes)
        } body: { server in
            for streamsResponse in [false, true] {
                let (body, isCancelled) = waiting()
                var request = NetworkRequest(.post, server.url, body: body)
                request.options.streamsResponse = streamsResponse
                do {
                    let response = try await kind.make().send(request)
                    let bytes = try await response.bytes.reduce(into: Data()) { $0 += $1 }
                    #expect(bytes == Data("enough".utf8) && answer.code == nil)
                } catch let error as NetworkError {
                    #expect(error.code == answer.code)
                }
                #expect(try await isCancelled.first())
            }
        }
    }

    @Test(
        "a refusal that stalls while the stream waits has the idle timeout [a refusal ends the upload]",
        arguments: SessionKind.curlAlone)
    func stalledAnswerWhileStreamWaits(kind: SessionKind) async throws {
        try await RawServer.run { client in
            _ = try client.readHead()
            try client.read(11)
            try client.send("HTTP/1.1 403 No\r\nTransfer-Encoding: chunked\r\n\r\n6\r\neno")
            try client.waitForEnd()
        } body: { server in
            var error: NetworkError?
            // The head of a busy server may be late.
            for turn in 0..<8 where error?.statusCode == nil {
                var request = NetworkRequest(.post, server.url, body: waiting().body)
                request.timeouts = Timeouts(idle: .seconds(1 << turn))
                error = await #expect(throws: NetworkError.self) { try await kind.make().send(request) }
                #expect(error?.code == .timedOut)
            }
            #expect(error?.statusCode == 403)
        }
    }

    /// Returns a body whose stream waits after its first chunk, and whether the wait was canceled.
    private func waiting() -> (body: StreamBody, isCancelled: Deliveries<Bool>) {
        let (isCancelled, turn) = (Deliveries<Bool>(), Deliveries<Void>())
        let body = StreamBody {
            HTTPBodyStream {
                turn.add(())
                if turn.all.count == 1 { return Data("sliver".utf8) }
                defer { isCancelled.add(Task.isCancelled) }
                try await Gate().wait()
                return nil
            }
        }
        return (body, isCancelled)
    }

    // A buffer with a million chunks would be moved for each of them.
    @Test(
        "a million waiting chunks of one byte are sent in linear time [streamed uploads]",
        arguments: SessionKind.curlAlone)
    func tinyChunks(kind: SessionKind) async throws {
        let (arrived, buffered, count) = (Deliveries<Void>(), DispatchSemaphore(value: 0), 1_000_000)
        try await RawServer.run { client in
            _ = try client.readHead()
            arrived.add(())
            buffered.wait()
            try client.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            _ = try client.readHead()
            _ = try client.read(count)
            try client.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        } body: { server in
            let session = kind.make(SessionConfiguration(maximumConnectionsPerHost: 1))
            let first = Task { try await session.send(NetworkRequest(.get, server.url)) }
            _ = try await arrived.first()
            let left = Protected(count)
            let body = StreamBody(length: Int64(count)) {
                HTTPBodyStream {
                    let isLeft = left.withLock { left in
                        left -= 1
                        return left >= 0
                    }
                    if isLeft { return Data([0x61]) }
                    buffered.signal()
                    return nil
                }
            }
            var request = NetworkRequest(.post, server.url, body: body)
            request.timeouts = Timeouts(connect: nil, idle: nil)
            #expect(try await session.send(request).text == "ok")
            _ = try await first.value
        }
    }

    @Test(
        "a server may refuse and stop reading [a refusal ends the upload]",
        arguments: SessionKind.curlAlone, ["close", "keep-alive"])
    func refusalOfADeafServer(kind: SessionKind, connection: String) async throws {
        try await RawServer.run { client in
            _ = try client.readHead()
            try client.send("HTTP/1.1 413 No\r\nContent-Length: 6\r\nConnection: \(connection)\r\n\r\nenough")
            try client.stall()
        } body: { server in
            let request = NetworkRequest(.put, server.url, body: DataBody(Data(count: 40_000_000)))
            let response = try await kind.make().send(request)
            #expect(response.statusCode == 413)
            #expect(response.text == "enough")
        }
    }

    @Test(
        "a stream is read only as fast as it is sent [upload back-pressure]", arguments: SessionKind.curlAlone)
    func uploadBackPressure(kind: SessionKind) async throws {
        try await RawServer.run { connection in
            _ = try connection.readHead()
            try connection.stall()
        } body: { server in
            let pulled = Deliveries<Void>()
            let piece = Data(count: 1 << 20)
            let body = StreamBody {
                HTTPBodyStream {
                    pulled.add(())
                    return pulled.all.count > 200 ? nil : piece
                }
            }
            var request = NetworkRequest(.post, server.url, body: body)
            request.timeouts = Timeouts(idle: nil, attempt: .milliseconds(500))
            let error = await #expect(throws: NetworkError.self) { try await kind.make().send(request) }
            #expect(error?.code == .timedOut)
            // The system's buffers and a little more are read, not all 200 MiB.
            #expect(pulled.all.count < 60)
        }
    }

    // MARK: Expect (RFC 9110 §10.1.1)

    @Test(
        "the body waits for the 100 [Expect: 100-continue]",
        arguments: SessionKind.allCases)
    func expectContinue(kind: SessionKind) async throws {
        let early = Deliveries<Bool>()
        let start = ContinuousClock.now
        try await RawServer.run { connection in
            let head = try connection.readHead()
            early.add(try connection.hears(within: .milliseconds(200)) && Self.waitsForContinue(since: start))
            guard head.lowercased().contains("expect: 100-continue") else { return }
            try connection.send("HTTP/1.1 100 Continue\r\n\r\n")
            let body = try connection.read(4)
            try connection.send(Data("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n".utf8) + body)
        } body: { server in
            let request = NetworkRequest(
                .post, server.url, headers: ["Expect": "100-continue"], body: DataBody(Data("late".utf8)))
            let response = try await kind.make().send(request)
            #expect(response.text == "late")
            #expect(early.all == [false])
        }
    }

    @Test(
        "a final response instead of 100 sends no body [Expect: 100-continue]",
        arguments: SessionKind.allCases, [401, 413, 417, 500])
    func refusedExpectation(kind: SessionKind, status: Int) async throws {
        try await expectRefusal(status, "Connection: close\r\n", over: kind)
    }

    @Test(
        "a refused request is not resent [Expect refused on a kept connection]",
        arguments: SessionKind.curlAlone, [401, 413, 417, 500])
    func refusedOnKeptConnection(kind: SessionKind, status: Int) async throws {
        try await expectRefusal(status, "", over: kind)
    }

    /// Whether the client still waits for a 100. libcurl sends the body after one second without it.
    private static func waitsForContinue(since start: ContinuousClock.Instant) -> Bool { .now - start < .seconds(1) }

    private func expectRefusal(_ status: Int, _ header: String, over kind: SessionKind) async throws {
        let (heads, hasBody) = (Deliveries<String>(), Deliveries<Bool>())
        let start = Protected(ContinuousClock.now)
        try await RawServer.run { connection in
            heads.add(try connection.readHead())
            try connection.send("HTTP/1.1 \(status) No\r\n\(header)Content-Length: 7\r\n\r\nrefused")
            hasBody.add((try? connection.read(1)) != nil && Self.waitsForContinue(since: start.value))
        } body: { server in
            for (index, method) in [HTTPMethod.post, .put].enumerated() {
                let request = NetworkRequest(
                    method, server.url, headers: ["Expect": "100-continue"], body: DataBody(Data(count: 100_000)))
                start.withLock { $0 = .now }
                let response = try await kind.make().send(request)
                #expect(response.statusCode == status)
                // libcurl drops the body of a 417 that it would handle itself.
                #expect(response.text == "refused" || status == 417 && header.isEmpty)
                #expect(try await hasBody.wait(for: index + 1)[index] == false)
                #expect(heads.all.count == index + 1)
            }
        }
    }

    @Test(
        "a server without 100 gets the body anyway [Expect: 100-continue]", arguments: SessionKind.allCases
    )
    func ignoredExpectation(kind: SessionKind) async throws {
        try await RawServer.run { connection in
            _ = try connection.readHead()
            let body = try connection.read(4)
            try connection.send(Data("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n".utf8) + body)
        } body: { server in
            let request = NetworkRequest(
                .post, server.url, headers: ["Expect": "100-continue"], body: DataBody(Data("sent".utf8)))
            let response = try await kind.make().send(request)
            #expect(response.text == "sent")
        }
    }
}
