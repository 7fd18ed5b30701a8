import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Timeouts, over real loopback servers.
@Suite(.inTurn, .serialized, .timeLimit(.minutes(10)))
struct SessionTimeTests {
    // URLSession on Linux rounds down to whole seconds.
    @Test(
        "timeouts keep fractions of a second [attempt and idle timeouts]",
        arguments: SessionKind.allCases, [true, false])
    func subSecondTimeouts(kind: SessionKind, isAttempt: Bool) async throws {
        try await MockServer.run { server in
            // On a busy machine, the timeout may pass before the session connects.
            for turn in 0..<8 where server.connectionCount == 0 {
                server.enqueue(.stall)
                let limit = Duration.milliseconds(300 << turn)
                var request = NetworkRequest(.get, server.url)
                request.timeouts = isAttempt ? Timeouts(idle: nil, attempt: limit) : Timeouts(idle: limit)
                let start = ContinuousClock.now
                let error = await #expect(throws: NetworkError.self) { try await kind.make().send(request) }
                #expect(error?.code == .timedOut)
                #expect(error?.description.contains(limit.secondsText) == true)
                #expect(ContinuousClock.now - start >= limit)
            }
            try await server.waitForDisconnect()
        }
    }

    @Test(
        "the attempt timeout ends a dripping body [attempt and idle timeouts]",
        arguments: SessionKind.allCases)
    func drippingBody(kind: SessionKind) async throws {
        try await RawServer.run { connection in
            _ = try connection.readHead()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nab")
            while true {
                try connection.pause(.milliseconds(20))
                try connection.send("c")
            }
        } body: { server in
            var request = NetworkRequest(.get, server.url)
            var error: NetworkError?
            // The body of a busy server may be late.
            for turn in 0..<8 where error?.body?.isEmpty ?? true {
                request.timeouts = Timeouts(idle: .seconds(300), attempt: .seconds(1 << turn))
                error = await #expect(throws: NetworkError.self) { try await kind.make().send(request) }
                #expect(error?.code == .timedOut)
            }
            #expect(error?.statusCode == 200)
            #expect(error?.body?.starts(with: Data("ab".utf8)) == true)
        }
    }

    @Test(
        "idle time counts from the last chunk [attempt and idle timeouts]",
        arguments: SessionKind.allCases)
    func silenceInTheBody(kind: SessionKind) async throws {
        let pause = Protected(Duration.zero)
        try await RawServer.run { connection in
            _ = try connection.readHead()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
            let time = pause.value
            // All pauses together exceed the timeout. Each of them is shorter.
            for _ in 0..<10 {
                try connection.pause(time)
                try connection.send("x")
            }
            try connection.stall()
        } body: { server in
            var request = NetworkRequest(.get, server.url)
            let session = kind.make()
            var counts: [Int?] = []
            // A busy machine adds to the pauses, so the next try has longer ones.
            while counts.count < 6, counts.last != 10 {
                _ = pause.swap(.milliseconds(120 << counts.count))
                request.timeouts = Timeouts(idle: .seconds(1 << counts.count))
                let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
                #expect(error?.code == .timedOut)
                counts.append(error?.body?.count)
            }
            #expect(counts.last == 10, "\(counts)")
        }
    }

    @Test(
        "a timeout in the queue names the queue [attempt and idle timeouts]",
        arguments: SessionKind.curlAlone, [true, false])
    func timeoutInTheQueue(kind: SessionKind, isAttempt: Bool) async throws {
        try await MockServer.run { server in
            server.enqueue(.stall)
            let session = kind.make(SessionConfiguration(maximumConnectionsPerHost: 1))
            let first = Task { [url = server.url] in try await session.send(NetworkRequest(.get, url)) }
            _ = try await server.takeRequest()
            var request = NetworkRequest(.get, server.url)
            request.timeouts =
                isAttempt ? Timeouts(idle: nil, attempt: .milliseconds(300)) : Timeouts(idle: .milliseconds(300))
            let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
            #expect(error?.code == .timedOut)
            let name = isAttempt ? "attempt" : "idle"
            #expect(
                error?.reason
                    == "no connection was ready within 0.3 s (timeouts.\(name), maximumConnectionsPerHost: 1)")
            first.cancel()
            _ = await first.result
        }
    }

    @Test("no timeouts: a slow response is awaited [attempt and idle timeouts]", arguments: SessionKind.allCases)
    func noTimeout(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.text("late").delayed(by: .milliseconds(200)))
            var request = NetworkRequest(.get, server.url)
            request.timeouts = .none
            let last = try await kind.make().send(request)
            #expect(last.text == "late")
        }
    }

    // An infinite timeout ends a process with URLSession on Linux.
    @Test(
        "zero fires at once, the maximum never [attempt and idle timeouts]",
        arguments: SessionKind.allCases)
    func extremeTimeouts(kind: SessionKind) async throws {
        try await MockServer.run { server in
            let session = kind.make()
            for duration in [Duration.zero, .seconds(-5), .nanoseconds(1)] {
                for timeouts in [Timeouts(idle: nil, attempt: duration), Timeouts(idle: duration)] {
                    server.enqueue(.stall)
                    var request = NetworkRequest(.get, server.url)
                    request.timeouts = timeouts
                    let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
                    #expect(error?.code == .timedOut)
                }
            }
        }
        try await MockServer.run { server in
            server.enqueue(.text("there"))
            var request = NetworkRequest(.get, server.url)
            request.timeouts = Timeouts(idle: .seconds(Int64.max), attempt: .seconds(Int64.max))
            let last = try await kind.make().send(request)
            #expect(last.text == "there")
        }
    }

    @Test(
        "the attempt timeout runs in the queue [attempt and idle timeouts]",
        arguments: SessionKind.allCases)
    func timeoutInTheQueue(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.stall)
            let session = kind.make(SessionConfiguration(maximumConnectionsPerHost: 1))
            let first = Task { try await session.send(NetworkRequest(.get, server.url)) }
            _ = try await server.takeRequest()
            var request = NetworkRequest(.get, server.url)
            request.timeouts = Timeouts(idle: nil, attempt: .milliseconds(200))
            let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
            #expect(error?.code == .timedOut)
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
            #expect(server.requests.count == 1)
        }
    }

    @Test(
        "only the server's silence is idle time [attempt and idle timeouts]",
        arguments: SessionKind.allCases)
    func slowStream(kind: SessionKind) async throws {
        try await RawServer.run { connection in
            _ = try connection.readHead()
            try connection.stall()
        } body: { server in
            let turn = Deliveries<Void>()
            let body = StreamBody(length: 8) {
                HTTPBodyStream {
                    turn.add(())
                    if turn.all.count > 2 { return nil }
                    try await Task.sleep(for: .milliseconds(500))
                    return Data("1234".utf8)
                }
            }
            let options = RequestOptions { $0.timeouts = Timeouts(idle: .milliseconds(300)) }
            let error = await #expect(throws: NetworkError.self) {
                try await kind.make().send(NetworkRequest(.post, server.url, body: body, options: options))
            }
            #expect(error?.code == .timedOut)
            // The whole body was read.
            #expect(turn.all.count >= 2)
            #expect(error?.description.contains("0.3 s") == true)
        }
    }

    @Test(
        "the attempt timeout ends a stuck stream [attempt and idle timeouts]",
        arguments: SessionKind.allCases)
    func endlessStream(kind: SessionKind) async throws {
        try await MockServer.run { server in
            let never = AsyncStream<Data> { _ in }
            let body = StreamBody {
                HTTPBodyStream {
                    for await chunk in never { return chunk }
                    return nil
                }
            }
            let options = RequestOptions { $0.timeouts = Timeouts(idle: nil, attempt: .milliseconds(200)) }
            let error = await #expect(throws: NetworkError.self) {
                try await kind.make().send(NetworkRequest(.post, server.url, body: body, options: options))
            }
            #expect(error?.code == .timedOut)
            #expect(server.requests.isEmpty)
        }
    }

    @Test("a body whose reading times out leaves no file [attempt and idle timeouts]", arguments: SessionKind.allCases)
    func noFileAfterTimeout(kind: SessionKind) async throws {
        try await MockServer.run { server in
            let text = UUID().uuidString
            let (chunks, continuation) = AsyncStream<Data>.makeStream()
            continuation.yield(Data(text.utf8))
            let options = RequestOptions { $0.timeouts = Timeouts(idle: nil, attempt: .milliseconds(200)) }
            let body = StreamBody {
                HTTPBodyStream {
                    // The stream ends when its task is canceled.
                    for await chunk in chunks { return chunk }
                    return nil
                }
            }
            await #expect(throws: NetworkError.self) {
                try await kind.make().send(NetworkRequest(.post, server.url, body: body, options: options))
            }
            let folder = FileManager.default.temporaryDirectory
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            for name in names where name.hasPrefix("switchboard-") && name.hasSuffix(".body") {
                let content = try? Data(contentsOf: folder.appendingPathComponent(name))
                #expect(content != Data(text.utf8), "\(name)")
            }
        }
    }

    @Test(
        "the attempt timeout includes the reading of the body [attempt and idle timeouts]",
        arguments: SessionKind.allCases)
    func attemptWithBody(kind: SessionKind) async throws {
        try await RawServer.run { client in
            _ = try client.readHead()
            _ = try client.read(4)
            try client.pause(.milliseconds(500))
            try client.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        } body: { server in
            let parts = Protected(["text"])
            let body = StreamBody(length: 4) {
                HTTPBodyStream {
                    guard let part = parts.withLock({ $0.popLast() }) else { return nil }
                    try await Task.sleep(for: .milliseconds(500))
                    return Data(part.utf8)
                }
            }
            let options = RequestOptions { $0.timeouts = Timeouts(idle: nil, attempt: .milliseconds(800)) }
            let error = await #expect(throws: NetworkError.self) {
                try await kind.make().send(NetworkRequest(.post, server.url, body: body, options: options))
            }
            #expect(error?.code == .timedOut)
        }
    }

    @Test(
        "a slow upload is no idle time [attempt and idle timeouts]",
        arguments: SessionKind.curlAlone)
    func slowUpload(kind: SessionKind) async throws {
        var status: Int?
        // A busy server may be silent for longer than the timeout.
        for turn in 0..<5 where status == nil {
            try await RawServer.run(hasSmallBuffer: true) { client in
                _ = try client.readHead()
                // libcurl reads 256 KiB of the body at first, and they last longer than this.
                for _ in 0..<40 {
                    try client.pause(.milliseconds(100 << turn))
                    try client.read(1_024)
                }
                // Without this response, the rest would take minutes.
                try client.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n")
                try client.waitForEnd()
            } body: { server in
                let options = RequestOptions { $0.timeouts = Timeouts(idle: .seconds(2 << turn)) }
                let body = DataBody(Data(count: 2 << 20))
                let request = NetworkRequest(.post, server.url, body: body, options: options)
                status = try? await kind.make().send(request).statusCode
            }
        }
        #expect(status == 413)
    }

    // MARK: Connecting

    @Test(
        "connecting over TCP or TLS ends with timedOut [connect timeout]",
        arguments: SessionKind.curlAlone, ["tcp", "tls"])
    func connectTimeout(kind: SessionKind, layer: String) async throws {
        try await withDeafServer(layer) { url in
            var request = NetworkRequest(.get, url)
            request.timeouts = Timeouts(connect: .milliseconds(300), idle: nil)
            let start = ContinuousClock.now
            let error = await #expect(throws: NetworkError.self) { try await kind.make().send(request) }
            #expect(error?.code == .timedOut)
            #expect(error?.reason?.contains("no connection") == true)
            #expect(ContinuousClock.now - start >= .milliseconds(290))
        }
    }

    @Test(
        "queueing and slow responses do not count [connect timeout]",
        arguments: SessionKind.curlAlone)
    func connectTimeoutIsNoMore(kind: SessionKind) async throws {
        // A busy machine may connect too late.
        for turn in 0..<6 {
            do {
                return try await MockServer.run { server in
                    let late = MockResponse.text("late").delayed(by: .milliseconds(500 << turn))
                    server.enqueue(late, late)
                    let session = kind.make(SessionConfiguration(maximumConnectionsPerHost: 1))
                    let options = RequestOptions { $0.timeouts = Timeouts(connect: .milliseconds(300 << turn)) }
                    let request = NetworkRequest(.get, server.url, options: options)
                    async let first = session.send(request)
                    async let second = session.send(request)
                    let texts = try await [first.text, second.text]
                    #expect(texts == ["late", "late"])
                    #expect(server.connectionCount == 1)
                    // The same holds for a request that needs a new connection afterwards.
                    server.enqueue(late.with("Connection", "close"), late)
                    async let third = session.send(request)
                    async let fourth = session.send(request)
                    let more = try await [third.text, fourth.text]
                    #expect(more == ["late", "late"])
                }
            } catch let error as NetworkError where error.code == .timedOut && turn < 5 {}
        }
    }
}
