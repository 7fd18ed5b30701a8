import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Responses that are read as they arrive.
@Suite(.inTurn, .serialized, .timeLimit(.minutes(10)))
struct SessionStreamTests {
    private func request(_ url: URL, _ change: (inout RequestOptions) -> Void = { _ in }) -> NetworkRequest {
        var request = NetworkRequest(.get, url)
        request.options.streamsResponse = true
        change(&request.options)
        return request
    }

    @Test("a body in memory is one chunk, an empty one none [bodies as chunks]", arguments: SessionKind.allCases)
    func wholeBody(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.text("whole").chunked(1), .status(200))
            let session = kind.make()
            for expected in [[Data("whole".utf8)], []] {
                let response = try await session.send(NetworkRequest(.get, server.url))
                #expect(try await response.bytes.reduce(into: []) { $0.append($1) } == expected)
            }
        }
    }

    @Test(
        "head and first chunks arrive before the end [streamed responses]",
        arguments: SessionKind.allCases)
    func chunksArriveEarly(kind: SessionKind) async throws {
        let turn = DispatchSemaphore(value: 0)
        try await RawServer.run { connection in
            _ = try connection.readHead()
            try connection.send("HTTP/1.1 200 OK\r\nX-A: 1\r\nTransfer-Encoding: chunked\r\n\r\n")
            for word in ["one", "two", "three"] {
                turn.wait()
                try connection.send("\(String(word.utf8.count, radix: 16))\r\n\(word)\r\n")
            }
            turn.wait()
            try connection.send("0\r\n\r\n")
            try connection.answerAll("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext")
        } body: { server in
            let session = kind.make()
            let response = try await session.send(request(server.url))
            #expect(response.statusCode == 200)
            #expect(response.headers["X-A"] == "1")
            #expect(response.body.isEmpty)
            var words: [String] = []
            var chunks = response.bytes.makeAsyncIterator()
            repeat {
                turn.signal()
                guard let chunk = try await chunks.next() else { break }
                words.append(String(decoding: chunk, as: UTF8.self))
            } while true
            #expect(words == ["one", "two", "three"])
            #expect(try await chunks.next() == nil)
            // After the whole body is read, the connection serves the next request.
            let next = try await session.send(NetworkRequest(.get, server.url))
            #expect(next.text == "next")
            #expect(!kind.freesConnectionAtEnd || server.connectionCount == 1)
        }
    }

    @Test("a reader that stops early closes the connection [streamed responses]", arguments: SessionKind.allCases)
    func earlyStop(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.stalled(after: 100), .text("next"))
            let session = kind.make()
            try await {
                let response = try await session.send(request(server.url))
                for try await _ in response.bytes { break }
            }()
            try await server.waitForDisconnect(of: 1)
            let next = try await session.send(NetworkRequest(.get, server.url))
            #expect(next.text == "next")
        }
    }

    @Test(
        "a released response closes its connection [streamed responses]",
        arguments: SessionKind.allCases)
    func unread(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.stalled(after: 10))
            let session = kind.make()
            #expect(try await session.send(request(server.url)).statusCode == 200)
            try await server.waitForDisconnect()
        }
    }

    @Test(
        "a cancel closes the connection [cancellation of a streamed response]",
        arguments: SessionKind.allCases)
    func cancelledReader(kind: SessionKind) async throws {
        let firsts = Deliveries<Data>()
        try await MockServer.run { server in
            server.enqueue(.stalled(after: 100))
            let session = kind.make()
            let response = try await session.send(request(server.url))
            let task = Task {
                for try await chunk in response.bytes { firsts.add(chunk) }
            }
            _ = try await firsts.first()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            // The response is still retained.
            try await server.waitForDisconnect()
            withExtendedLifetime(response) {}
        }
    }

    @Test(
        "a broken body is an error after its chunks [streamed responses]",
        arguments: SessionKind.allCases)
    func errorsInTheStream(kind: SessionKind) async throws {
        let session = kind.make()
        let cases: [(MockResponse, NetworkError.Code)] = [
            (.text("abcdef").truncated(after: 3), .truncatedBody),
            (.text("abcdef").chunked(3).truncated(after: 3), .truncatedBody),
            (.text("abcdef").stalled(after: 3), .timedOut),
            (.raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n"), .invalidResponse),
        ]
        for (answer, code) in cases {
            try await MockServer.run(handler: { _ in answer.with("X-A", "1") }) { server in
                var (seen, error): (Data, NetworkError?) = (Data(), nil)
                // The head or the body of a busy server may be later than the timeout.
                for turn in 0..<(code == .timedOut ? 8 : 1) where seen.isEmpty {
                    error = await #expect(throws: NetworkError.self) {
                        let response = try await session.send(
                            request(server.url) { if code == .timedOut { $0.timeouts.idle = .seconds(1 << turn) } })
                        for try await chunk in response.bytes { seen.append(chunk) }
                    }
                    #expect(error?.code == code)
                }
                #expect(seen == Data("abc".utf8))
                #expect(error?.statusCode == 200)
                #expect(error?.url == server.url)
            }
        }
    }

    @Test(
        "an error status arrives with its whole body [streamed responses]", arguments: SessionKind.allCases,
        [302, 404, 500])
    func otherStatuses(kind: SessionKind, status: Int) async throws {
        try await MockServer.run { server in
            server.enqueue(.text("because", statusCode: status).with("Location", "/"))
            let response = try await kind.make().send(request(server.url))
            #expect(response.statusCode == status)
            #expect(response.text == "because")
            #expect(try await response.bytes.reduce(into: Data()) { $0 += $1 } == Data("because".utf8))
        }
    }

    @Test("a 204 and a HEAD have no chunks [streamed responses]", arguments: SessionKind.allCases)
    func noBody(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.status(204), .text("head"))
            let session = kind.make()
            for method in [HTTPMethod.get, .head] {
                var request = request(server.url)
                request.method = method
                let response = try await session.send(request)
                for try await chunk in response.bytes { Issue.record("\(chunk)") }
            }
            #expect(!kind.freesConnectionAtEnd || server.connectionCount == 1)
        }
    }

    @Test(
        "the limit for bodies in memory does not apply [streamed responses]",
        arguments: SessionKind.allCases)
    func limits(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.data(Data(count: 500_000)))
            let response = try await kind.make().send(request(server.url) { $0.limits.responseBody = 1_000 })
            #expect(try await response.bytes.reduce(0) { $0 + $1.count } == 500_000)
        }
    }

    @Test(
        "a slow reader gets every byte once, in order [streamed responses]",
        arguments: SessionKind.allCases)
    func slowReader(kind: SessionKind) async throws {
        let size = 20_000_000
        let numbers = (0..<UInt32(size / 80)).map(\.bigEndian).withUnsafeBytes { Data($0) }
        var body = Data()
        for _ in 1...20 { body += numbers }
        let (content, sent) = (body, Deliveries<Int>())
        try await RawServer.run { connection in
            _ = try connection.readHead()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
            try connection.send(content)
            sent.add(size)
        } body: { server in
            let response = try await kind.make().send(request(server.url))
            // URLSession receives the whole body before any byte is read.
            if kind == .foundation { _ = try await sent.first() }
            var seen = Data()
            for try await chunk in response.bytes {
                #expect(chunk.count <= 2 << 20)
                seen.append(chunk)
            }
            #expect(seen == content)
        }
    }

    @Test(
        "the backlog for a slow reader has a limit [streamed responses]",
        arguments: [SessionKind.foundation])
    func limitOfTheFile(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.data(Data(count: 20_000_000)).stalled(after: 19_000_000))
            let response = try await kind.make().send(
                request(server.url) { $0.limits.downloadedFile = 1 << 20 })
            try await server.waitForDisconnect()
            var count = 0
            let error = await #expect(throws: NetworkError.self) {
                for try await chunk in response.bytes { count += chunk.count }
            }
            #expect(error?.code == .responseTooLarge)
            #expect(count > 1 << 20 && count < 2_500_000)
        }
    }

    // MARK: Back-pressure

    // URLSession on Linux queues the data for a slow reader without a limit.
    @Test(
        "a waiting reader pauses the server and loses no byte [back-pressure]",
        arguments: SessionKind.curlAlone, [false, true])
    func backPressure(kind: SessionKind, isCompressed: Bool) async throws {
        let size = isCompressed ? 24_000_000 : 40_000_000
        @Sendable func number(_ index: UInt32) -> UInt32 { index &* 2_654_435_761 }  // which gzip does not shorten
        let stalls = Deliveries<Int>()
        try await RawServer.run { connection in
            _ = try connection.readHead()
            let numbers = [UInt32](unsafeUninitializedCapacity: size / 4) { buffer, count in
                for index in 0..<(size / 4) { buffer.initializeElement(at: index, to: number(UInt32(index)).bigEndian) }
                count = size / 4
            }
            let plain = numbers.withUnsafeBytes { Data($0) }
            let body = isCompressed ? try GzipBody(DataBody(plain)).encode() : plain
            let coding = isCompressed ? "\r\nContent-Encoding: gzip" : ""
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\(coding)\r\n\r\n")
            let sent = try connection.send(body, givingUpAfter: .milliseconds(200))
            stalls.add(sent)
            try connection.send(body.dropFirst(sent))
            try connection.answerAll("HTTP/1.1 204 No Content\r\n\r\n")
        } body: { server in
            let session = kind.make()
            let response = try await session.send(request(server.url))
            // Half a megabyte is buffered, in addition to the system's buffers.
            let sent = try await stalls.first()
            #expect(sent < size / 2)
            var next: UInt32 = 0
            var rest = Data()
            var isInOrder = true
            for try await chunk in response.bytes {
                #expect(chunk.count < 2 << 20)
                rest.append(chunk)
                rest.withUnsafeBytes { bytes in
                    for offset in stride(from: 0, through: bytes.count - 4, by: 4) {
                        let received = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
                        isInOrder = isInOrder && received == number(next)
                        next += 1
                    }
                }
                rest = Data(rest.suffix(rest.count % 4))
            }
            #expect(isInOrder)
            #expect(next == UInt32(size / 4))
            #expect(try await session.send(NetworkRequest(.get, server.url)).statusCode == 204)
            #expect(server.connectionCount == 1)
        }
    }

    @Test(
        "a paused stream can be closed [cancellation of a streamed response]",
        arguments: SessionKind.curlAlone, [true, false])
    func closedWhilePaused(kind: SessionKind, isCancelled: Bool) async throws {
        let stalls = Deliveries<Int>()
        try await RawServer.run { connection in
            _ = try connection.readHead()
            try connection.send("HTTP/1.1 200 OK\r\n\r\n")
            stalls.add(try connection.send(Data(count: 40_000_000), givingUpAfter: .milliseconds(200)))
            try connection.waitForEnd()
            stalls.add(-1)
        } body: { server in
            let session = kind.make()
            var response: NetworkResponse? = try await session.send(request(server.url))
            _ = try await stalls.first()
            if isCancelled {
                let task = Task { [response] in
                    withUnsafeCurrentTask { $0?.cancel() }
                    var chunks = response?.bytes.makeAsyncIterator()
                    return try await chunks?.next()
                }
                await #expect(throws: CancellationError.self) { try await task.value }
            } else {
                response = nil
            }
            #expect(try await stalls.wait(for: 2)[1] == -1)
            withExtendedLifetime(response) {}
        }
    }

    @Test(
        "a pause is not idle time, but later silence is [back-pressure]",
        arguments: SessionKind.curlAlone)
    func silenceAndPauses(kind: SessionKind) async throws {
        var sent: Int?
        // A busy server may be silent before the pause too.
        for turn in 0..<7 where sent == nil {
            let time = Duration.milliseconds(300 << turn)
            let stalls = Deliveries<Int?>()
            try await RawServer.run { connection in
                _ = try connection.readHead()
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 20000000\r\n\r\n")
                let body = Data(count: 19_000_000)
                let count = try? connection.send(body, givingUpAfter: time * 2)
                stalls.add(count)
                try connection.send(body.dropFirst(count ?? 0))
                try connection.stall()
            } body: { server in
                let error = await #expect(throws: NetworkError.self) {
                    let response = try await kind.make().send(
                        request(server.url) { $0.timeouts = Timeouts(idle: time) })
                    sent = try await stalls.first()
                    for try await _ in response.bytes {}
                }
                #expect(error?.code == .timedOut)
            }
        }
        #expect(sent ?? .max < 19_000_000)
    }

    @Test(
        "invalidate() keeps streams, shutdown() ends them [streamed responses]",
        arguments: SessionKind.curlAlone)
    func endedSession(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.text("abcdef").delayed(by: .milliseconds(10)), .text("abcdef").stalled(after: 3))
            let first = kind.make()
            let whole = try await first.send(request(server.url))
            first.invalidate()
            #expect(try await whole.bytes.reduce(0) { $0 + $1.count } == 6)
            let second = kind.make()
            let part = try await second.send(request(server.url))
            await second.shutdown()
            let error = await #expect(throws: NetworkError.self) { for try await _ in part.bytes {} }
            #expect(error?.code == .sessionInvalidated)
        }
    }
}

extension NetworkSession {
    /// Ends all requests at once, on sessions that support it.
    fileprivate func shutdown() async {
        #if os(Linux)
        await (self as? CurlSession)?.shutdown()
        #endif
    }
}
