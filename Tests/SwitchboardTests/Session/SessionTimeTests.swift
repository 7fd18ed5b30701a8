import Foundation
import Switchboard
import SwitchboardTesting
import Testing

/// Timeouts, over real loopback servers.
@Suite(.inTurn, .serialized, .timeLimit(.minutes(3)))
struct SessionTimeTests {
    @Test(
        "LINUX 0.10 a fraction of a second is kept as a timeout for the attempt and for silence [attempt and idle timeouts]",
        arguments: SessionKind.allCases, [true, false])
    func subSecondTimeouts(kind: SessionKind, isAttempt: Bool) async throws {
        try await MockServer.run { server in
            server.enqueue(.stall)
            var request = NetworkRequest(.get, server.url)
            request.timeouts =
                isAttempt ? Timeouts(idle: nil, attempt: .milliseconds(300)) : Timeouts(idle: .milliseconds(300))
            let start = ContinuousClock.now
            let error = await #expect(throws: NetworkError.self) { try await kind.make().send(request) }
            #expect(error?.code == .timedOut)
            #expect(error?.description.contains("0.3 s") == true)
            #expect(ContinuousClock.now - start >= .milliseconds(300))
            try await server.waitForDisconnect()
        }
    }

    @Test(
        "a body that drips on is no silence, but the attempt's timeout ends it, what arrived is kept [attempt and idle timeouts]",
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
            request.timeouts = Timeouts(idle: .seconds(30), attempt: .milliseconds(300))
            let error = await #expect(throws: NetworkError.self) { try await kind.make().send(request) }
            #expect(error?.code == .timedOut)
            #expect(error?.status == 200)
            #expect(error?.body?.starts(with: Data("ab".utf8)) == true)
        }
    }

    @Test(
        "silence amid the body is timed from the last piece, not from the start [attempt and idle timeouts]",
        arguments: SessionKind.allCases)
    func silenceInTheBody(kind: SessionKind) async throws {
        try await RawServer.run { connection in
            _ = try connection.readHead()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
            // Longer than the timeout together, shorter each.
            for _ in 0..<10 {
                try connection.pause(.milliseconds(120))
                try connection.send("x")
            }
            try connection.stall()
        } body: { server in
            var request = NetworkRequest(.get, server.url)
            request.timeouts = Timeouts(idle: .seconds(1))
            let error = await #expect(throws: NetworkError.self) { try await kind.make().send(request) }
            #expect(error?.code == .timedOut)
            #expect(error?.body?.count == 10)
        }
    }

    @Test("without timeouts a slow answer is waited for [attempt and idle timeouts]", arguments: SessionKind.allCases)
    func noTimeout(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.text("late").delayed(by: .milliseconds(200)))
            var request = NetworkRequest(.get, server.url)
            request.timeouts = .none
            let last = try await kind.make().send(request)
            #expect(last.text == "late")
        }
    }

    @Test(
        "LINUX 0.10 a timeout of nothing or less is over at once, one beyond all time never [attempt and idle timeouts]",
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
        "the attempt's time goes on while a request waits for a connection [attempt and idle timeouts]",
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
        "a body's stream that takes its time is no silence of the server's, but the server's own is, behind it [attempt and idle timeouts]",
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
            // The whole of it was read.
            #expect(turn.all.count >= 2)
            #expect(error?.description.contains("0.3 s") == true)
        }
    }

    @Test(
        "a body's stream that never gives anything is ended by the attempt's timeout [attempt and idle timeouts]",
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

    // MARK: Connecting

    @Test(
        "a connection that does not come to stand is timedOut within a fraction of a second, TLS included [connect timeout]",
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
        "a connection that stands ends the time for connecting, and waiting for one does not use it up [connect timeout]",
        arguments: SessionKind.curlAlone)
    func connectTimeoutIsNoMore(kind: SessionKind) async throws {
        try await MockServer.run { server in
            let late = MockResponse.text("late").delayed(by: .milliseconds(500))
            server.enqueue(late, late)
            let session = kind.make(SessionConfiguration(maximumConnectionsPerHost: 1))
            let options = RequestOptions { $0.timeouts = Timeouts(connect: .milliseconds(300)) }
            let request = NetworkRequest(.get, server.url, options: options)
            async let first = session.send(request)
            async let second = session.send(request)
            let texts = try await [first.text, second.text]
            #expect(texts == ["late", "late"])
            #expect(server.connectionCount == 1)
            // The same for one that needs a connection of its own afterwards.
            server.enqueue(late.with("Connection", "close"), late)
            async let third = session.send(request)
            async let fourth = session.send(request)
            let more = try await [third.text, fourth.text]
            #expect(more == ["late", "late"])
        }
    }
}
