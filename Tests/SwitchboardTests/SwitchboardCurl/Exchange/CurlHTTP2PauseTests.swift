#if os(Linux)
import SwitchboardCurlC
import SwitchboardPlatform
import Foundation
import Testing

import SwitchboardTestSupport
@testable import Switchboard
@testable import SwitchboardCurl

/// Slow readers and writers on shared HTTP/2 connections.
@Suite(.needsServers, .inTurn, .serialized, .timeLimit(.minutes(10)))
struct CurlHTTP2PauseTests {
    /// A Boolean value that indicates whether a request may share the connection of a paused reader. Before libcurl
    /// 7.88 it would stall.
    private static let isShared = !CurlLibrary.stallsSharedConnections

    /// Creates a session with one shared connection, or with enough connections for one per reader.
    private static func session() throws -> CurlSession { try CurlHTTP2Tests.session(connections: isShared ? 1 : 16) }

    /// Returns whether a chunk equals the bytes of `/bytes` from an offset.
    static func isRight(_ chunk: Data, from offset: Int) -> Bool {
        let start = offset % 251
        return start + chunk.count <= pattern.count && pattern[start..<start + chunk.count] == chunk
    }

    private static let pattern: Data = {
        var pattern = Data(0..<251)
        for _ in 0..<14 { pattern.append(pattern) }
        return pattern
    }()

    @Test(
        "a paused stream does not stall its connection and arrives whole",
        arguments: [10_000, 600_000, 3_000_000, 40_000_000])
    func pausedReader(size: Int) async throws {
        let session = try Self.session()
        let other = try Servers.http2("scriptsTLS", "/count")
        let before = try await CurlHTTP2FrameTests.count(session, other)
        var request = NetworkRequest(.get, try Servers.http2("scriptsTLS", "/bytes/\(size)"))
        request.options.streamsResponse = true
        let paused = try await session.send(request)
        for number in 0..<5 {
            let count = try await CurlHTTP2FrameTests.count(session, other)
            if Self.isShared {
                #expect(count.port == before.port)
                #expect(count.count == number + 3)
            } else if size > 1 << 20 {  // A smaller body has arrived, and its connection is free again.
                #expect(count.port != before.port)
            }
        }
        let large = try await session.send(NetworkRequest(.get, Servers.http2("scriptsTLS", "/bytes/2000000")))
        #expect(large.body.count == 2_000_000 && Self.isRight(large.body, from: 0))
        var total = 0
        for try await chunk in paused.bytes {
            try #require(Self.isRight(chunk, from: total))
            total += chunk.count
        }
        #expect(total == size)
    }

    /// Before 8.1, libcurl stops reading a connection when a stream's buffer is full, here 256 KiB. It then forgets
    /// the response that follows in the same write.
    @Test("a response behind a body that fills libcurl's buffer arrives", arguments: [1, 20])
    func responseBehindBody(parts: Int) async throws {
        let session = try Self.session()
        let size = (256 << 10) + 100
        for number in 0..<40 / parts where Self.isShared {
            var request = NetworkRequest(.get, try Servers.http2("scriptsTLS", "/open/\(1 + parts * size)"))
            request.options.streamsResponse = true
            let unread = try await session.send(request)
            for part in 0..<parts {
                let count = try await CurlHTTP2FrameTests.count(session, Servers.http2("scriptsTLS", "/behind/\(size)"))
                #expect(count.count == number * (parts + 1) + part + 2)
            }
            withExtendedLifetime(unread) {}
        }
    }

    /// Before 8.1, the loop reads the connection of a stream that it ends, and so the responses of other streams.
    @Test("a response that is read when another one times out ends its call")
    func responseAtTimeout() async throws {
        guard Self.isShared else { return }
        let session = try Self.session()
        var request = NetworkRequest(.get, try Servers.http2("scriptsTLS", "/open/2"))
        request.options.streamsResponse = true
        let late = try await session.send(request)
        let name = UUID().uuidString
        let waiting = NetworkRequest(.get, try Servers.http2("scriptsTLS", "/wait/\(name)"))
        let call = try await CurlHTTP2FrameTests.hang(session, Servers.http2("scriptsTLS", "/count"), waiting)
        let loop = try #require(session.existingLoop)
        let (isLocked, hasArrived) = (Gate(), DispatchSemaphore(value: 0))
        async let result = loop.locked { loop in
            isLocked.open()
            hasArrived.wait()  // then the answer is in the system's buffer
            for exchange in loop.active where exchange.request.isStreamed {
                var request = exchange.request
                request.attemptTimeout = 0
                exchange.deadlines = CurlDeadlines(request, start: 0)
                loop.updateDeadline(of: exchange)
            }
            loop.sweep()
            // The call has ended, or libcurl continues at once.
            return loop.active.isEmpty || swcurl_poller_due(loop.poller) == 0
        }
        do {
            defer { hasArrived.signal() }
            try await isLocked.wait()
            let releasing = try Servers.http2("scriptsTLS", "/release/\(name)")
            _ = try await CurlHTTP2FrameTests.count(CurlHTTP2FrameTests.session(), releasing)
        }
        let isRead = try await result
        #expect(isRead || !CurlLibrary.leavesBytesUnread)
        let response = try await call.value
        #expect(response.statusCode == 200)
        let error = await #expect(throws: NetworkError.self) { for try await _ in late.bytes {} }
        #expect(error?.code == .timedOut)
    }

    /// Ends the exchange with a body by a timeout, as soon as the server has received `count` bytes of the body and
    /// `acknowledged` bytes of the connection, and the system has no more. Returns whether the exchange continues.
    private static func timeOutUpload(
        of loop: CurlLoop, after count: Int64, acknowledged: Int64 = -1
    ) async throws -> Bool {
        let continues = Protected(false)
        _ = try await comesTrue {
            try await loop.locked { loop in
                guard let upload = loop.active.first(where: { $0.request.bodyLength != nil }) else { return true }
                var (age, isQueued) = (UInt32(0), false)
                let received = swcurl_poller_acknowledged(loop.poller, upload.handle.easy, &age, &isQueued)
                guard !isQueued, received >= acknowledged, swcurl_easy_uploaded(upload.handle.easy) >= count else {
                    return false
                }
                loop.timeOut([upload])
                continues.withLock { $0 = upload.activeIndex >= 0 }
                return true
            }
        }
        return continues.value
    }

    @Test("a body that is sent at once does not extend an idle timeout", arguments: [true, false])
    func idleAfterBody(hasStream: Bool) async throws {
        guard Self.isShared else { return }
        let session = try Self.session()
        var request = NetworkRequest(.get, try Servers.http2("scriptsTLS", "/open/2"))
        request.options.streamsResponse = true
        let other = hasStream ? try await session.send(request) : nil
        let name = UUID().uuidString
        let body = DataBody(Data("0123456789".utf8))
        let waiting = NetworkRequest(.post, try Servers.http2("scriptsTLS", "/wait/\(name)"), body: body)
        let call = try await CurlHTTP2FrameTests.hang(session, Servers.http2("scriptsTLS", "/count"), waiting)
        let loop = try #require(session.existingLoop)
        let continues = try await Self.timeOutUpload(of: loop, after: 0)
        #expect(!continues)
        // A call that has not ended gets this answer.
        let releasing = try Servers.http2("scriptsTLS", "/release/\(name)")
        _ = try await CurlHTTP2FrameTests.count(CurlHTTP2FrameTests.session(), releasing)
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.code == .timedOut)
        withExtendedLifetime(other) {}
    }

    /// The server takes 65,535 bytes of a stream (RFC 9113, section 6.9.2), and never more.
    @Test("other requests do not extend the idle timeout of a body that stalls", arguments: [40_000, 1_000_000])
    func idleAmidBody(size: Int) async throws {
        guard Self.isShared else { return }
        let session = try Self.session()
        let counting = try Servers.http2("scriptsTLS", "/count")
        let body = DataBody(Data(count: size))
        let waiting = NetworkRequest(
            .post, try Servers.http2("scriptsTLS", "/wait/\(UUID().uuidString)"), body: body)
        let call = try await CurlHTTP2FrameTests.hang(session, counting, waiting)
        let loop = try #require(session.existingLoop)
        // The last bytes of the body may extend it.
        var continues = true
        for _ in 0..<20 where continues {
            continues = try await Self.timeOutUpload(of: loop, after: 1)
            _ = try await CurlHTTP2FrameTests.count(session, counting)
        }
        #expect(!continues)
        if continues { call.cancel() }
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.code == .timedOut)
    }

    /// libcurl 8.5 counts the bytes of a body in steps of 64 KiB.
    @Test("bytes that fill a small window extend an idle timeout")
    func smallWindows() async throws {
        guard Self.isShared else { return }
        let session = try Self.session()
        let name = UUID().uuidString
        let body = DataBody(Data(count: 1_000_000))
        let waiting = NetworkRequest(.post, try Servers.http2("scriptsTLS", "/wait/\(name)"), body: body)
        let call = try await CurlHTTP2FrameTests.hang(session, Servers.http2("scriptsTLS", "/count"), waiting)
        let loop = try #require(session.existingLoop)
        // The first window has 65,535 bytes.
        let isSending = try await Self.timeOutUpload(of: loop, after: 60_000)
        #expect(isSending)
        let widening = try Servers.http2("scriptsTLS", "/widen/\(name)/8192")
        for _ in 0..<3 {
            let acknowledged = try await loop.locked { loop in
                let upload = loop.active.first { $0.request.bodyLength != nil }
                var (age, isQueued) = (UInt32(0), false)
                return upload.map { swcurl_poller_acknowledged(loop.poller, $0.handle.easy, &age, &isQueued) }
            }
            _ = try await CurlHTTP2FrameTests.count(CurlHTTP2FrameTests.session(), widening)
            let continues = try await Self.timeOutUpload(
                of: loop, after: 0, acknowledged: try #require(acknowledged) + 8_192)
            #expect(continues)
        }
        call.cancel()
        _ = await call.result
    }

    @Test("the end of a body extends an idle timeout beside an older stream")
    func uploadBesideStream() async throws {
        guard Self.isShared else { return }
        let session = try Self.session()
        var request = NetworkRequest(.get, try Servers.http2("scriptsTLS", "/open/2"))
        request.options.streamsResponse = true
        let stream = try await session.send(request)
        let name = UUID().uuidString
        let body = DataBody(Data(count: 40_000))
        let waiting = NetworkRequest(.post, try Servers.http2("scriptsTLS", "/wait/\(name)"), body: body)
        let call = try await CurlHTTP2FrameTests.hang(session, Servers.http2("scriptsTLS", "/count"), waiting)
        let loop = try #require(session.existingLoop)
        try await loop.locked { loop in
            for exchange in loop.active where exchange.request.isStreamed { exchange.sendTime = CurlLoop.longAgo }
        }
        let continues = try await Self.timeOutUpload(of: loop, after: 40_000)
        #expect(continues)
        let releasing = try Servers.http2("scriptsTLS", "/release/\(name)")
        _ = try await CurlHTTP2FrameTests.count(CurlHTTP2FrameTests.session(), releasing)
        let response = try await call.value
        #expect(response.statusCode == 200)
        withExtendedLifetime(stream) {}
    }

    @Test("a paused reader makes the server wait")
    func backPressure() async throws {
        let session = try Self.session()
        let size = 80_000_000
        var request = NetworkRequest(.get, try Servers.http2("scriptsTLS", "/bytes/\(size)"))
        request.options.streamsResponse = true
        let paused = try await session.send(request)
        for _ in 0..<10 {
            let unsent = try await CurlHTTP2FrameTests.count(session, Servers.http2("scriptsTLS", "/count")).unsent
            // libcurl's window for a stream is 32 MiB. A separate connection has no unsent bytes.
            #expect(Self.isShared ? unsent > size / 2 : unsent == 0)
        }
        withExtendedLifetime(paused) {}
    }

    @Test("slow readers and quick requests on one connection get their bodies")
    func manySlowReaders() async throws {
        let session = try Self.session()
        let url = try Servers.http2("scriptsTLS", "/bytes/4000000")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var request = NetworkRequest(.get, url)
                    request.options.streamsResponse = true
                    var total = 0
                    for try await chunk in try await session.send(request).bytes {
                        try #require(Self.isRight(chunk, from: total))
                        total += chunk.count
                        // A quick request for every chunk sets the pace.
                        _ = try await CurlHTTP2FrameTests.count(session, Servers.http2("scriptsTLS", "/count"))
                    }
                    #expect(total == 4_000_000)
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("requests share a connection again when no reader is left", arguments: [true, false])
    func sharedAgain(isReadToTheEnd: Bool) async throws {
        let session = try CurlHTTP2Tests.session(connections: 1)
        var request = NetworkRequest(.get, try Servers.http2("tls", "/bytes/100000"))
        request.options.streamsResponse = true
        for try await chunk in try await session.send(request).bytes where !chunk.isEmpty && !isReadToTheEnd { break }
        let url = try Servers.http2("tls", "/meet/\(UUID().uuidString)/5")
        let ports = try await withThrowingTaskGroup { group in
            for _ in 0..<5 { group.addTask { try await CurlHTTP2Tests.meet(session, url).port } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(ports.count == 1)
    }

    @Test("releasing a half-read stream ends only that stream")
    func abandonedReader() async throws {
        let session = try CurlHTTP2Tests.session(connections: 1)
        let other = try Servers.http2("scriptsTLS", "/count")
        let before = try await CurlHTTP2FrameTests.count(session, other)
        for _ in 0..<3 {
            var request = NetworkRequest(.get, try Servers.http2("scriptsTLS", "/bytes/20000000"))
            request.options.streamsResponse = true
            for try await chunk in try await session.send(request).bytes {
                #expect(!chunk.isEmpty)
                break
            }
        }
        let after = try await CurlHTTP2FrameTests.count(session, other)
        #expect(after.port == before.port)
        #expect(after.count == 5)
    }

    @Test("canceled requests do not affect others on their connection")
    func cancellations() async throws {
        let session = try CurlHTTP2Tests.session(connections: 1)
        let url = try Servers.http2("scriptsTLS", "/bytes/100000")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<120 {
                let task = Task { try await session.send(NetworkRequest(.get, url)) }
                if number % 2 == 0 {
                    group.addTask {
                        for _ in 0..<number { await Task.yield() }
                        task.cancel()
                        _ = try? await task.value
                    }
                } else {
                    group.addTask {
                        let body = try await task.value.body
                        #expect(body.count == 100_000 && Self.isRight(body, from: 0))
                    }
                }
            }
            try await group.waitForAll()
        }
        _ = try await CurlHTTP2FrameTests.count(session, Servers.http2("scriptsTLS", "/count"))
    }

    @Test("an upload that waits for its source stalls no other request")
    func waitingUpload() async throws {
        let session = try CurlHTTP2Tests.session(connections: 1)
        let gate = Deliveries<Bool>()
        let step = Protected(0)
        let body = StreamBody(length: nil, contentType: "text/plain") {
            HTTPBodyStream {
                let number = step.withLock { step in
                    step += 1
                    return step
                }
                if number == 2 { _ = try await gate.first() }
                return number <= 2 ? Data("line\n".utf8) : nil
            }
        }
        let upload = NetworkRequest(.post, try Servers.http2("tls", "/lines"), body: body)
        async let response = session.send(upload)
        let url = try Servers.http2("tls", "/meet/\(UUID().uuidString)/1")
        let before = try await CurlHTTP2Tests.meet(session, url)
        for _ in 0..<5 {
            let url = try Servers.http2("tls", "/meet/\(UUID().uuidString)/1")
            #expect(try await CurlHTTP2Tests.meet(session, url).port == before.port)
        }
        gate.open()
        #expect(try await JSONDecoder().decode([String: Int].self, from: response.body) == ["line": 2, "": 1])
    }

    @Test("shutting a session down ends its paused readers")
    func shutdown() async throws {
        let session = try Self.session()
        var paused: [NetworkResponse] = []
        for _ in 0..<3 {
            var request = NetworkRequest(.get, try Servers.http2("scriptsTLS", "/bytes/20000000"))
            request.options.streamsResponse = true
            paused.append(try await session.send(request))
        }
        _ = try await CurlHTTP2FrameTests.count(session, Servers.http2("scriptsTLS", "/count"))
        await session.shutdown()
        for response in paused {
            let error = await #expect(throws: NetworkError.self) { for try await _ in response.bytes {} }
            #expect(error?.code == .sessionInvalidated)
        }
    }
}
#endif
