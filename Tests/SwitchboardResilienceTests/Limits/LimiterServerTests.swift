import Foundation
import Switchboard
import SwitchboardResilience
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

/// Limits as a server on a real socket sees them.
@Suite(.inTurn, .timeLimit(.minutes(10)))
struct LimiterServerTests {
    @Test(
        "the server never has more than N requests in flight, while N changes", .requirement("S2.18"),
        arguments: SessionKind.allCases)
    func atTheServer(kind: SessionKind) async throws {
        try await MockServer.run { server in
            let gauge = Gauge()
            server.stub(.any) { _ in
                gauge.enter()
                usleep(2_000)  // long enough for the others to come
                gauge.leave()
                return .text("done")
            }
            let limiter = ConcurrencyLimiter(4)
            let router = Router<URLEndPoint>(session: kind.make(), interceptors: [limiter])
            for limit in [4, 1, 7] {
                limiter.limit = limit
                gauge.restart()
                let answers = try await withThrowingTaskGroup(of: String.self) { group in
                    for _ in 0..<100 {
                        group.addTask { try await router.request(URLEndPoint(.get, server.url), as: String.self) }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(answers == Array(repeating: "done", count: 100))
                #expect(gauge.peak <= limit)
                #expect(limit == 1 || gauge.peak > 1)
            }
            #expect(limiter.inFlight == 0 && limiter.waiting == 0)
        }
    }

    @Test("10,000 racing cancels end each call once and free every slot", .requirement("S2.16"))
    func racing() async throws {
        try await MockServer.run { server in
            server.stub(.any) { $0.target == "/busy" ? .status(503) : .text("done") }
            let limiter = ConcurrencyLimiter(16)
            let chain: [any Interceptor] = [
                RetryPolicy(baseDelay: .milliseconds(1)), CircuitBreaker(failures: .max), limiter,
                RateLimiter(1_000_000, burst: 20), Deduplicator(),
            ]
            let router = Router<URLEndPoint>(session: DefaultSession.make(), interceptors: chain)
            let paths = ["done", "busy", "other", "more"].map { server.url.appendingPathComponent($0) }
            var random = SeededGenerator(seed: 16)
            let rounds = (0..<20).map { _ in Deliveries<Int>() }
            for (round, ends) in rounds.enumerated() {
                var handles: [RequestHandle] = []
                let order = (0..<500).map { _ in Int.random(in: 0..<3, using: &random) }
                for (index, turn) in order.enumerated() {
                    let endPoint = URLEndPoint(.get, paths[index % 4])
                    let handle = router.request(endPoint, as: String.self) { _ in ends.add(index) }
                    if turn == 0 { handle.cancel() }
                    handles.append(handle)
                }
                for (index, turn) in order.enumerated() where turn == 1 { handles[index].cancel() }
                // Two thirds are canceled by now. In every second round some others get their response first.
                if round.isMultiple(of: 2) { _ = try await ends.wait(for: 420) }
                router.cancel()
                let ended = try await ends.wait(for: 500)
                #expect(Set(ended).count == 500 && ended.count == 500)
            }
            // Canceled requests leave without another event.
            #expect(await comesTrue { limiter.inFlight == 0 && limiter.waiting == 0 })
            #expect(try await router.request(URLEndPoint(.get, paths[0]), as: String.self) == "done")
            #expect(rounds.map(\.all.count) == Array(repeating: 500, count: 20))
        }
    }
}
