import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardTesting
@testable import SwitchboardMocks
import SwitchboardTestSupport
import Testing

/// Cancellation in every phase ends the call at once and closes its connection. The session stays usable.
@Suite(.inTurn, .serialized, .timeLimit(.minutes(10)))
struct SessionCancellationTests {
    @Test(
        "a cancelled call sends nothing [cancellation before the start]", .requirement("S2.16"),
        arguments: SessionKind.allCases)
    func cancelledBeforeStart(kind: SessionKind) async throws {
        try await MockServer.run { server in
            let session = kind.make()
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await session.send(NetworkRequest(.get, server.url))
            }
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(server.connectionCount == 0)
        }
    }

    @Test(
        "a canceled queued request is never sent [cancellation in the queue]",
        .requirement("S2.16"),
        arguments: SessionKind.allCases)
    func cancelledInTheQueue(kind: SessionKind) async throws {
        let turn = DispatchSemaphore(value: 0)
        let handler: MockServer.Handler = { request in
            if request.path == "/1" { turn.wait() }
            return .text(request.path)
        }
        try await MockServer.run(handler: handler) { server in
            let session = kind.make(SessionConfiguration(maximumConnectionsPerHost: 1))
            async let first = session.send(NetworkRequest(.get, server.url.appendingPathComponent("1")))
            _ = try await server.takeRequest()
            let second = startTask {
                try await session.send(NetworkRequest(.get, server.url.appendingPathComponent("2")))
            }
            async let third = session.send(NetworkRequest(.get, server.url.appendingPathComponent("3")))
            // A later request times out. By then the second one is in the queue.
            var probe = NetworkRequest(.get, server.url.appendingPathComponent("4"))
            probe.timeouts.attempt = .milliseconds(100)
            let fourth = probe
            await #expect(throws: NetworkError.self) { try await session.send(fourth) }
            second.cancel()
            await #expect(throws: CancellationError.self) { try await second.value }
            turn.signal()
            #expect(try await first.text == "/1")
            #expect(try await third.text == "/3")
            #expect(server.requests.map(\.path) == ["/1", "/3"])
        }
    }

    @Test(
        "a cancel ends a TCP or TLS handshake [cancellation while connecting]",
        .requirement("S2.16"),
        arguments: SessionKind.allCases, ["tcp", "tls"])
    func cancelledWhileConnecting(kind: SessionKind, layer: String) async throws {
        try await withDeafServer(layer) { url in
            let session = kind.make()
            let task = Task { try await session.send(NetworkRequest(.get, url)) }
            // A second request times out. By then the first one is connecting.
            var other = NetworkRequest(.get, url)
            other.timeouts.attempt = .milliseconds(100)
            await #expect(throws: NetworkError.self) { try await session.send(other) }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test(
        "cancels and timeouts harm no others [cancellation while connecting]",
        arguments: SessionKind.allCases, ["tcp", "tls"])
    func othersGoOn(kind: SessionKind, layer: String) async throws {
        try await MockServer.run { server in
            server.enqueue(.stall, .text("next"))
            let session = kind.make()
            let waiting = Task { try await session.send(NetworkRequest(.get, server.url)) }
            _ = try await server.takeRequest()
            try await withDeafServer(layer) { url in
                for _ in 1...5 {
                    let task = Task { try await session.send(NetworkRequest(.get, url)) }
                    var other = NetworkRequest(.get, url)
                    other.timeouts.attempt = .milliseconds(50)
                    await #expect(throws: NetworkError.self) { try await session.send(other) }
                    task.cancel()
                    await #expect(throws: CancellationError.self) { try await task.value }
                }
            }
            let next = try await session.send(NetworkRequest(.get, server.url))
            #expect(next.text == "next")
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
    }

    @Test(
        "a cancel closes an unread connection [cancellation while sending]",
        .requirement("S2.16"),
        arguments: SessionKind.allCases, [true, false])
    func cancelledWhileSending(kind: SessionKind, isStreamed: Bool) async throws {
        let (heads, ends) = (Deliveries<String>(), Deliveries<Bool>())
        try await RawServer.run { connection in
            heads.add(try connection.readHead())
            try connection.pause(.milliseconds(100))
            try connection.waitForEnd()
            ends.add(true)
        } body: { server in
            let session = kind.make()
            let data = Data(count: 30_000_000)
            let body: any HTTPBody =
                isStreamed ? StreamBody(length: 30_000_000) { .init(chunks: [data]) } : DataBody(data)
            let task = Task { try await session.send(NetworkRequest(.post, server.url, body: body)) }
            _ = try await heads.first()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(try await ends.first())
        }
    }

    @Test(
        "a cancel also cancels the body's stream [cancellation while sending]",
        .requirement("S2.16"),
        arguments: SessionKind.allCases)
    func cancelledWhileReadingTheBody(kind: SessionKind) async throws {
        let (started, ended) = (Deliveries<Bool>(), Deliveries<Bool>())
        try await MockServer.run { server in
            let body = StreamBody {
                HTTPBodyStream {
                    started.add(true)
                    defer { ended.add(Task.isCancelled) }
                    try await Task.sleep(for: .seconds(60))
                    return nil
                }
            }
            try await cancelUpload(of: body, after: started, over: kind, to: server)
            #expect(try await ended.first())
        }
    }

    /// Sends a body, and cancels the task once the body is read.
    private func cancelUpload(
        of body: StreamBody, after started: Deliveries<Bool>, over kind: SessionKind, to server: MockServer
    ) async throws {
        let session = kind.make()
        let task = Task { try await session.send(NetworkRequest(.post, server.url, body: body)) }
        _ = try await started.first()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test(
        "a cancel counts even if its stream then fails or ends [cancellation while sending]", .requirement("S2.16"),
        arguments: SessionKind.allCases, [true, false])
    func cancelledStreamEnds(kind: SessionKind, isThrown: Bool) async throws {
        struct Spoiled: Error {}
        let started = Deliveries<Bool>()
        try await MockServer.run { server in
            let body = StreamBody(length: 1_000) {
                HTTPBodyStream {
                    started.add(true)
                    do {
                        try await Task.sleep(for: .seconds(60))
                    } catch {
                        if isThrown { throw Spoiled() }
                    }
                    return nil
                }
            }
            try await cancelUpload(of: body, after: started, over: kind, to: server)
        }
    }

    @Test(
        "canceled uploads release their streams [cancellation while sending]",
        arguments: SessionKind.allCases)
    func cancelledStreamsAreReleased(kind: SessionKind) async throws {
        final class Token: Sendable {
            let ends: Deliveries<Void>
            init(_ ends: Deliveries<Void>) { self.ends = ends }
            deinit { ends.add(()) }
        }
        let (starts, ends) = (Deliveries<Void>(), Deliveries<Void>())
        try await RawServer.run { connection in
            _ = try connection.readHead()
            try connection.waitForEnd()
        } body: { server in
            let session = kind.make()
            let body = StreamBody(length: 3_000_000) {
                starts.add(())
                let token = Token(ends)
                let piece = Data(count: 300_000)
                let rest = Deliveries<Void>()
                return HTTPBodyStream {
                    rest.add(())
                    return withExtendedLifetime(token) { rest.all.count > 10 ? nil : piece }
                }
            }
            for index in 0..<200 {
                let known = starts.all.count
                let task = Task { try await session.send(NetworkRequest(.post, server.url, body: body)) }
                for _ in 0..<(index % 20) { await Task.yield() }
                if index % 20 == 19 { _ = try await starts.wait(for: known + 1) }
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
            }
            #expect(!starts.all.isEmpty)
            while ends.all.count < starts.all.count { _ = try await ends.wait(for: starts.all.count) }
        }
    }

    @Test(
        "a cancel ends call and connection [cancellation while receiving]",
        .requirement("S2.16"),
        arguments: SessionKind.allCases, [true, false])
    func cancelledInFlight(kind: SessionKind, isReceiving: Bool) async throws {
        let (waits, ended) = (Gate(), Gate())
        try await RawServer.run { connection in
            _ = try connection.readHead()
            guard connection.number == 1 else {
                return try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext")
            }
            // The buffers of the system hold less than this, so the client has received a part of the body.
            if isReceiving { try connection.sendPart(of: 40_000_000, 30_000_000) }
            waits.open()
            try connection.waitForEnd()
            ended.open()
        } body: { server in
            let session = kind.make()
            let task = Task { try await session.send(NetworkRequest(.get, server.url)) }
            try await waits.wait()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            try await ended.wait()
            let next = try await session.send(NetworkRequest(.get, server.url))
            #expect(next.text == "next")
        }
    }

    @Test(
        "a late cancel keeps the connection [cancellation while receiving]",
        arguments: SessionKind.allCases)
    func cancelledAfterwards(kind: SessionKind) async throws {
        try await MockServer.run(handler: { _ in .text("ok") }) { server in
            let session = kind.make()
            for _ in 1...3 {
                let task = Task { try await session.send(NetworkRequest(.get, server.url)) }
                let response = try await task.value
                #expect(response.text == "ok")
                task.cancel()
            }
            #expect(!kind.freesConnectionAtEnd || server.connectionCount == 1)
        }
    }

    @Test(
        // URLSession on Linux deadlocks when a task is canceled, and crashes when a cancellation races the end.
        "racing cancels end once each, and the session works [racing cancels]",
        .requirement("S2.16"),
        arguments: SessionKind.allCases)
    func racingCancels(kind: SessionKind) async throws {
        try await RawServer.run { connection in
            try connection.answerAll("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        } body: { server in
            let session = kind.make()
            let count = cases(2_000)
            let ends = await raceCancels(count, over: session, NetworkRequest(.get, server.url))
            #expect(ends.others == [])
            #expect(ends.count == count)
            #expect(ends.answered > 0 && ends.cancelled > 0)
            let last = try await session.send(NetworkRequest(.get, server.url))
            #expect(last.statusCode == 200)
        }
    }
}

/// The ends of requests that were canceled at any moment.
struct RaceEnds: Sendable {
    var answered = 0
    var cancelled = 0
    /// Errors other than cancellations.
    var others: [String] = []
    var count: Int { answered + cancelled + others.count }
}

/// Sends `count` requests, eight at a time, and cancels most of them at varying moments.
func raceCancels(_ count: Int, over session: any NetworkSession, _ request: NetworkRequest) async -> RaceEnds {
    await withTaskGroup(of: RaceEnds.self) { group in
        for worker in 0..<8 {
            group.addTask {
                var ends = RaceEnds()
                for index in 0..<(count / 8) {
                    let task = Task { try await session.send(request) }
                    if (index + worker) % 3 != 0 { for _ in 0..<(index % 7) { await Task.yield() } }
                    if index % 5 != 0 { task.cancel() }
                    switch await task.result {
                    case .success: ends.answered += 1
                    case .failure(is CancellationError): ends.cancelled += 1
                    case .failure(let error): ends.others.append("\(error)")
                    }
                }
                return ends
            }
        }
        return await group.reduce(into: RaceEnds()) { sum, ends in
            sum.answered += ends.answered
            sum.cancelled += ends.cancelled
            sum.others += ends.others
        }
    }
}

/// Runs a closure with a server that completes no connection: over TCP its queue is full, over TLS it never responds.
func withDeafServer(_ layer: String, _ body: (URL) async throws -> Void) async throws {
    if layer == "tls" {
        try await RawServer.run { connection in
            try connection.stall()
        } body: { server in
            try await body(#require(URL(string: "https://127.0.0.1:\(server.port)/")))
        }
    } else {
        let queue = try FullQueue()
        try await body(#require(URL(string: "http://127.0.0.1:\(queue.port)/")))
    }
}

extension HTTPBodyStream {
    /// Creates a stream of chunks that ends normally or with an error.
    init(chunks: [Data], error: (any Error)? = nil) {
        let rest = Deliveries<Void>()
        self.init {
            let index = rest.count(adding: ()) - 1
            if index < chunks.count { return chunks[index] }
            if let error { throw error }
            return nil
        }
    }
}

/// A port of loopback whose queue of connections is full: a client that connects receives no answer.
final class FullQueue {
    let port: Int
    private let sockets: [Socket]

    /// Creates a queue at `127.0.0.1`, or another address of loopback. The port 0 is a free one.
    init(on host: String = "127.0.0.1", port: Int = 0) throws {
        let sockets = try (0..<5).map { _ in try Socket.make() }
        let listener = sockets[0].descriptor
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = inet_addr(host)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = bind(listener, address, size)
                _ = listen(listener, 0)
                _ = getsockname(listener, address, &size)
                // The first connection fills the queue.
                for client in sockets[1...] { _ = connect(client.descriptor, address, size) }
            }
        }
        self.sockets = sockets
        self.port = Int(UInt16(bigEndian: address.sin_port))
    }
}
