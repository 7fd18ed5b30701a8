import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct MockServerLifecycleTests {
    private let get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"

    @Test(
        "a server stops during any activity",
        arguments: [
            MockResponse.stall, .text("late").delayed(by: .seconds(50_000)), .data(Data(count: 50_000_000)),
            .text("idle"),
        ])
    func stopWhileBusy(response: MockResponse) async throws {
        let server = try MockServer()
        server.enqueue(response)
        let client = try RawClient(port: server.port).send(get)
        let half = try RawClient(port: server.port).send("GET / HT")
        _ = try await server.takeRequest()
        server.stop()
        // On a busy machine, the threads may end later than `stop` waits for them.
        #expect(await comesTrue { server.openConnections == 0 })
        #expect(client.readAll().end != .silent)
        #expect(half.readAll().end != .silent)
        server.stop()
    }

    @Test("a stopped server refuses connections")
    func stopped() async throws {
        let isRefused = try await RawClient.isRefused {
            let server = try MockServer()
            _ = try RawClient(port: server.port)
            server.stop()
            return server.port
        }
        #expect(isRefused)
    }

    @Test("a released server stops")
    func released() async throws {
        #expect(try await RawClient.isRefused { try MockServer().port })
    }

    @Test("run stops the server when its body throws")
    func runThatThrows() async throws {
        struct Odd: Error {}
        let isRefused = try await RawClient.isRefused {
            var port = 0
            await #expect(throws: Odd.self) {
                try await MockServer.run { server in
                    port = server.port
                    throw Odd()
                }
            }
            return port
        }
        #expect(isRefused)
    }

    @Test("run returns the value of its body")
    func runResult() async throws {
        let port = try await MockServer.run { $0.port }
        #expect(port > 0)
    }

    @Test("canceling the task of run ends waits for answers")
    func cancelRun() async throws {
        let isRefused = try await RawClient.isRefused {
            let (ports, continuation) = AsyncStream<Int>.makeStream()
            let task = Task {
                try await MockServer.run { server in
                    server.enqueue(.stall)
                    let client = try RawClient(port: server.port, timeout: 50).send(get)
                    _ = try await server.takeRequest()
                    continuation.yield(server.port)
                    return client.readAll().end  // blocks, and does not react to a cancellation
                }
            }
            let port = await ports.first { _ in true }
            task.cancel()
            #expect(try await task.value == .closed)
            return try #require(port)
        }
        #expect(isRefused)
    }

    @MainActor @Test("run stays on the actor of its caller")
    func runIsolation() async throws {
        var count = 0
        try await MockServer.run { _ in
            MainActor.assertIsolated()
            count += 1
        }
        #expect(count == 1)
    }

    @Test("100 connections are served concurrently")
    func manyConnections() async throws {
        try await MockServer.run { server in
            server.enqueue(.stall)
            let clients = try (0..<100).map { _ in try RawClient(port: server.port) }
            clients.forEach { $0.send(get) }
            for _ in clients { _ = try await server.takeRequest() }
            #expect(server.connectionCount == 100)
            #expect(server.openConnections == 100)
            #expect(Set(server.requests.map(\.connection)) == Set(1...100))
            clients.forEach { $0.leave() }
            try await server.waitForDisconnect()
        }
    }
}
