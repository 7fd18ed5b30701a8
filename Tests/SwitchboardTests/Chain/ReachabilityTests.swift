import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(3)))
struct ReachabilityTests {
    /// `/proc/net/route` and `/proc/net/ipv6_route` of a machine with 192.0.2.0/24 and 2001:db8::/64 on eth0, default
    /// routes of both, and a bridge without a link.
    private static let ipv4 = """
        Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
        eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0
        eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
        docker0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0
        eth0\t0000FEA9\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0
        """
    private static let ipv6 = """
        20010db8000000000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000001 00000000 00000001     eth0
        fe800000000000000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000002 00000000 00000001     eth0
        00000000000000000000000000000000 00 00000000000000000000000000000000 00 20010db8000000000000000000000001 00000400 00000003 00000000 00000003     eth0
        00000000000000000000000000000001 80 00000000000000000000000000000000 00 00000000000000000000000000000000 00000000 00000004 00000000 80200001       lo
        20010db8000000000000000000000002 80 00000000000000000000000000000000 00 00000000000000000000000000000000 00000000 00000004 00000000 80200001     eth0
        ff000000000000000000000000000000 08 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000003 00000000 00000001     eth0
        00000000000000000000000000000000 00 00000000000000000000000000000000 00 00000000000000000000000000000000 ffffffff 00000001 00000000 00200200       lo
        """

    private func table(
        _ ipv4: String, _ ipv6: String, running: Set<String> = ["lo", "eth0"]
    ) -> RouteTable {
        RouteTable(ipv4: ipv4, ipv6: ipv6) { running.contains($0) }
    }

    private func lines(_ text: String, _ numbers: Int...) -> String {
        let lines = text.split(separator: "\n")
        return numbers.map { String(lines[$0]) }.joined(separator: "\n")
    }

    private func reaches(_ table: RouteTable, _ url: String) throws -> Bool {
        let reachability = Reachability(clock: TestClock(), routes: { table })
        return reachability.status(for: try #require(URL(string: url))) == .reachable
    }

    @Test(
        "loopback is never offline, whatever the routes say", .requirement("S1.9"),
        arguments: [
            "http://127.0.0.1/", "http://127.8.9.10:80/", "http://localhost/", "http://LOCALHOST:1/", "http://[::1]/",
            "http://app.localhost/", "http://[::ffff:127.0.0.1]/", "http://0.0.0.0/", "http://127.1/",
        ])
    func loopback(url: String) throws {
        #expect(try reaches(.nowhere, url))
        #expect(try reaches(table("", lines(Self.ipv6, 3, 6)), url))
    }

    @Test(
        "the routes say what can be reached", .requirement("S1.9"),
        arguments: [
            ("http://example.com/", true, true, false, false), ("http://198.51.100.1/", true, false, false, false),
            ("http://192.0.2.7/", true, false, true, false), ("http://[2001:db8:1::1]/", false, true, false, false),
            ("http://[2001:db8::9]/", false, true, false, true), ("http://[fe80::1]/", false, true, false, true),
            ("http://172.17.0.2/", true, false, false, false), ("http://printer.local/", true, true, true, true),
        ])
    func routes(url: String, v4: Bool, v6: Bool, v4Net: Bool, v6Link: Bool) throws {
        #expect(try reaches(table(Self.ipv4, ""), url) == v4)
        #expect(try reaches(table("", Self.ipv6), url) == v6)
        // The own networks alone: a name may lie there. fe80 alone leads no name anywhere.
        #expect(try reaches(table(lines(Self.ipv4, 2, 3), ""), url) == (v4Net || url == "http://example.com/"))
        let link = url.contains("db8::9") ? lines(Self.ipv6, 0) : lines(Self.ipv6, 1, 4, 5)
        #expect(try reaches(table("", link), url) == v6Link)
    }

    @Test("without a link, without routes, or with nothing but rejecting ones there is no way", .requirement("S1.9"))
    func offline() throws {
        for table in [
            table(Self.ipv4, Self.ipv6, running: ["lo"]), table("", ""), table("", lines(Self.ipv6, 1, 3, 4, 5, 6)),
            table("eth0\t00000000\t010200C0\t0002\t0\t0\t0\t00000000\t0\t0\t0", ""),
            table("eth0\t00000000\t010200C0\t0203\t0\t0\t0\t00000000\t0\t0\t0", ""),
            table("nonsense\neth0 x y z\n\0", "short\n" + String(repeating: "f", count: 200)), .nowhere,
        ] {
            #expect(Reachability(clock: TestClock(), routes: { table }).status == .unreachable)
            #expect(try !reaches(table, "http://example.com/"))
            #expect(try !reaches(table, "http://198.51.100.1/"))
        }
        #expect(Reachability(clock: TestClock(), routes: { .everywhere }).status == .reachable)
    }

    @Test("changes are heard, each once, the present status first", .requirement("S1.9"))
    func changes() async throws {
        let clock = TestClock()
        let routes = Routes(.everywhere)
        let reachability = Reachability(interval: .seconds(2), clock: clock, routes: { routes.now })
        var heard = reachability.changes.makeAsyncIterator()
        #expect(await heard.next() == .reachable)
        for (table, status) in [(RouteTable.nowhere, Reachability.Status.unreachable), (.everywhere, .reachable)] {
            for table in [routes.now, table] {
                routes.now = table
                #expect(try await clock.nextSleep() == .seconds(2))
                clock.advance(by: .seconds(2))
            }
            #expect(await heard.next() == status)
        }
    }

    @Test("a request waits for the network, and goes when it is there", .requirement("S1.9"))
    func waiting() async throws {
        let clock = TestClock()
        let routes = Routes(.nowhere)
        let heard = Waits()
        let reachability = Reachability(interval: .seconds(1), clock: clock, routes: { routes.now })
        let stub = StubSession { _ in .text("") }
        let router = Router<URLEndPoint>(
            session: stub,
            interceptors: [WaitsForConnectivity(upTo: .seconds(5), reachability: reachability, clock: clock)],
            builder: RequestBuilder(options: RequestOptions { $0.monitors.append(heard) }))
        let endPoint = URLEndPoint(.get, URL(text: "http://example.com/"))
        // Loopback does not wait.
        _ = try await router.response(for: URLEndPoint(.get, URL(text: "http://127.0.0.1/")))
        #expect(heard.texts.isEmpty)
        let call = Task { try await router.response(for: endPoint) }
        for _ in 0..<2 {
            #expect(try await clock.nextSleep() == .seconds(1))
            clock.advance(by: .seconds(1))
        }
        #expect(try await clock.nextSleep() == .seconds(1))
        #expect(stub.requests.count == 1)
        routes.now = .everywhere
        clock.advance(by: .seconds(1))
        _ = try await call.value
        #expect(stub.requests.count == 2)
        #expect(heard.texts == ["waits for network", "goes on after 3000 ms"])
    }

    @Test("a wait ends at its limit, and with its call", .requirement("S1.9"))
    func waitingEnds() async throws {
        let clock = TestClock(skips: true)
        let reachability = Reachability(interval: .seconds(2), clock: clock, routes: { .nowhere })
        let stub = StubSession { _ in .text("") }
        let endPoint = URLEndPoint(.get, URL(text: "http://example.com/"))
        let limited = Router<URLEndPoint>(
            session: stub,
            interceptors: [WaitsForConnectivity(upTo: .seconds(5), reachability: reachability, clock: clock)])
        _ = try await limited.response(for: endPoint)
        #expect(clock.sleeps == [.seconds(2), .seconds(2), .seconds(1)])
        let still = TestClock()
        let waits = Router<URLEndPoint>(
            session: stub, interceptors: [WaitsForConnectivity(reachability: reachability, clock: still)])
        let call = Task { try await waits.response(for: endPoint) }
        _ = try await still.nextSleep()
        waits.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(stub.requests.count == 1)
    }
}

/// Routes that a test changes.
private final class Routes: @unchecked Sendable {  // under the lock alone
    private let lock = NSLock()
    private var table: RouteTable

    init(_ table: RouteTable) { self.table = table }

    var now: RouteTable {
        get { lock.withLock { table } }
        set { lock.withLock { table = newValue } }
    }
}

/// The waits that monitors hear of.
private final class Waits: EventMonitor, @unchecked Sendable {  // under the lock alone
    private let lock = NSLock()
    private var heard: [String] = []

    var texts: [String] { lock.withLock { heard } }

    func record(_ event: CallEvent) {
        switch event.kind {
        case .waiting, .admitted: lock.withLock { heard.append("\(event.kind)") }
        default: break
        }
    }
}
