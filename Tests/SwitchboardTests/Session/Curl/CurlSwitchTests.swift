#if os(Linux)
import Foundation
import SwitchboardCurlC
import SwitchboardPlatform
import SwitchboardTestSupport
import Testing

@testable import Switchboard
@testable import SwitchboardCurl

/// Exchanges whose server switches protocols.
@Suite(.timeLimit(.minutes(10))) struct CurlSwitchTests {
    @Test("a 101 that nobody requested is invalidResponse at once", arguments: [false, true])
    func unasked(isStreamed: Bool) async throws {
        try await RawServer.run { connection in
            _ = try connection.readHead()
            try connection.send(
                "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\nbytes")
            try connection.stall()
        } body: { server in
            var request = NetworkRequest(.get, server.url)
            request.timeouts = Timeouts(idle: nil)
            request.options.streamsResponse = isStreamed
            let asking = request
            let error = await #expect(throws: NetworkError.self) { try await CurlSession().send(asking) }
            #expect(error?.code == .invalidResponse, "\(String(describing: error))")
            #expect(error?.reason == "a 101 switches to a protocol that was not requested")
        }
    }

    @Test("a chunk is refused if the connection ended before it was sent")
    func refused() async throws {
        try await RawServer.run { connection in
            _ = try connection.readHead()
            try connection.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n")
            _ = try connection.read(1)
        } body: { server in
            let (accepted, isDone) = (Protected<Bool?>(nil), Gate())
            var request = CurlRequest("GET", server.url.absoluteString, isTLS: false)
            (request.isUpgrade, request.isStreamed) = (true, true)
            request.body = .stream(length: nil) { send in
                let isAccepted = await send(Data(count: 64 << 20))  // more than sockets buffer
                accepted.withLock { $0 = isAccepted }
                isDone.open()
            }
            let session = CurlSession()
            let exchange = try CurlExchange(request, over: try #require(session.existingLoop)) { field in
                field("Connection", "Upgrade")
                field("Upgrade", "test")
            }
            _ = await exchange.run()
            try await isDone.wait()
            #expect(accepted.value == false)
        }
    }

    @Test("a connection that is paused twice is observed until its exchange ends")
    func pausedTwice() async throws {
        let isReceived = Gate()
        try await RawServer.run { connection in
            _ = try connection.readHead()
            try connection.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n")
            try connection.send(Data(count: 600 << 10))  // more than the pipe of 512 KiB
            try connection.read(1)
            isReceived.open()
            try connection.stall()
        } body: { server in
            var configuration = SessionConfiguration()
            // libcurl keeps the connection, because a proxy with TLS is configured. No host uses it.
            configuration.proxy = .https("127.0.0.1", port: 9)
            configuration.proxy.bypass = ["*"]
            let session = CurlSession(configuration: configuration)
            let loop = try #require(session.existingLoop)
            let isPaused = Gate()
            var request = CurlRequest("GET", server.url.absoluteString, isTLS: false)
            (request.isUpgrade, request.isStreamed) = (true, true)
            request.body = .stream(length: nil) { send in
                try await isPaused.wait()
                _ = await send(Data(count: 1))
                try await Gate().wait()
            }
            let exchange = try CurlExchange(request, over: loop) { field in
                field("Connection", "Upgrade")
                field("Upgrade", "test")
            }
            guard case .streaming(_, let pipe) = await exchange.run() else {
                Issue.record("no upgrade")
                return
            }
            #expect(await comesTrue { pipe.isPaused })
            isPaused.open()
            try await isReceived.wait()
            // libcurl has offered the same bytes again before it sent the byte.
            swcurl_poller_lock(loop.poller)
            let socket = exchange.observedSocket
            swcurl_poller_unlock(loop.poller)
            #expect(socket >= 0)
            exchange.cancel()
            withExtendedLifetime(session) {}
        }
    }

    @Test("bytes are confirmed before the end of the connection is read", arguments: [3, 300_000])
    func confirmed(count: Int) async throws {
        try await RawServer.run { connection in
            _ = try connection.readHead()
            try connection.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n")
            _ = try connection.read(count)
        } body: { server in
            let (isUpgraded, parts, confirmed) = (Gate(), Protected([Data(count: count)]), Protected(0))
            var request = NetworkRequest(.get, server.url)
            request.options.upgrade = ConnectionUpgrade(
                headers: { _ in ["Connection": "Upgrade", "Upgrade": "test"] },
                outgoing: {
                    HTTPBodyStream {
                        try await isUpgraded.wait()
                        if let part = parts.withLock({ $0.popLast() }) { return part }
                        try await Gate().wait()
                        return nil
                    }
                },
                confirm: {
                    confirmed.withLock { $0 += 1 }
                    return nil
                },
                connected: { _ in isUpgraded.open() }, byURLSession: { _, _ in throw NetworkError(.unsupported) })
            let response = try await CurlSession().send(request)
            for try await _ in response.bytes {}
            #expect(confirmed.value == 1)
        }
    }
}
#endif
