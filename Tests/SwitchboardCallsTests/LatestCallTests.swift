import Dispatch
import Foundation
import Switchboard
import SwitchboardCalls
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct LatestCallTests {
    private let url = URL(text: "https://api.example.com/friends")

    @Test(
        "a new call cancels the previous one, also at the server", .requirement("S1.10"),
        arguments: SessionKind.allCases)
    func replaced(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.stall, .text("new"))
            let router = Router<URLEndPoint>(session: kind.make())
            let endPoint = URLEndPoint(.get, server.url)
            let latest = LatestCall<String>()
            let first = Task { try await latest.value { try await router.request(endPoint, as: String.self) } }
            _ = try await server.takeRequest()
            let second = try await latest.value { try await router.request(endPoint, as: String.self) }
            #expect(second == "new")
            await #expect(throws: CancellationError.self) { try await first.value }
        }
    }

    @Test("a superseded call never delivers, even if it ignores cancellation", .requirement("S1.10"))
    @MainActor func stale() async throws {
        let latest = LatestCall<Int>()
        let (arrived, gate) = (Deliveries<Void>(), Gate())
        var shown: [Int] = []
        func show(_ operation: @escaping @Sendable () async throws -> Int) -> Task<Void, any Error> {
            Task { shown.append(try await latest.value(operation)) }
        }
        let first = show {
            try? await gate.wait()
            return 1
        }
        // The first call has begun once another task of the main actor has run.
        await Task { @MainActor in }.value
        let second = show {
            arrived.add(())
            return 2
        }
        _ = try await arrived.first()
        gate.open()
        await #expect(throws: CancellationError.self) { try await first.value }
        try await second.value
        #expect(shown == [2])
    }

    @Test("superseded completions end as canceled; the last gets the value", .requirement("S1.10"))
    func completions() async throws {
        let session = StubSession { _ in .text("x") }
        let router = Router<URLEndPoint>(session: session)
        let latest = LatestCall<String>()
        let queue = DispatchQueue(label: "screen")
        let results = Deliveries<NetworkError.Code?>()
        queue.suspend()
        for _ in 1...5 {
            latest.start(router.call(for: URLEndPoint(.get, url), as: String.self), on: queue) {
                results.add($0.failureCode)
            }
        }
        queue.resume()
        let ended = try await results.wait(for: 5)
        #expect(ended.count(where: { $0 == .cancelled }) == 4)
        #expect(ended.count(where: { $0 == nil }) == 1)
    }

    @Test("a call that starts a newer one at once is the superseded one", .requirement("S1.10"))
    func fromWithin() async throws {
        for _ in 1...200 {
            let latest = LatestCall<Int>()
            let newer = Deliveries<Int>()
            let older = Task {
                try await latest.value {
                    let other = Task { try await latest.value { 2 } }
                    newer.add(try await other.value)
                    return 1
                }
            }
            await #expect(throws: CancellationError.self) { try await older.value }
            #expect(newer.all == [2])
        }
    }

    @Test("cancel ends a call, errors are thrown, a canceled task starts nothing")
    func ends() async throws {
        let latest = LatestCall<Int>()
        let begun = Deliveries<Void>()
        let call = Task {
            try await latest.value {
                begun.add(())
                try await Gate().wait()
                return 1
            }
        }
        _ = try await begun.first()
        latest.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        let error = await #expect(throws: NetworkError.self) {
            try await latest.value { throw NetworkError(.timedOut) }
        }
        #expect(error?.code == .timedOut)
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await latest.value {
                begun.add(())
                return 1
            }
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(begun.all.count == 1)
        #expect(try await latest.value { 3 } == 3)
    }
}
