import SwitchboardPlatform
import Foundation
import SwitchboardTesting
import SwitchboardTestSupport
import Testing
@testable import Switchboard

/// Connections: their reuse, limits, end and metrics.
@Suite(.inTurn, .serialized, .timeLimit(.minutes(10)))
struct SessionConnectionTests {
    // MARK: Reuse

    @Test(
        "later requests reuse the first connection [keep-alive]", .requirement("S0.19"),
        arguments: SessionKind.allCases)
    func connectionIsReused(kind: SessionKind) async throws {
        try await withEchoServer { server in
            let session = kind.make()
            for _ in 1...3 { _ = try await session.send(NetworkRequest(.get, server.url)) }
            _ = try await session.send(NetworkRequest(.post, server.url, body: DataBody(Data("x".utf8))))
            #expect(server.requests.count == 4)
            guard kind.freesConnectionAtEnd else {
                for _ in 0..<50 where server.connectionCount == server.requests.count {
                    _ = try await session.send(NetworkRequest(.get, server.url))
                }
                return #expect(server.connectionCount < server.requests.count)
            }
            #expect(server.connectionCount == 1)
            #expect(server.requests.map(\.index) == [0, 1, 2, 3])
        }
    }

    @Test(
        "thousands of requests leak no files and no connections [keep-alive]", .requirement("S0.19"),
        arguments: SessionKind.allCases)
    func manyRequestsLeakNothing(kind: SessionKind) async throws {
        guard FileManager.default.fileExists(atPath: "/proc/self/fd") else { return }
        func openFiles() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
        let session = kind.make()
        try await RawServer.run { connection in
            try connection.answerAll("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        } body: { server in
            func send(_ count: Int) async throws {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            for _ in 0..<(count / 4) { _ = try await session.send(NetworkRequest(.get, server.url)) }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            try await send(400)
            var connections = server.connectionCount
            try await send(kind == .curl ? 9_600 : 2_000)
            // A session that ends a request before its connection is free may open another one.
            for _ in 0..<10 where !kind.freesConnectionAtEnd && server.connectionCount > max(connections, 6) {
                connections = server.connectionCount
                try await send(2_000)
            }
            // Other tests of this process open files too, so files are only bounded. The connections of this server are
            // counted exactly.
            #expect(server.connectionCount <= max(connections, 6))
            #expect(try openFiles() < 4_000)
        }
    }

    // RFC 9112 §9.3, §9.6.
    @Test(
        "Connection: close, HTTP/1.0 and faults end a connection [keep-alive]",
        arguments: SessionKind.allCases)
    func connectionIsNotReused(kind: SessionKind) async throws {
        try await MockServer.run { server in
            let session = kind.make()
            server.enqueue(
                .text("a").with("Connection", "close"), .raw("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nb"),
                .truncated(after: 1), .text("d"))
            var texts: [String] = []
            for _ in 1...4 { texts.append((try? await session.send(NetworkRequest(.get, server.url)).text) ?? "-") }
            #expect(texts == ["a", "b", "-", "d"])
            #expect(server.connectionCount == 4)
        }
    }

    // RFC 9112 §9.6: a client must not send further requests on a connection after one with `close`.
    @Test(
        "a request with Connection: close is the last one of its connection [keep-alive]",
        arguments: SessionKind.curlAlone, ["close", "Close", "keep-alive, close"])
    func lastRequest(kind: SessionKind, value: String) async throws {
        try await RawServer.run { connection in
            try connection.answerAll("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        } body: { server in
            let session = kind.make()
            for headers in [[:], ["Connection": value], [:], [:]] as [HTTPHeaders] {
                _ = try await session.send(NetworkRequest(.get, server.url, headers: headers))
            }
            #expect(server.connectionCount == 2)
        }
    }

    // A server, or an attacker behind it, could plant a response to a request that was not sent yet.
    @Test(
        "extra bytes never become a response [no answer before its question]",
        arguments: SessionKind.allCases)
    func leftOverBytes(kind: SessionKind) async throws {
        try await RawServer.run { connection in
            _ = try connection.readHead()
            try connection.send(
                "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nreal"
                    + "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nplanted")
            try connection.answerAll("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nreal")
        } body: { server in
            let session = kind.make()
            for _ in 1...3 {
                let response = try await session.send(NetworkRequest(.get, server.url))
                #expect(response.text == "real")
            }
        }
    }

    @Test(
        "a server that closes idle connections is reached again [keep-alive]", arguments: SessionKind.allCases)
    func closedWhileIdle(kind: SessionKind) async throws {
        // Each connection serves one request and then closes silently.
        try await RawServer.run { connection in
            _ = try connection.readHead()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        } body: { server in
            let session = kind.make()
            for _ in 1...20 {
                let response = try await session.send(NetworkRequest(.get, server.url))
                #expect(response.text == "ok")
            }
        }
    }

    // libcurl gives up after five dead connections, which it counts over the whole life of a handle.
    @Test(
        "many requests in a row may find their connection dead [keep-alive]",
        arguments: SessionKind.curlAlone)
    func closedAgainAndAgain(kind: SessionKind) async throws {
        // Each connection serves one request and closes on the next.
        try await RawServer.run { connection in
            _ = try connection.readHead()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            _ = try connection.readHead()
        } body: { server in
            let session = kind.make()
            for _ in 1...20 {
                let response = try await session.send(NetworkRequest(.get, server.url))
                #expect(response.text == "ok")
            }
        }
    }

    // MARK: Limits

    @Test(
        "a host gets as many connections as allowed, by default 6 [connections per host]",
        arguments: SessionKind.allCases, [(nil, 6), (-1, 1), (0, 1), (1, 1), (2, 2), (5, 5)] as [(Int?, Int)])
    func connectionsPerHost(kind: SessionKind, numbers: (setting: Int?, limit: Int)) async throws {
        let limit = numbers.limit
        let crowd = Crowd(limit)
        try await MockServer.run(handler: crowd.handle) { server in
            let session = kind.make(
                numbers.setting.map { SessionConfiguration(maximumConnectionsPerHost: $0) } ?? SessionConfiguration())
            try await sendAll(30, over: session, to: [server.url])
            #expect(server.requests.count == 30)
            #expect(crowd.peak == limit)
            #expect(await comesTrue { server.openConnections <= limit })
        }
    }

    @Test(
        "all hosts share the limit of connections [connections in total]",
        arguments: SessionKind.curlAlone, [(3, 3), (0, 1), (-1, 1)])
    func connectionsInTotal(kind: SessionKind, numbers: (setting: Int, limit: Int)) async throws {
        let crowd = Crowd(numbers.limit)
        try await MockServer.run(handler: crowd.handle) { one in
            try await MockServer.run(handler: crowd.handle) { other in
                var configuration = SessionConfiguration()
                configuration.maximumConnections = numbers.setting
                try await sendAll(30, over: kind.make(configuration), to: [one.url, other.url])
                #expect(one.requests.count + other.requests.count == 30)
                #expect(crowd.peak == numbers.limit)
                #expect(await comesTrue { one.openConnections + other.openConnections <= numbers.limit })
            }
        }
    }

    private func sendAll(_ count: Int, over session: any NetworkSession, to urls: [URL]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<count {
                group.addTask { _ = try await session.send(NetworkRequest(.get, urls[index % urls.count])) }
            }
            try await group.waitForAll()
        }
    }

    /// Counts concurrent requests. The first ones wait for each other until the limit is reached.
    private final class Crowd: Sendable {
        private let limit: Int
        private let gauge = Gauge()
        private let condition = NSCondition()

        init(_ limit: Int) {
            self.limit = limit
        }

        var peak: Int { gauge.peak }

        @Sendable func handle(_: RecordedRequest) -> MockResponse {
            condition.lock()
            gauge.enter()
            condition.broadcast()
            let end = Date() + 300
            while peak < limit, condition.wait(until: end) {}
            condition.unlock()
            // Leaves time for an excess request to arrive.
            Thread.sleep(forTimeInterval: 0.005)
            gauge.leave()
            return .text("ok")
        }
    }

    // MARK: Invalidation

    @Test(
        "later requests fail at once, earlier ones finish [invalidation]",
        arguments: SessionKind.allCases)
    func invalidatedSession(kind: SessionKind) async throws {
        try await MockServer.run { server in
            let session = kind.make()
            server.enqueue(.text("first").delayed(by: .milliseconds(50)))
            async let first = session.send(NetworkRequest(.get, server.url))
            _ = try await server.takeRequest()
            session.invalidate()
            session.invalidate()
            let error = await #expect(throws: NetworkError.self) {
                try await session.send(NetworkRequest(.get, server.url))
            }
            #expect(error?.code == .sessionInvalidated)
            #expect(try await first.text == "first")
            #expect(server.requests.count == 1)
        }
    }

    @Test("a deallocated session closes its connections [invalidation]", arguments: SessionKind.allCases)
    func releasedSession(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.text("ok"))
            _ = try await kind.make().send(NetworkRequest(.get, server.url))
            try await server.waitForDisconnect()
        }
    }

    // MARK: Metrics

    @Test("metrics have start, duration, first byte and size [metrics]", arguments: SessionKind.allCases)
    func metricsAreFilled(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.text("12345"))
            let before = Date()
            let metrics = try await kind.make().send(NetworkRequest(.get, server.url)).metrics
            let start = try #require(metrics.start)
            let duration = try #require(metrics.duration)
            let firstByte = try #require(metrics.timeToFirstByte)
            #expect(start >= before && start <= Date())
            #expect(firstByte > .zero && firstByte <= duration)
            #expect(metrics.bytesReceived == 5)
        }
    }

    @Test(
        "metrics have reuse, address, protocol and bytes [connection metrics]",
        arguments: SessionKind.curlAlone)
    func connectionMetrics(kind: SessionKind) async throws {
        try await MockServer.run(handler: { _ in .text("ok") }) { server in
            let session = kind.make()
            let request = NetworkRequest(.put, server.url, body: DataBody(Data(count: 70_000)))
            for isReused in [false, true, true] {
                let metrics = try await session.send(request).metrics
                #expect(metrics.isReusedConnection == isReused)
                #expect(metrics.remoteAddress == "127.0.0.1:\(server.port)")
                #expect(metrics.protocolVersion == "HTTP/1.1")
                #expect(metrics.bytesSent == 70_000)
            }
            server.enqueue(.raw("HTTP/1.0 200 OK\r\n\r\nok"))
            #expect(try await session.send(request).metrics.protocolVersion == "HTTP/1.0")
        }
    }

    @Test(
        "phases are measured and fit into the duration [connection metrics]",
        arguments: SessionKind.curlAlone)
    func phases(kind: SessionKind) async throws {
        let turn = DispatchSemaphore(value: 0)
        let handler: MockServer.Handler = { request in
            if request.path == "/first" { turn.wait() }
            return .text("ok")
        }
        try await MockServer.run(handler: handler) { server in
            let session = kind.make(SessionConfiguration(maximumConnectionsPerHost: 1))
            let url = try #require(URL(string: "http://localhost:\(server.port)/"))
            let first = Task { try await session.send(NetworkRequest(.get, url.appendingPathComponent("first"))) }
            _ = try await server.takeRequest()
            let second = Task { try await session.send(NetworkRequest(.get, url)) }
            // While this request waits for a connection in vain, the second one waits too.
            let options = RequestOptions { $0.timeouts.attempt = .milliseconds(100) }
            await #expect(throws: NetworkError.self) {
                try await session.send(NetworkRequest(.get, url, options: options))
            }
            let release = ContinuousClock.now
            turn.signal()
            let (one, other) = (try await first.value.metrics, try await second.value.metrics)
            let end = ContinuousClock.now
            for metrics in [one, other] {
                let phases = [metrics.queue, metrics.nameLookup, metrics.connect].compactMap { $0 }
                #expect(phases.count == 3)
                for phase in phases { #expect(phase >= .zero) }
                #expect(metrics.secureConnect == nil)
                #expect(phases.reduce(.zero, +) <= metrics.timeToFirstByte ?? .zero)
                #expect(metrics.timeToFirstByte ?? .zero <= metrics.duration ?? .zero)
            }
            // The first request opened a connection after a name lookup. The second one waited for that connection.
            #expect(one.connect ?? .zero > .zero)
            #expect(other.connect == .zero)
            #expect(other.nameLookup == .zero)
            // All of its time outside the queue is after the release.
            let duration = try #require(other.duration)
            #expect(duration - (other.queue ?? .zero) <= end - release)
        }
    }
}
