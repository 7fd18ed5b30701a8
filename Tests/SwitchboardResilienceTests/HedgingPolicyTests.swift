import Foundation
import Switchboard
import SwitchboardResilience
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct HedgingPolicyTests {
    private let url = URL(text: "https://api.example.com/a")
    private let clock = TestClock()

    private func router(_ session: StubSession, attempts: Int = 2, budget: RetryBudget? = nil) -> Router<URLEndPoint> {
        let hedging = HedgingPolicy(
            after: .milliseconds(300), maximumAttempts: attempts, budget: budget, clock: clock)
        return Router(session: session, interceptors: [hedging])
    }

    @Test("hedges a late request; the first response cancels the other exchange")
    func late() async throws {
        let session = StubSession(.stall, .text("second"))
        let router = router(session)
        let call = Task { try await router.response(for: URLEndPoint(.get, url)) }
        #expect(try await clock.nextSleep() == .milliseconds(300))
        #expect(await comesTrue { session.requests.count == 1 })
        clock.advance(by: .milliseconds(300))
        let response = try await call.value
        #expect(response.text == "second")
        #expect(session.requests.count == 2)
        #expect(Set(response.history.map(\.outcome)) == [.status(200), .cancelled])
        #expect(clock.sleeperCount == 0)
    }

    @Test("the slower connection is closed, over sockets", arguments: SessionKind.allCases)
    func overTheWire(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.stall, .text("second"))
            let hedging = HedgingPolicy(after: .milliseconds(1))
            let router = Router<URLEndPoint>(session: kind.make(), interceptors: [hedging])
            let text = try await router.request(URLEndPoint(.get, server.url), as: String.self)
            #expect(text == "second")
            #expect(server.requests.count == 2)
            try await server.waitForDisconnect(of: try #require(server.requests.first?.connection))
        }
    }

    @Test("a response in time sends no hedge and leaves no timer")
    func inTime() async throws {
        let session = StubSession { _ in .text("first") }
        #expect(try await router(session).request(URLEndPoint(.get, url), as: String.self) == "first")
        #expect(session.requests.count == 1)
        #expect(clock.sleeperCount == 0)
    }

    @Test("sends at most three requests, and failures wait for a success")
    func failures() async throws {
        let gates = (0..<3).map { _ in Gate() }
        let begun = Deliveries<Bool>()
        let session = StubSession { _ in
            let index = begun.count(adding: true) - 1
            try await gates[index].wait()
            return [.close, .status(503), .status(200)][index]
        }
        let router = router(session, attempts: 3)
        let call = Task { try await router.rawResponse(for: URLEndPoint(.get, url)) }
        for count in 2...3 {
            _ = try await clock.nextSleep()
            clock.advance(by: .milliseconds(300))
            _ = try await begun.wait(for: count)
        }
        #expect(clock.sleeperCount == 0)
        for gate in gates { gate.open() }
        #expect(try await call.value.statusCode == 200)
        #expect(session.requests.count == 3)
    }

    @Test("a failure before the delay sends no hedge")
    func early() async throws {
        let session = StubSession { _ in .status(503) }
        #expect(try await router(session).rawResponse(for: URLEndPoint(.get, url)).statusCode == 503)
        #expect(session.requests.count == 1)
        #expect(clock.sleeperCount == 0)
    }

    @Test("only a plain GET is hedged", arguments: [HTTPMethod.post, .put, .delete, .head])
    func others(method: HTTPMethod) async throws {
        let session = StubSession { _ in .text("") }
        _ = try await router(session).rawResponse(for: URLEndPoint(method, url))
        let streaming = RequestOptions { $0.streamsResponse = true }
        _ = try await router(session).rawResponse(for: URLEndPoint(.get, url, options: streaming))
        try await withFolder { folder in
            let task = HTTPTask.download(to: folder.appendingPathComponent("a"))
            _ = try await router(session).rawResponse(for: URLEndPoint(.get, url, task: task))
        }
        #expect(clock.sleeps.isEmpty)
    }

    @Test("without budget no hedge is sent")
    func budget() async throws {
        let begun = Deliveries<Bool>()
        let gate = Gate()
        let session = StubSession { _ in
            begun.add(true)
            try await gate.wait()
            return .text("first")
        }
        let monitor = Events()
        let router = router(session, budget: RetryBudget(ratio: 0, minimumPerSecond: 0))
        let options = RequestOptions { $0.monitors = [monitor] }
        let call = Task { try await router.request(URLEndPoint(.get, url, options: options), as: String.self) }
        _ = try await clock.nextSleep()
        clock.advance(by: .seconds(1))
        try await monitor.wait(for: "no hedge: the retry budget is used up")
        gate.open()
        #expect(try await call.value == "first")
        #expect(begun.all.count == 1)
    }

    @Test("canceling the task or the router ends both exchanges", .requirement("S2.16"), arguments: [true, false])
    func cancelled(byRouter: Bool) async throws {
        let session = StubSession { _ in .stall }
        let router = router(session)
        let call = Task { try await router.rawResponse(for: URLEndPoint(.get, url)) }
        _ = try await clock.nextSleep()
        clock.advance(by: .milliseconds(300))
        #expect(await comesTrue { session.requests.count >= 2 })
        if byRouter { router.cancel() } else { call.cancel() }
        await #expect(throws: CancellationError.self) { try await call.value }
    }
}
