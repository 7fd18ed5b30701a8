#if os(Linux)
import Foundation
import Switchboard
import SwitchboardTesting
import Testing

/// Exchanges over TLS have the same results as exchanges without it.
@Suite(.needsTLS, .timeLimit(.minutes(10)))
struct MockServerTLSExchangeTests {
    private static func bytes(_ count: Int) -> Data {
        // The period's length divides no buffer's size.
        let period = Data((0..<65_521).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
        var bytes = Data()
        while bytes.count < count { bytes += period }
        return bytes.prefix(count)
    }

    @Test("a TLS connection is kept alive")
    func keepAlive() async throws {
        try await MockServer.run(isSecure: true) { server in
            server.enqueue(.text("one"), .text("two").chunked(1), .text("three"))
            let session = DefaultSession.make(server.trustingConfiguration)
            for body in ["one", "two", "three"] {
                let response = try await session.send(NetworkRequest(.get, server.url))
                #expect(response.body == Data(body.utf8))
            }
            #expect(server.connectionCount == 1)
            #expect(server.requests.map(\.index) == [0, 1, 2])
        }
    }

    @Test("large bodies arrive whole in both directions")
    func largeBodies() async throws {
        let (upload, download) = (Self.bytes(5_000_000), Self.bytes(20_000_000))
        try await MockServer.run(isSecure: true) { server in
            server.enqueue(.data(download), .data(download).chunked(100_000))
            let session = DefaultSession.make(server.trustingConfiguration)
            for _ in 1...2 {
                let response = try await session.send(
                    NetworkRequest(.post, server.url, body: DataBody(upload)))
                #expect(response.body == download)
                #expect(try await server.takeRequest().body == upload)
            }
        }
    }

    @Test("50 concurrent requests are answered")
    func concurrentRequests() async throws {
        try await MockServer.run(isSecure: true) { request in
            .text(request.path)
        } body: { server in
            var configuration = server.trustingConfiguration
            configuration.maximumConnectionsPerHost = 50
            let session = DefaultSession.make(configuration)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        let url = server.url.appendingPathComponent("\(number)")
                        let response = try await session.send(NetworkRequest(.get, url))
                        #expect(response.body == Data("/\(number)".utf8))
                    }
                }
                try await group.waitForAll()
            }
            #expect(Set(server.requests.map(\.target)).count == 50)
        }
    }

    @Test(
        "faults are the same with and without TLS",
        arguments: [
            (MockResponse.truncated(after: 3), NetworkError.Code.truncatedBody),
            (.text("abcdef").truncated(after: 3), .truncatedBody),
            (.text("abcdef").chunked(1).truncated(after: 2), .truncatedBody), (.stall, .timedOut),
            (.stalled(after: 5), .timedOut), (.text("late").delayed(by: .seconds(50)), .timedOut),
            (.close, .connectionLost), (.reset, .connectionLost), (.raw("nonsense\r\n\r\n"), .invalidResponse),
        ])
    func faults(fault: MockResponse, code: NetworkError.Code) async throws {
        try await MockServer.run(isSecure: true) { server in
            server.enqueue(fault)
            let session = DefaultSession.make(server.trustingConfiguration)
            let options = RequestOptions {
                $0.timeouts.attempt = code == .timedOut ? .milliseconds(500) : .seconds(300)
            }
            let error = await #expect(throws: NetworkError.self) {
                try await session.send(NetworkRequest(.get, server.url, options: options))
            }
            #expect(error?.code == code, "\(String(describing: error))")
        }
    }

    @Test(
        "a canceled call closes its connection",
        arguments: [MockResponse.stall, .stalled(after: 5), .stalled(after: 5_000_000)])
    func canceledCall(response: MockResponse) async throws {
        try await MockServer.run(isSecure: true) { server in
            server.enqueue(response)
            let session = DefaultSession.make(server.trustingConfiguration)
            let task = Task { try await session.send(NetworkRequest(.get, server.url)) }
            let seen = try await server.takeRequest()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            try await server.waitForDisconnect(of: seen.connection)
        }
    }
}
#endif
