#if os(Linux)
import SwitchboardCurlC
import SwitchboardPlatform
import Dispatch
import Foundation
import SwitchboardTesting
import Testing

import SwitchboardTestSupport
@testable import Switchboard
@testable import SwitchboardCurl

/// HTTP/2 with hypercorn, and with hand-written frames.
@Suite(.needsServers, .inTurn, .serialized, .timeLimit(.minutes(10)))
struct CurlHTTP2Tests {
    /// The response of `/meet` after all requests have arrived: the port of this request, and the ports of all.
    struct Meeting: Decodable {
        var port: Int
        var version: String
        var ports: [Int]
    }

    static func session(_ version: SessionConfiguration.HTTPVersion = .automatic, connections: Int = 6) throws
        -> CurlSession
    {
        var configuration = try SessionConfiguration.trusting()
        configuration.proxy = .none
        configuration.httpVersion = version
        configuration.maximumConnectionsPerHost = connections
        return CurlSession(configuration: configuration)
    }

    static func meet(_ session: CurlSession, _ url: URL) async throws -> Meeting {
        try JSONDecoder().decode(Meeting.self, from: await session.send(NetworkRequest(.get, url)).body)
    }

    // MARK: Versions

    @Test(
        "HTTP/2 is spoken where TLS negotiates it or the client knows it",
        arguments: [
            (SessionConfiguration.HTTPVersion.automatic, "tls", "HTTP/2"), (.http1, "tls", "HTTP/1.1"),
            (.http2PriorKnowledge, "tls", "HTTP/2"), (.automatic, "plain", "HTTP/1.1"), (.http1, "plain", "HTTP/1.1"),
            (.http2PriorKnowledge, "plain", "HTTP/2"),
        ])
    func version(policy: SessionConfiguration.HTTPVersion, server: String, expected: String) async throws {
        let session = try Self.session(policy)
        for name in ["a", "b", "c"] {
            let url = try Servers.http2(server, "/meet/\(name)\(UUID().uuidString)/1")
            let response = try await session.send(NetworkRequest(.get, url))
            let seen = try JSONDecoder().decode(Meeting.self, from: response.body)
            #expect(response.metrics.protocolVersion == expected)
            #expect("HTTP/\(seen.version)" == expected)
        }
    }

    @Test("an HTTP/1.1 server gets no upgrade request, and works over TLS too")
    func fallback() async throws {
        try await MockServer.run(handler: { _ in .text("ok") }) { server in
            let response = try await Self.session().send(NetworkRequest(.get, server.url))
            #expect(response.metrics.protocolVersion == "HTTP/1.1")
            #expect(server.requests.first?.headers.contains("Upgrade") == false)
            #expect(server.requests.first?.headers.contains("HTTP2-Settings") == false)
        }
        let response = try await Self.session().send(NetworkRequest(.get, Servers.tls("good")))
        #expect(response.metrics.protocolVersion == "HTTP/1.1")
    }

    @Test("HTTP/2 by prior knowledge fails with an HTTP/1.1 server")
    func priorKnowledgeOfTheWrongServer() async throws {
        try await MockServer.run(handler: { _ in .status(400) }) { server in
            let error = try await Self.session(.http2PriorKnowledge).failure(server.url)
            #expect([.invalidResponse, .connectionLost].contains(error.code), "\(error)")
        }
        // Over TLS the version is still negotiated.
        let response = try await Self.session(.http2PriorKnowledge).send(NetworkRequest(.get, Servers.tls("good")))
        #expect(response.metrics.protocolVersion == "HTTP/1.1")
    }

    // MARK: httpbin

    @Test(
        "requests and responses of every shape pass",
        arguments: [("tls", SessionConfiguration.HTTPVersion.automatic), ("plain", .http2PriorKnowledge)])
    func roundTrips(server: String, policy: SessionConfiguration.HTTPVersion) async throws {
        let session = try Self.session(policy)
        let headers: HTTPHeaders = ["X-Mixed-Case": "kept", "Host": "named.example", "Connection": "keep-alive"]
        var post = NetworkRequest(.post, try Servers.http2(server, "/anything?q=a%20b"), headers: headers)
        post.body = DataBody(Data(#"{"a":[1,2]}"#.utf8), contentType: "application/json")
        let echo = try JSONDecoder().decode(HTTPBin.Echo.self, from: await session.send(post).body)
        #expect(echo.method == "POST")
        #expect(echo.args == ["q": "a b"])
        #expect(echo.json == .object(["a": .array([.number(1), .number(2)])]))
        #expect(echo.headers["X-Mixed-Case"] == "kept")
        #expect(echo.headers["Host"] == "named.example")
        #expect(echo.headers["Connection"] == nil)  // RFC 9113 §8.2.2
        #expect(echo.headers["Content-Length"] == "11")

        let head = try await session.send(NetworkRequest(.head, Servers.http2(server, "/get")))
        #expect(head.statusCode == 200 && head.body.isEmpty)
        let none = try await session.send(NetworkRequest(.get, Servers.http2(server, "/status/204")))
        #expect(none.statusCode == 204 && none.body.isEmpty)
        let gzip = try await session.send(NetworkRequest(.get, Servers.http2(server, "/gzip")))
        #expect(gzip.text.contains(#""gzipped": true"#) || gzip.text.contains(#""gzipped":true"#))
        let stream = try await session.send(NetworkRequest(.get, Servers.http2(server, "/stream/20")))
        #expect(stream.text.split(separator: "\n").count == 20)
    }

    @Test("a body larger than any window is sent, with a length or without", arguments: [true, false])
    func largeUpload(isLengthKnown: Bool) async throws {
        let count = 200
        let line = "0123456789abcde"
        let chunk = Data(String(repeating: line + "\n", count: 1_024).utf8)
        let length = Int64(chunk.count * count)
        let body = StreamBody(length: isLengthKnown ? length : nil, contentType: "text/plain") {
            let left = Protected(count)
            return HTTPBodyStream {
                left.withLock { left in
                    left -= 1
                    return left >= 0 ? chunk : nil
                }
            }
        }
        let request = NetworkRequest(.post, try Servers.http2("tls", "/lines"), body: body)
        let response = try await Self.session().send(request)
        let lines = try JSONDecoder().decode([String: Int].self, from: response.body)
        #expect(lines == [line: 1_024 * count, "": 1])
        #expect(response.metrics.protocolVersion == "HTTP/2")
        #expect(response.metrics.bytesSent == length)
    }

    // MARK: Concurrent requests

    @Test("requests that wait for each other share one connection")
    func multiplexing() async throws {
        let session = try Self.session()
        let url = try Servers.http2("tls", "/meet/\(UUID().uuidString)/50")
        let meetings = try await withThrowingTaskGroup { group in
            for _ in 0..<50 { group.addTask { try await Self.meet(session, url) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(meetings.count == 50)
        #expect(Set(meetings.map(\.port)).count == 1)
        #expect(meetings.allSatisfy { $0.ports.count == 50 && Set($0.ports).count == 1 })
    }

    @Test("h2c requests share a connection, except with libcurl 7.88")
    func plainConcurrency() async throws {
        let session = try Self.session(.http2PriorKnowledge)
        let url = try Servers.http2("plain", "/meet/\(UUID().uuidString)/5")
        let meetings = try await withThrowingTaskGroup { group in
            for _ in 0..<5 { group.addTask { try await Self.meet(session, url) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(meetings.map(\.port)).count == (CurlLibrary.breaksPlainHTTP2 ? 5 : 1))
        #expect(meetings.allSatisfy { $0.version == "2" })
    }

    @Test("requests beyond the server's limit all get responses", arguments: [1, 6])
    func moreThanTheLimit(connections: Int) async throws {
        let session = try Self.session(connections: connections)
        let url = try Servers.http2("scriptsTLS", "/count")  // 100 streams at a time: h2's default
        let ports = try await withThrowingTaskGroup { group in
            for _ in 0..<300 { group.addTask { try await CurlHTTP2FrameTests.count(session, url).port } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(ports.count == 300)
        #expect(Set(ports).count <= connections)
    }

    @Test("a canceled request does not end others on its connection")
    func cancellation() async throws {
        let session = try Self.session(connections: 1)
        let (alone, together) = (UUID().uuidString, UUID().uuidString)
        let meeting = try Servers.http2("tls", "/meet/\(together)/2")
        async let first = Self.meet(session, meeting)
        let lonely = try Servers.http2("tls", "/meet/\(alone)/2")
        let cancelled = Task { try await Self.meet(session, lonely) }
        // When this request is answered, the server has received the two before it.
        let before = try await Self.meet(session, Servers.http2("tls", "/meet/\(UUID().uuidString)/1"))
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        let second = try await Self.meet(session, meeting)
        let others = try await first
        #expect(Set([before.port, second.port, others.port]).count == 1)
    }

    @Test("a request that times out does not end others on its connection")
    func timeout() async throws {
        let session = try Self.session(connections: 1)
        let meeting = try Servers.http2("tls", "/meet/\(UUID().uuidString)/2")
        async let first = Self.meet(session, meeting)
        var slow = NetworkRequest(.get, try Servers.http2("tls", "/meet/\(UUID().uuidString)/2"))
        slow.timeouts.attempt = .milliseconds(200)
        let request = slow
        let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
        #expect(error?.code == .timedOut)
        let second = try await Self.meet(session, meeting)
        #expect(try await first.port == second.port)
    }

    // MARK: Dead connections

    /// Drops all packets for a connection from now on, as if the network were gone.
    private static func drop(from local: Int, to remote: Int?) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        let found = names.compactMap { Int32($0) }.first {
            port(of: $0, { getsockname($0, $1, $2) }) == local && port(of: $0, { getpeername($0, $1, $2) }) == remote
        }
        // A filter of Linux: one instruction, which returns a length of 0 (socket(7), SO_ATTACH_FILTER).
        struct Program {
            var count: UInt16 = 1
            var instructions: UnsafeRawPointer
        }
        let instruction: (UInt16, UInt8, UInt8, UInt32) = (0x06, 0, 0, 0)
        let descriptor = try #require(found)
        let result = withUnsafeBytes(of: instruction) { bytes in
            guard let start = bytes.baseAddress else { return Int32(-1) }
            var program = Program(instructions: start)
            return setsockopt(descriptor, SOL_SOCKET, 26, &program, socklen_t(MemoryLayout<Program>.size))
        }
        try #require(result == 0)
    }

    /// Ends the first exchange of a path by a timeout, as soon as its request is sent, and on a dead connection, as soon as
    /// the system has sent it again.
    private static func timeOut(_ path: String, isDead: Bool = false, of loop: CurlLoop) async throws -> Bool {
        try await comesTrue {
            try await loop.locked { loop in
                let sent = loop.active.first { $0.request.url.hasSuffix(path) && $0.sendTime > 0 }
                guard let sent, !isDead || swcurl_poller_silence(loop.poller, sent.handle.easy) >= 0 else {
                    return false
                }
                loop.timeOut([sent])
                return true
            }
        }
    }

    @Test("a dead connection gets no requests after a timeout", arguments: [false, true], [false, true])
    func deadConnection(isDead: Bool, isShared: Bool) async throws {
        let session = try Self.session()
        let counting = try Servers.http2("scriptsTLS", "/count")
        let first = try await CurlHTTP2FrameTests.count(session, counting)
        let other = isShared ? try await CurlHTTP2FrameTests.hang(session, counting) : nil
        let late = NetworkRequest(.get, try Servers.http2("scriptsTLS", "/silent"))
        if isDead { try Self.drop(from: first.port, to: counting.port) }
        let loop = try #require(session.existingLoop)
        var tasks: [Task<NetworkResponse, any Error>] = []
        for _ in 0..<(isDead ? 1 : 2) {
            // The answer to its count acknowledges the request.
            let task =
                isDead
                ? Task { try await session.send(late) } : try await CurlHTTP2FrameTests.hang(session, counting, late)
            tasks.append(task)
        }
        // The RST_STREAM for the first one is not acknowledged at once.
        for task in tasks {
            #expect(try await Self.timeOut("/silent", isDead: isDead, of: loop))
            let error = await #expect(throws: NetworkError.self) { try await task.value }
            #expect(error?.code == .timedOut)
        }
        let foundDeadAt = try await loop.locked(\.foundDeadAt)
        #expect((foundDeadAt > 0) == isDead)
        let next = try await CurlHTTP2FrameTests.count(session, counting)
        #expect((next.port == first.port) == (isShared && !isDead))
        other?.cancel()
    }

    @Test("a connection that died after an acknowledged request is found dead")
    func deadAfterAcknowledgment() async throws {
        let session = try Self.session()
        let counting = try Servers.http2("scriptsTLS", "/count")
        let silent = NetworkRequest(.get, try Servers.http2("scriptsTLS", "/silent"))
        let first = try await CurlHTTP2FrameTests.count(session, counting)
        let acknowledged = try await CurlHTTP2FrameTests.hang(session, counting, silent)
        let loop = try #require(session.existingLoop)
        try await loop.locked { loop in
            for exchange in loop.active { exchange.sendTime = CurlLoop.longAgo }
        }
        try Self.drop(from: first.port, to: counting.port)
        let late = Task { try await session.send(silent) }
        let isSwept = try await comesTrue {
            try await loop.locked { loop in
                let sent = loop.active.filter { $0.sendTime > 0 }
                guard sent.count == 2, swcurl_poller_silence(loop.poller, sent[1].handle.easy) >= 0 else {
                    return false
                }
                loop.timeOut(sent)
                return true
            }
        }
        #expect(isSwept)
        for task in [acknowledged, late] {
            let error = await #expect(throws: NetworkError.self) { try await task.value }
            #expect(error?.code == .timedOut)
        }
        let foundDeadAt = try await loop.locked(\.foundDeadAt)
        #expect(foundDeadAt > 0)
    }

    @Test("a connection that was idle when another one was found dead is not used")
    func idleConnection() async throws {
        try await MockServer.run(handler: { _ in .text("ok") }) { server in
            let session = CurlSession(configuration: .direct)
            _ = try await session.send(NetworkRequest(.get, server.url))
            // libcurl compares whole seconds. However much longer this takes, the result is the same.
            try await Task.sleep(for: .milliseconds(2_100))
            let loop = try #require(session.existingLoop)
            try await loop.locked { $0.foundDeadAt = DispatchTime.now().uptimeNanoseconds }
            for _ in 0..<2 { _ = try await session.send(NetworkRequest(.get, server.url)) }
            #expect(server.connectionCount == 2)
        }
    }

    @Test("a stream that is silent until its timeout leaves its connection")
    func silentStream() async throws {
        let session = try Self.session()
        let counting = try Servers.http2("scriptsTLS", "/count")
        let first = try await CurlHTTP2FrameTests.count(session, counting)
        var request = NetworkRequest(.get, try Servers.http2("scriptsTLS", "/open/2"))
        request.options.streamsResponse = true
        let stream = try await session.send(request)
        let loop = try #require(session.existingLoop)
        #expect(try await Self.timeOut("/open/2", of: loop))
        let next = try await CurlHTTP2FrameTests.count(session, counting)
        #expect(next.port != first.port)
        withExtendedLifetime(stream) {}
    }
}
#endif
