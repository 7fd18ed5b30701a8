import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardResilience
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ReachabilityTests {
    @Test(
        "loopback is always reachable", .requirement("S1.9"),
        arguments: [
            "http://127.0.0.1/", "http://127.8.9.10:80/", "http://localhost/", "http://LOCALHOST:1/", "http://[::1]/",
            "http://app.localhost/", "http://[::ffff:127.0.0.1]/", "http://0.0.0.0/", "http://127.1/",
            "http://localhost./",
        ])
    func loopback(url: String) throws {
        let reachability = Reachability(interval: .seconds(1), clock: TestClock(), isOnline: { false })
        #expect(reachability.status == .unreachable)
        #expect(reachability.canReach(try #require(URL(string: url))))
    }

    @Test(
        "another machine is reachable only with a network", .requirement("S1.9"),
        arguments: [
            "http://example.com/", "http://198.51.100.1/", "http://[2001:db8::9]/", "http://0.0.0.1/", "http://[::2]/",
            "http://localhost.example/", "http://[::ffff:192.0.2.7]/", "http://printer.local/", "http://128.0.0.1/",
        ])
    func others(url: String) throws {
        let url = try #require(URL(string: url))
        for isOnline in [false, true] {
            let reachability = Reachability(interval: .seconds(1), clock: TestClock(), isOnline: { isOnline })
            #expect(reachability.canReach(url) == isOnline)
        }
    }

    @Test("changes start with the present status and report each change once", .requirement("S1.9"))
    func changes() async throws {
        let clock = TestClock()
        let hasNetwork = Protected(true)
        let reachability = Reachability(interval: .seconds(2), clock: clock, isOnline: { hasNetwork.value })
        var heard = reachability.changes.makeAsyncIterator()
        #expect(await heard.next() == .reachable)
        for (isThere, status) in [(false, Reachability.Status.unreachable), (true, .reachable)] {
            for isThere in [hasNetwork.value, isThere] {
                hasNetwork.withLock { $0 = isThere }
                #expect(try await clock.nextSleep() == .seconds(2))
                clock.advance(by: .seconds(2))
            }
            #expect(await heard.next() == status)
        }
    }

    /// The waits among the events.
    private func waits(_ events: Events) -> [String] { events.texts.filter { $0.contains(/waits|continues/) } }

    @Test("a wait that lasted longer than the limit is not repeated")
    func slept() async throws {
        let (clock, events) = (TestClock(), Events())
        let reachability = Reachability(interval: .seconds(1), clock: clock, isOnline: { false })
        let gate = ConnectivityGate(upTo: .seconds(5), reachability: reachability, clock: clock)
        let router = Router<URLEndPoint>(session: StubSession(.text("ok")), interceptors: [gate])
        let options = RequestOptions { $0.monitors = [events] }
        let call = Task {
            try await router.response(for: URLEndPoint(.get, URL(text: "http://example.com/"), options: options))
        }
        _ = try await clock.nextSleep()
        clock.advance(by: .seconds(3_600))
        #expect(try await call.value.text == "ok")
        #expect(waits(events).last?.contains("3600") == true)
    }

    @Test("a request waits for the network and is sent when it returns", .requirement("S1.9"))
    func waiting() async throws {
        let clock = TestClock()
        let hasNetwork = Protected(false)
        let heard = Events()
        let reachability = Reachability(interval: .seconds(1), clock: clock, isOnline: { hasNetwork.value })
        let stub = StubSession { _ in .text("") }
        let router = Router<URLEndPoint>(
            session: stub,
            interceptors: [ConnectivityGate(upTo: .seconds(5), reachability: reachability, clock: clock)],
            options: RequestOptions { $0.monitors.append(heard) })
        let endPoint = URLEndPoint(.get, URL(text: "http://example.com/"))
        // Loopback does not wait.
        _ = try await router.response(for: URLEndPoint(.get, URL(text: "http://127.0.0.1/")))
        #expect(waits(heard).isEmpty)
        let call = Task { try await router.response(for: endPoint) }
        for _ in 0..<2 {
            #expect(try await clock.nextSleep() == .seconds(1))
            clock.advance(by: .seconds(1))
        }
        #expect(try await clock.nextSleep() == .seconds(1))
        #expect(stub.requests.count == 1)
        hasNetwork.withLock { $0 = true }
        clock.advance(by: .seconds(1))
        _ = try await call.value
        #expect(stub.requests.count == 2)
        #expect(waits(heard) == ["waits for network", "continues after 3000 ms"])
    }

    @Test("a wait ends at its limit or when its call is canceled", .requirement("S1.9"))
    func waitingEnds() async throws {
        let clock = TestClock(skips: true)
        let reachability = Reachability(interval: .seconds(2), clock: clock, isOnline: { false })
        let stub = StubSession { _ in .text("") }
        let endPoint = URLEndPoint(.get, URL(text: "http://example.com/"))
        let limited = Router<URLEndPoint>(
            session: stub,
            interceptors: [ConnectivityGate(upTo: .seconds(5), reachability: reachability, clock: clock)])
        _ = try await limited.response(for: endPoint)
        #expect(clock.sleeps == [.seconds(2), .seconds(2), .seconds(1)])
        let still = TestClock()
        let waits = Router<URLEndPoint>(
            session: stub, interceptors: [ConnectivityGate(reachability: reachability, clock: still)])
        let call = Task { try await waits.response(for: endPoint) }
        _ = try await still.nextSleep()
        waits.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(stub.requests.count == 1)
    }
}
