#if os(Linux)
import SwitchboardCurl
import SwitchboardPlatform
import Foundation
@testable import Switchboard
import SwitchboardTestSupport
import Testing

/// HTTP/2 frames from Python's h2 that a usual server would not send, or not in this order.
@Suite(.needsServers, .inTurn, .serialized, .timeLimit(.minutes(10)))
struct CurlHTTP2FrameTests {
    /// The response of `/count`: the client's port, the number of requests on its connection, and the bytes not sent
    /// yet.
    struct Count: Decodable, Equatable {
        var port: Int
        var count: Int
        var unsent: Int
    }

    static func count(_ session: CurlSession, _ url: URL) async throws -> Count {
        var request = NetworkRequest(.get, url)
        request.timeouts.attempt = .seconds(300)
        return try JSONDecoder().decode(Count.self, from: await session.send(request).body)
    }

    static func session(connections: Int = 6) throws -> CurlSession {
        try CurlHTTP2Tests.session(connections: connections)
    }

    /// Sends a request that the server never finishes over an existing connection, and waits until it has arrived.
    static func hang(
        _ session: CurlSession, _ counting: URL, _ hanging: NetworkRequest? = nil
    ) async throws -> Task<NetworkResponse, any Error> {
        var number = try await count(session, counting).count + 1
        let request = try hanging ?? NetworkRequest(.get, Servers.http2("scriptsTLS", "/hang"))
        let task = Task { try await session.send(request) }
        // The server's count grows by one more as soon as the other request has arrived.
        while number < 1_000, try await count(session, counting).count == number { number += 1 }
        return task
    }

    // MARK: Trailers and interim responses

    @Test("trailers arrive with a body in memory and in a file")
    func trailers() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        for destination in [nil, file] {
            let task = destination.map { HTTPTask.download(to: $0) } ?? .request
            let endPoint = URLEndPoint(.get, try Servers.http2("scriptsTLS", "/trailers"), task: task)
            let response = try await Router<URLEndPoint>(session: Self.session()).rawResponse(for: endPoint)
            #expect(try destination.map { try Data(contentsOf: $0) } ?? response.body == Data("body".utf8))
            #expect(response.trailers == ["x-checksum": "900150983cd24fb0", "grpc-status": "0"])
            #expect(!response.headers.contains("x-checksum"))
        }
    }

    @Test("an interim response adds nothing to the final response")
    func interim() async throws {
        let response = try await Self.session().send(NetworkRequest(.get, Servers.http2("scriptsTLS", "/interim")))
        #expect(response.statusCode == 200)
        #expect(!response.headers.contains("Link"))
        #expect(response.text.contains("count"))
    }

    // MARK: Answers before the end of the request

    // RFC 9113 §8.1: a response may be complete before the request is; a RST_STREAM with NO_ERROR after it only ends
    // the request.
    @Test(
        "an answer that is complete before the body is sent is the response",
        arguments: [(false, true), (true, false)] + (CurlLibrary.version < 0x08_01_00 ? [(false, false)] : []),
        [nil, 8 as Int64])
    func early(_ end: (isReset: Bool, isSized: Bool), length: Int64?) async throws {
        let session = try Self.session(connections: 1)
        let path = end.isSized ? "/early/sized" : "/early"
        let (task, isAnswered) = try await Self.upload(session, path, length: length)
        if end.isReset { _ = try await Self.count(session, Servers.http2("scriptsTLS", "/endearly/0")) }
        isAnswered.open()
        let response = try await task.value
        #expect(response.statusCode == 200)
        #expect(response.text.contains("count"))
        #expect(response.history.isEmpty)
        #expect(try await Self.count(session, Servers.http2("scriptsTLS", "/count")).count > 2)
    }

    @Test("an answer with RST_STREAM is the response or connectionLost", arguments: [nil, 8 as Int64])
    func earlyAtOnce(length: Int64?) async throws {
        let session = try Self.session(connections: 1)
        let (task, isAnswered) = try await Self.upload(session, "/enough", length: length)
        isAnswered.open()
        do {
            #expect(try await task.value.text.contains("count"))
        } catch let error as NetworkError {
            #expect(error.code == .connectionLost)
            #expect(
                error.reason == "the server answered before the end of the body, and libcurl discarded the response")
        }
    }

    @Test("a stream reset with an error after its answer is an error")
    func earlyError() async throws {
        let session = try Self.session(connections: 1)
        let (task, isAnswered) = try await Self.upload(session, "/early", length: 8)
        _ = try await Self.count(session, Servers.http2("scriptsTLS", "/endearly/2"))
        isAnswered.open()
        let error = await #expect(throws: NetworkError.self) { try await task.value }
        #expect(error?.code == .truncatedBody)
        #expect(error?.reason?.contains("INTERNAL_ERROR") == true)
    }

    @Test("a part of an answer before RST_STREAM with NO_ERROR is truncatedBody", arguments: [nil, 8 as Int64])
    func earlyPart(length: Int64?) async throws {
        let session = try Self.session(connections: 1)
        let (task, isAnswered) = try await Self.upload(session, "/partly", length: length)
        _ = try await Self.count(session, Servers.http2("scriptsTLS", "/endearly/0"))
        isAnswered.open()
        let error = await #expect(throws: NetworkError.self) { try await task.value }
        #expect(error?.code == .truncatedBody)
        #expect(error?.response?.body == Data("0123456789".utf8))
    }

    /// Starts an upload whose body waits in its middle, and waits until the server has answered it.
    private static func upload(
        _ session: CurlSession, _ path: String, length: Int64?
    ) async throws -> (Task<NetworkResponse, any Error>, Gate) {
        let isAnswered = Gate()
        let parts = Protected(["text", "more"])
        var request = NetworkRequest(.post, try Servers.http2("scriptsTLS", path))
        request.timeouts.attempt = .seconds(300)
        request.body = StreamBody(length: length) {
            HTTPBodyStream {
                if parts.withLock({ $0.count == 1 }) { try await isAnswered.wait() }
                return parts.withLock { $0.popLast().map { Data($0.utf8) } }
            }
        }
        let upload = request
        let task = Task { try await session.send(upload) }
        // A count that includes the upload follows its answer, because the server answers in turn on their one connection.
        var number = 1
        while try await count(session, Servers.http2("scriptsTLS", "/count")).count == number { number += 1 }
        return (task, isAnswered)
    }

    // MARK: Upgrades

    @Test("an upgrade does not take a shared connection of its handle's past", arguments: [1, 2])
    func upgradeAfterSharing(hangs: Int) async throws {
        let session = try Self.session(connections: 1)
        let counting = try Servers.http2("scriptsTLS", "/count")
        var hanging: [Task<NetworkResponse, any Error>] = []
        defer { for task in hanging { task.cancel() } }
        for _ in 0..<hangs { hanging.append(try await Self.hang(session, counting)) }
        // Only one of two stays. Its handle was not the last one for which libcurl watched the socket.
        if hangs == 2 { hanging.removeFirst().cancel() }
        let port = try await Self.count(session, counting).port
        try await RawServer.run { client in
            _ = try client.readHead()
            try client.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\nin")
            try client.send(client.read(3))
            try client.waitForEnd()
        } body: { server in
            let parts = Protected(["out"])
            var request = NetworkRequest(.get, server.url)
            request.options.upgrade = ConnectionUpgrade(
                headers: { _ in ["Connection": "Upgrade", "Upgrade": "test"] },
                outgoing: {
                    HTTPBodyStream {
                        if let part = parts.withLock({ $0.popLast() }) { return Data(part.utf8) }
                        try await Gate().wait()
                        return nil
                    }
                }, connected: { _ in }, byURLSession: { _, _ in throw NetworkError(.unsupported) })
            let response = try await session.send(request)
            var text = ""
            for try await bytes in response.bytes {
                text += String(decoding: bytes, as: UTF8.self)
                if text == "inout" { break }
            }
            #expect(text == "inout")
        }
        #expect(try await Self.count(session, counting).port == port)
    }

    // MARK: RST_STREAM, GOAWAY, closed connections

    @Test("a stream reset inside a body in memory is truncatedBody")
    func resetInMemory() async throws {
        let session = try Self.session(connections: 1)
        let url = try Servers.http2("scriptsTLS", "/count")
        let task = try await Self.hang(session, url)
        let after = try await Self.count(session, Servers.http2("scriptsTLS", "/resethanging/2"))
        let error = await #expect(throws: NetworkError.self) { try await task.value }
        #expect(error?.code == .truncatedBody)
        #expect(error?.response?.body == Data("0123456789".utf8))
        #expect(try await Self.count(session, url).port == after.port)
    }

    @Test(
        "a reset stream is truncatedBody with its bytes; the connection stays",
        .disabled(if: CurlLibrary.stallsSharedConnections, "a streamed response has its connection alone before 7.88"))
    func resetInBody() async throws {
        let session = try Self.session(connections: 1)
        var request = NetworkRequest(.get, try Servers.http2("scriptsTLS", "/hang"))
        request.options.streamsResponse = true
        let response = try await session.send(request)
        var iterator = response.bytes.makeAsyncIterator()
        #expect(try await iterator.next() == Data("0123456789".utf8))
        let after = try await Self.count(session, Servers.http2("scriptsTLS", "/resethanging/2"))
        #expect(after.count == 2)
        let error = await #expect(throws: NetworkError.self) { try await iterator.next() }
        #expect(error?.code == .truncatedBody)
        #expect(error?.statusCode == 200)
        #expect((error?.underlying as? CurlError)?.code == 92)  // CURLE_HTTP2_STREAM
        #expect(error?.reason?.contains("INTERNAL_ERROR") == true)  // RFC 9113 §7
        #expect(try await Self.count(session, Servers.http2("scriptsTLS", "/count")).port == after.port)
    }

    @Test("a reset that arrives with the head is an error")
    func resetAtOnce() async throws {
        let error = try await Self.session().failure(Servers.http2("scriptsTLS", "/reset/2"))
        #expect([.truncatedBody, .connectionLost].contains(error.code))
        #expect((error.underlying as? CurlError)?.code == 92)
    }

    @Test("a reset before the head is connectionLost", arguments: [1, 2, 8, 11])
    func resetInsteadOfHead(code: Int) async throws {
        let error = try await Self.session().failure(Servers.http2("scriptsTLS", "/refuse/\(code)"))
        #expect(error.code == .connectionLost)
        #expect(error.statusCode == nil)
    }

    @Test("a refused stream is sent again, but not forever")
    func refusedStream() async throws {
        let session = try Self.session()
        let once = try Servers.http2("scriptsTLS", "/refuseonce/\(UUID().uuidString)")
        #expect(try await Self.count(session, once).count == 1)
        let error = try await session.failure(Servers.http2("scriptsTLS", "/refuse/7"))
        #expect(error.code == .connectionLost, "\(error)")
    }

    @Test("after GOAWAY the response arrives, and the next request reconnects")
    func goAway() async throws {
        let session = try Self.session(connections: 1)
        let last = try await Self.count(session, Servers.http2("scriptsTLS", "/goaway"))
        let next = try await Self.count(session, Servers.http2("scriptsTLS", "/count"))
        #expect(next.port != last.port)
        #expect(next.count == 1)
    }

    @Test(
        "a request that GOAWAY excludes is sent again on another connection",
        .disabled(if: CurlLibrary.stallsSharedConnections, "a streamed response has its connection alone before 7.88"))
    func goAwayOnce() async throws {
        let session = try Self.session()
        var request = NetworkRequest(.get, try Servers.http2("scriptsTLS", "/hang"))
        request.options.streamsResponse = true
        let before = try await session.send(request)
        let once = try Servers.http2("scriptsTLS", "/goawayonce/\(UUID().uuidString)")
        #expect(try await Self.count(session, once).count == 1)
        withExtendedLifetime(before) {}
    }

    @Test("a request that GOAWAY excludes next to another is sent again")
    func goAwayInMemory() async throws {
        let session = try Self.session()
        let task = try await Self.hang(session, Servers.http2("scriptsTLS", "/count"))
        defer { task.cancel() }
        let once = try Servers.http2("scriptsTLS", "/goawayonce/\(UUID().uuidString)")
        #expect(try await Self.count(session, once).count == 1)
    }

    @Test("the only request that GOAWAY excludes is sent again elsewhere")
    func goAwayAlone() async throws {
        let session = try Self.session()
        let before = try await Self.count(session, Servers.http2("scriptsTLS", "/count"))
        let once = try Servers.http2("scriptsTLS", "/goawayonce/\(UUID().uuidString)")
        let after = try await Self.count(session, once)
        #expect(after.count == 1)
        #expect(after.port != before.port)
    }

    @Test("GOAWAY instead of every response throws a typed error", arguments: [0, 2])
    func goAwayInstead(code: Int) async throws {
        let error = try await Self.session().failure(Servers.http2("scriptsTLS", "/abort/\(code)"))
        #expect([.connectionLost, .invalidResponse].contains(error.code), "\(error)")
    }

    @Test("a cut connection is truncatedBody with the received bytes")
    func cut() async throws {
        let error = try await Self.session().failure(Servers.http2("scriptsTLS", "/cut"))
        #expect(error.code == .truncatedBody)
        #expect(error.statusCode == 200)
        #expect(error.body == Data("0123456789".utf8))
    }

    @Test("a body over the limit ends only its stream")
    func bodyOverTheLimit() async throws {
        let session = try Self.session(connections: 1)
        let before = try await Self.count(session, Servers.http2("scriptsTLS", "/count"))
        var request = NetworkRequest(.get, try Servers.http2("scriptsTLS", "/bytes/1000000"))
        request.limits.responseBody = 50_000
        let limited = request
        let error = await #expect(throws: NetworkError.self) { try await session.send(limited) }
        #expect(error?.code == .responseTooLarge)
        let after = try await Self.count(session, Servers.http2("scriptsTLS", "/count"))
        #expect(after.port == before.port)
    }
}
#endif
