import Foundation
import Switchboard
import SwitchboardTesting
import Testing

/// Timeouts and cancellation of FoundationSession, over a real loopback server.
@Suite(.timeLimit(.minutes(1)))
struct FoundationSessionTimeTests {
    let session = FoundationSession()

    @Test("a fraction of a second is kept as a timeout for the attempt and for silence", arguments: [true, false])
    func subSecondTimeouts(isAttempt: Bool) async throws {
        try await MockServer.run { server in
            server.enqueue(.stall)
            var request = NetworkRequest(.get, server.url)
            request.timeouts =
                isAttempt ? Timeouts(idle: nil, attempt: .milliseconds(300)) : Timeouts(idle: .milliseconds(300))
            let start = ContinuousClock.now
            let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
            #expect(error?.code == .timedOut)
            #expect(error?.description.contains("0.3 s") == true)
            #expect(ContinuousClock.now - start >= .milliseconds(300))
            try await server.waitForDisconnect()
        }
    }

    @Test("a body that drips on is no silence, but the attempt's timeout ends it, what arrived is kept")
    func drippingBody() async throws {
        try await MockServer.run { server in
            server.enqueue(.text("abc").stalled(after: 2))
            var request = NetworkRequest(.get, server.url)
            request.timeouts = Timeouts(idle: .seconds(30), attempt: .milliseconds(300))
            let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
            #expect(error?.code == .timedOut)
            #expect(error?.status == 200)
            #expect(error?.body == Data("ab".utf8))
        }
    }

    @Test("without timeouts a slow answer is waited for")
    func noTimeout() async throws {
        try await MockServer.run { server in
            server.enqueue(.text("late").delayed(by: .milliseconds(200)))
            var request = NetworkRequest(.get, server.url)
            request.timeouts = .none
            let last = try await session.send(request)
            #expect(last.text == "late")
        }
    }

    @Test("S2.16 partly: cancelled before the start, nothing is sent")
    func cancelledBeforeStart() async throws {
        try await MockServer.run { server in
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await session.send(NetworkRequest(.get, server.url))
            }
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(server.connectionCount == 0)
        }
    }

    @Test(
        "S2.16 partly: cancelled while waiting or receiving, the call ends and the connection closes",
        arguments: [true, false])
    func cancelledInFlight(isReceiving: Bool) async throws {
        try await MockServer.run { server in
            server.enqueue(isReceiving ? .stalled(after: 10) : .stall)
            let task = Task { try await session.send(NetworkRequest(.get, server.url)) }
            let connection = try await server.takeRequest().connection
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            try await server.waitForDisconnect(of: connection)
        }
    }

    @Test("S2.16 partly: 2,000 racing cancels each end exactly once, and the session goes on working")
    func racingCancels() async throws {
        try await MockServer.run(handler: { _ in .json("{}") }) { server in
            let ends = await withTaskGroup(of: Int.self) { group in
                for worker in 0..<8 {
                    group.addTask {
                        var ends = 0
                        for index in 0..<250 {
                            let task = Task { try await session.send(NetworkRequest(.get, server.url)) }
                            if (index + worker) % 3 != 0 { for _ in 0..<(index % 7) { await Task.yield() } }
                            task.cancel()
                            switch await task.result {
                            case .success: ends += 1
                            case .failure(let error): ends += error is CancellationError ? 1 : 0
                            }
                        }
                        return ends
                    }
                }
                return await group.reduce(0, +)
            }
            #expect(ends == 2_000)
            let last = try await session.send(NetworkRequest(.get, server.url))
            #expect(last.statusCode == 200)
        }
    }

    @Test("cancelling amid redirects, which are answered by the delegate, harms nothing")
    func racingCancelsOfRedirects() async throws {
        try await MockServer.run(handler: { _ in .status(302, headers: ["Location": "/again"]) }) { server in
            for index in 0..<300 {
                let task = Task { try await session.send(NetworkRequest(.get, server.url)) }
                for _ in 0..<(index % 11) { await Task.yield() }
                task.cancel()
                if case .success(let response) = await task.result { #expect(response.statusCode == 302) }
            }
            let last = try await session.send(NetworkRequest(.get, server.url))
            #expect(last.statusCode == 302)
        }
    }
}
