import Foundation
import Switchboard
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

@testable import SwitchboardResilience

@Suite(.timeLimit(.minutes(10)))
struct ConcurrencyLimiterTests {
    private let url = URL(text: "https://api.example.com/a")

    /// Returns a router whose requests wait at a gate behind the limiter, with the URLs that reached the gate.
    private func gated(_ limiter: ConcurrencyLimiter) -> (Router<URLEndPoint>, Deliveries<String>, Gate) {
        let (begun, gate) = (Deliveries<String>(), Gate())
        let last = AdHocInterceptor { request, next in
            begun.add(request.url?.absoluteString ?? "")
            try await gate.wait()
            return try await next(request)
        }
        let router = Router<URLEndPoint>(session: StubSession { _ in .text("done") }, interceptors: [limiter, last])
        return (router, begun, gate)
    }

    private func endPoint(_ text: String, bypass: Bool = false, _ monitor: Events = Events()) -> URLEndPoint {
        let options = RequestOptions {
            $0.monitors = [monitor]
            $0.bypassesLimits = bypass
        }
        return URLEndPoint(.get, URL(string: text) ?? url, options: options)
    }

    /// Starts a call and returns when it waits, so that calls come in a known order.
    private func enqueue(
        _ router: Router<URLEndPoint>, _ text: String, at limiter: ConcurrencyLimiter
    ) async throws -> Task<String, any Error> {
        let (monitor, before) = (Events(), limiter.waiting)
        let call = Task { try await router.request(endPoint(text, monitor), as: String.self) }
        try await monitor.wait(for: "waits for a slot")
        #expect(await comesTrue { limiter.waiting > before })
        return call
    }

    @Test("waiting requests start in the order in which they arrived", .requirement("S2.18"))
    func order() async throws {
        let limiter = ConcurrencyLimiter(1)
        let (router, begun, gate) = gated(limiter)
        let first = Task { try await router.request(endPoint("https://h/0"), as: String.self) }
        _ = try await begun.first()
        var calls = [first]
        for index in 1...20 { calls.append(try await enqueue(router, "https://h\(index % 3)/\(index)", at: limiter)) }
        #expect(limiter.inFlight == 1)
        gate.open()
        for call in calls { #expect(try await call.value == "done") }
        #expect(begun.all == ["https://h/0"] + (1...20).map { "https://h\($0 % 3)/\($0)" })
        #expect(limiter.inFlight == 0 && limiter.waiting == 0)
    }

    @Test("waiting requests of 1,000 hosts start in order in linear time", arguments: [nil, 1])
    func manyHosts(perHost: Int?) async throws {
        let limiter = ConcurrencyLimiter(1, perHost: perHost)
        let (router, begun, gate) = gated(limiter)
        let urls = (0..<1_000).map { "https://h\($0)/" }
        var calls: [Task<String, any Error>] = []
        for url in urls {
            calls.append(Task { try await router.request(endPoint(url), as: String.self) })
            #expect(await comesTrue { limiter.inFlight + limiter.waiting == calls.count })
        }
        gate.open()
        for call in calls { #expect(try await call.value == "done") }
        #expect(begun.all == urls)
        #expect(limiter.examinedCount < 2_000)
    }

    @Test("canceled requests of a paused limiter are not examined later")
    func canceledWhilePaused() async throws {
        let limiter = ConcurrencyLimiter(0)
        let (router, begun, gate) = gated(limiter)
        gate.open()
        let call = Task { try await router.request(endPoint("https://a/"), as: String.self) }
        #expect(await comesTrue { limiter.waiting == 1 })
        for index in 0..<300 {
            let other = Task { try await router.request(endPoint("https://b/\(index)"), as: String.self) }
            #expect(await comesTrue { limiter.waiting == 2 })
            other.cancel()
            _ = await other.result
        }
        limiter.limit = 1
        #expect(try await call.value == "done")
        #expect(begun.all == ["https://a/"])
        #expect(limiter.examinedCount < 200)
    }

    @Test("a limit per host lets requests to other hosts pass those that wait", .requirement("S2.18"))
    func hosts() async throws {
        let limiter = ConcurrencyLimiter(3, perHost: 1)
        let (router, begun, gate) = gated(limiter)
        var calls = [Task { try await router.request(endPoint("https://a/1"), as: String.self) }]
        _ = try await begun.wait(for: 1)
        calls.append(try await enqueue(router, "https://A/2", at: limiter))
        calls.append(Task { try await router.request(endPoint("https://b/1"), as: String.self) })
        _ = try await begun.wait(for: 2)
        calls.append(Task { try await router.request(endPoint("https://a:444/1"), as: String.self) })
        #expect(try await begun.wait(for: 3) == ["https://a/1", "https://b/1", "https://a:444/1"])
        // The total limit is reached.
        calls.append(try await enqueue(router, "https://c/1", at: limiter))
        gate.open()
        for call in calls { #expect(try await call.value == "done") }
        #expect(Set(begun.all).count == 5)
        #expect(limiter.inFlight == 0)
    }

    @Test("0 pauses; a higher limit starts waiters, a lower one ends no request", .requirement("S2.18"))
    func live() async throws {
        let limiter = ConcurrencyLimiter(0)
        let (router, begun, gate) = gated(limiter)
        var calls: [Task<String, any Error>] = []
        for index in 0..<6 { calls.append(try await enqueue(router, "https://h/\(index)", at: limiter)) }
        #expect(begun.all.isEmpty)
        limiter.limit = 2
        // Requests admitted together begin on different threads, in any order.
        let inOrder = (0..<6).map { "https://h/\($0)" }
        #expect(try await Set(begun.wait(for: 2)) == Set(inOrder[..<2]))
        #expect(limiter.inFlight == 2 && limiter.waiting == 4)
        limiter.limit = 5
        #expect(try await Set(begun.wait(for: 5)) == Set(inOrder[..<5]))
        limiter.limit = 1
        #expect(limiter.inFlight == 5 && limiter.waiting == 1)
        limiter.perHost = 0
        limiter.limit = nil
        #expect(limiter.inFlight == 5 && limiter.waiting == 1)
        limiter.perHost = nil
        #expect(try await begun.wait(for: 6).last == inOrder[5])
        gate.open()
        for call in calls { #expect(try await call.value == "done") }
    }

    @Test("a request from within a request does not wait for the slot of that one")
    func nested() async throws {
        let limiter = ConcurrencyLimiter(1)
        let session = StubSession { _ in .text("done") }
        let nonces = Router<URLEndPoint>(session: session, interceptors: [limiter])
        let waits = Events()
        let nonce = endPoint("https://h/nonce", waits)
        let signer = AdHocInterceptor { request, next in
            let call = Task { try await nonces.response(for: nonce) }
            // If the request waited for a slot, it would wait for ever, so the test cancels it.
            guard await comesTrue({ session.requests.count == 1 || limiter.waiting == 1 }) else {
                throw CancellationError()
            }
            if limiter.waiting > 0 { call.cancel() }
            _ = try await call.value
            return try await next(request)
        }
        let router = Router<URLEndPoint>(session: session, interceptors: [limiter, signer])
        let response = try await router.response(for: URLEndPoint(.get, url))
        #expect(response.statusCode == 200 && session.requests.map(\.path) == ["/nonce", "/a"])
        #expect(limiter.inFlight == 0 && limiter.waiting == 0)
        #expect(!waits.texts.contains { $0.contains("waits for a slot") })
    }

    @Test("a request may bypass it, also while paused, and is not counted", .requirement("S2.18"))
    func bypass() async throws {
        let limiter = ConcurrencyLimiter(0, perHost: 0)
        let (router, begun, gate) = gated(limiter)
        let call = Task { try await router.request(endPoint("https://h/", bypass: true), as: String.self) }
        _ = try await begun.first()
        #expect(limiter.inFlight == 0)
        gate.open()
        #expect(try await call.value == "done")
    }

    @Test("a canceled waiter leaves at once, by task or router; others stay", .requirement("S2.16", "S2.18"))
    func cancelled() async throws {
        let limiter = ConcurrencyLimiter(0)
        let (router, begun, gate) = gated(limiter)
        let (other, _, _) = gated(limiter)
        let calls = [
            try await enqueue(router, "https://h/0", at: limiter), try await enqueue(other, "https://h/1", at: limiter),
            try await enqueue(router, "https://h/2", at: limiter),
        ]
        calls[0].cancel()
        await #expect(throws: CancellationError.self) { try await calls[0].value }
        #expect(limiter.waiting == 2)
        other.cancel()
        await #expect(throws: CancellationError.self) { try await calls[1].value }
        #expect(limiter.waiting == 1)
        gate.open()
        limiter.limit = 1
        #expect(try await calls[2].value == "done")
        #expect(begun.all == ["https://h/2"])
        #expect(limiter.inFlight == 0 && limiter.waiting == 0)
    }

    @Test("a failure frees its slot; waiting counts toward the total timeout", .requirement("S2.18"))
    func failures() async throws {
        let limiter = ConcurrencyLimiter(1)
        let router = Router<URLEndPoint>(session: StubSession { _ in .close }, interceptors: [limiter])
        for _ in 0..<3 {
            await #expect(throws: NetworkError.self) { try await router.response(for: endPoint("https://h/")) }
        }
        #expect(limiter.inFlight == 0)
        limiter.limit = 0
        let clock = TestClock()
        let timed = Router<URLEndPoint>(session: StubSession { _ in .close }, interceptors: [limiter], clock: clock)
        let options = RequestOptions { $0.timeouts.total = .seconds(3) }
        let call = Task { try await timed.response(for: URLEndPoint(.get, url, options: options)) }
        _ = try await clock.nextSleep()
        clock.advance(by: .seconds(3))
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.code == .timedOut)
        #expect(limiter.waiting == 0)
    }

    @Test("a streamed response holds its slot until it ends or is released", .requirement("S2.18"))
    func streams() async throws {
        let limiter = ConcurrencyLimiter(1)
        let session = StubSession { request in
            request.url?.lastPathComponent == "broken" ? .stalled(after: 6) : .text("abcdef").chunked(2)
        }
        let router = Router<URLEndPoint>(session: session, interceptors: [limiter])
        func streamed(_ path: String) -> URLEndPoint {
            URLEndPoint(
                .get, url.appendingPathComponent(path), options: RequestOptions { $0.streamsResponse = true })
        }
        for path in ["whole", "dropped"] {
            var bytes: ResponseBytes? = try await router.rawResponse(for: streamed(path)).bytes
            #expect(limiter.inFlight == 1)
            if path == "whole", let bytes {
                var text = Data()
                for try await chunk in bytes { text += chunk }
                #expect(text == Data("abcdef".utf8))
                #expect(limiter.inFlight == 0)
            }
            bytes = nil
            #expect(await comesTrue { limiter.inFlight == 0 })
        }
        let broken = try await router.rawResponse(for: streamed("broken")).bytes
        let reader = Task { for try await _ in broken {} }
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        #expect(limiter.inFlight == 0)
    }

    @Test("a streamed response holds no slot while its request waits for a retry", .requirement("S2.18"))
    func streamBeforeRetry() async throws {
        let (limiter, clock, count) = (ConcurrencyLimiter(1), TestClock(), Deliveries<Bool>())
        let session = StubSession { _ in
            .text("abcdef", statusCode: count.count(adding: true) == 1 ? 202 : 200).chunked(2)
        }
        let policy = RetryPolicy(
            strategy: .custom { _, _, result in (try? result.get().statusCode) == 202 ? .seconds(1) : nil },
            clock: clock)
        let router = Router<URLEndPoint>(session: session, interceptors: [policy, limiter])
        let options = RequestOptions { $0.streamsResponse = true }
        let call = Task { try await router.rawResponse(for: URLEndPoint(.get, url, options: options)) }
        _ = try await clock.nextSleep()
        #expect(limiter.inFlight == 0)
        clock.advance(by: .seconds(1))
        #expect(try await call.value.statusCode == 200)
    }
}
