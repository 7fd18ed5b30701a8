import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// The events that a test can wait for.
@Suite(.timeLimit(.minutes(10)))
struct MockServerWaitingTests {
    private let get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"

    @Test("a request can be awaited before it arrives")
    func awaitRequest() async throws {
        try await MockServer.run { server in
            async let first = server.takeRequest()
            let client = try RawClient(port: server.port).send("GET /1 HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try await first.target == "/1")
            client.send("GET /2 HTTP/1.1\r\nHost: h\r\n\r\nGET /3 HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try await server.takeRequest().target == "/2")
            #expect(try await server.takeRequest().target == "/3")
            #expect(server.requests.map(\.target) == ["/1", "/2", "/3"])
        }
    }

    @Test("each concurrent takeRequest returns another request")
    func concurrentTakes() async throws {
        try await MockServer.run { server in
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<50 { group.addTask { try await server.takeRequest().target } }
                let client = try RawClient(port: server.port)
                for number in 0..<50 { client.send("GET /\(number) HTTP/1.1\r\nHost: h\r\n\r\n") }
                var seen: Set<String> = []
                for try await target in group { seen.insert(target) }
                #expect(seen.count == 50)
            }
        }
    }

    @Test("a request that has arrived is taken whatever the limit")
    func takenAtOnce() async throws {
        try await MockServer.run { server in
            server.enqueue(.text("a").repeated())
            let router = Router<URLEndPoint>()
            for number in 0..<200 {
                _ = try await router.response(for: URLEndPoint(.get, server.url.appendingPathComponent("\(number)")))
                #expect(try await server.takeRequest(within: .zero).path == "/\(number)")
            }
        }
    }

    @Test("takeRequest without a request times out")
    func takeTimeout() async throws {
        try await MockServer.run { server in
            let request = await #expect(throws: NetworkError.self) {
                try await server.takeRequest(within: .milliseconds(10))
            }
            #expect(request?.code == .timedOut)
            #expect(request?.reason?.contains("0 accepted") == true)
            let disconnect = await #expect(throws: NetworkError.self) {
                try await server.waitForDisconnect(within: .zero)
            }
            #expect(disconnect?.code == .timedOut)
        }
    }

    @Test("a request after a timeout is returned by the next call")
    func requestAfterTimeout() async throws {
        try await MockServer.run { server in
            _ = try? await server.takeRequest(within: .zero)
            let client = try RawClient(port: server.port).send(get)
            #expect(try await server.takeRequest().method == .get)
            client.leave()
        }
    }

    @Test("takeRequest can be canceled")
    func cancelTake() async throws {
        try await MockServer.run { server in
            for isCancelledFirst in [true, false] {
                let task = Task { try await server.takeRequest(within: .seconds(300)) }
                if !isCancelledFirst { await Task.yield() }
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
            }
        }
    }

    @Test("stopping the server ends takeRequest")
    func stopEndsWait() async throws {
        let server = try MockServer()
        let request = Task { _ = try await server.takeRequest(within: .seconds(300)) }
        let disconnect = Task { try await server.waitForDisconnect(within: .seconds(300)) }
        server.stop()
        for task in [request, disconnect] {
            await #expect(throws: NetworkError(.connectionLost, reason: "MockServer: stopped")) { try await task.value }
        }
    }

    @Test(
        "a client that disconnects is detected in each phase",
        arguments: [
            MockResponse.stall, .text("late").delayed(by: .seconds(50)), .stalled(after: 10),
            .text("abc").chunked(1).stalled(after: 2),
            .text("kept alive"), .data(Data(count: 50_000_000)),
        ])
    func clientLeaves(response: MockResponse) async throws {
        try await MockServer.run { server in
            server.enqueue(response)
            let client = try RawClient(port: server.port).send(get)
            let seen = try await server.takeRequest()
            #expect(server.openConnections == 1)
            client.leave()
            try await server.waitForDisconnect(of: seen.connection)
            try await server.waitForDisconnect()
            #expect(server.openConnections == 0)
        }
    }

    @Test(
        "a client that disconnects within a request is detected",
        arguments: ["", "GET / HT", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nab"])
    func clientLeavesInRequest(part: String) async throws {
        try await MockServer.run { server in
            try RawClient(port: server.port).send(part).leave()
            try await server.waitForDisconnect(of: 1)
            #expect(server.requests.isEmpty)
            #expect(server.connectionCount == 1)
        }
    }

    @Test("a client that disconnects after pipelined requests is detected")
    func clientLeavesAfterPipelining() async throws {
        try await MockServer.run { server in
            server.enqueue(.stall)
            let client = try RawClient(port: server.port).send(get + get + get)
            _ = try await server.takeRequest()
            client.leave()
            try await server.waitForDisconnect(of: 1)
        }
    }

    @Test("a client that disconnects within a large body is detected")
    func clientLeavesAmidBody() async throws {
        try await MockServer.run { server in
            server.enqueue(.stall(at: .requestHead))
            let head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999\r\n\r\n"
            try RawClient(port: server.port).send(head).send(Data(count: 20_000_000)).leave()
            try await server.waitForDisconnect(of: 1)
        }
    }

    @Test("a wait without limit can be canceled")
    func endlessWait() async throws {
        try await MockServer.run { server in
            let wait = Task { try await server.takeRequest(within: .seconds(Int64.max)) }
            await Task.yield()
            wait.cancel()
            await #expect(throws: CancellationError.self) { try await wait.value }
        }
    }

    private final class Fixture: Sendable {
        let server = Protected<MockServer?>(nil)
        let counts: Deliveries<Int>

        init(_ counts: Deliveries<Int>) {
            self.counts = counts
        }

        deinit {
            counts.add(server.value?.requests.count ?? -1)
        }
    }

    @Test("a handler's objects are released without a deadlock")
    func handlersObjects() throws {
        let counts = Deliveries<Int>()
        var fixture: Fixture? = Fixture(counts)
        let server = try MockServer { [fixture] _ in .text("\(fixture as Any)") }
        fixture?.server.withLock { $0 = server }
        fixture = nil
        server.stop()
        #expect(counts.all == [0])
    }

    @Test("a connection that the server closed is no disconnect")
    func serverCloses() async throws {
        try await MockServer.run { server in
            server.enqueue(.close)
            let client = try RawClient(port: server.port).send(get)
            #expect(client.readAll() == ("", .closed))
            let error = await #expect(throws: NetworkError.self) {
                try await server.waitForDisconnect(of: 1, within: .milliseconds(50))
            }
            #expect(error?.code == .timedOut)
        }
    }
}
