import Foundation
import SwitchboardTesting
import Testing

@testable import Switchboard
import SwitchboardTestSupport
@testable import SwitchboardResilience

@Suite(.timeLimit(.minutes(10)))
struct CircuitBreakerTests {
    private let url = URL(text: "https://api.example.com/a")
    private let key = "api.example.com:443"
    private let clock = TestClock()

    private func breaker() -> CircuitBreaker {
        CircuitBreaker(failures: 3, within: .seconds(10), openFor: .seconds(20), clock: clock)
    }

    @Test("opens after three failures and rejects without sending", arguments: failures)
    func opens(failure: MockResponse) async throws {
        let breaker = breaker()
        let session = StubSession { _ in failure }
        let router = Router<URLEndPoint>(session: session, interceptors: [breaker])
        for count in 1...3 {
            #expect(breaker.state(of: key) == .closed)
            _ = try? await router.response(for: URLEndPoint(.get, url))
            #expect(session.requests.count == count)
        }
        #expect(breaker.state(of: key) == .open(for: .seconds(20)))
        clock.advance(by: .seconds(5))
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: URLEndPoint(.get, url)) }
        #expect(error?.code == .circuitOpen)
        #expect(error?.reason == "the circuit of api.example.com:443 is open for another 15 s")
        #expect(error?.url == url)
        #expect(session.requests.count == 3)
        #expect(breaker.state(for: NetworkRequest(.get, url)) == .open(for: .seconds(15)))
    }

    @Test("successes, client errors and local failures keep it closed", arguments: harmless)
    func stays(answer: MockResponse) async throws {
        let breaker = breaker()
        let session = StubSession { _ in answer }
        let router = Router<URLEndPoint>(session: session, interceptors: [breaker])
        for _ in 0..<10 { _ = try? await router.response(for: URLEndPoint(.get, url)) }
        #expect(session.requests.count == 10)
        #expect(breaker.state(of: key) == .closed)
    }

    @Test("a connection that ends while this machine is offline is no failure", arguments: [false, true])
    func offline(isOffline: Bool) {
        var error = NetworkError(.connectionLost)
        error.isOffline = isOffline
        #expect(CircuitBreaker.isFailure(.failure(error)) == !isOffline)
    }

    @Test(
        "each failure of the transport is marked while this machine is offline",
        arguments: [
            NetworkError.Code.timedOut, .cannotConnect, .cannotFindHost, .connectionLost, .truncatedBody,
        ])
    func marked(code: NetworkError.Code) {
        for isOnline in [false, true] {
            let error = NetworkError(code).asOfflineError(to: url, isOnline: isOnline)
            #expect(CircuitBreaker.isFailure(.failure(error)) == isOnline)
        }
    }

    @Test("failures spread beyond the window do not open it")
    func window() async throws {
        let breaker = breaker()
        let router = Router<URLEndPoint>(session: StubSession { _ in .status(503) }, interceptors: [breaker])
        for _ in 0..<10 {
            _ = try? await router.response(for: URLEndPoint(.get, url))
            clock.advance(by: .seconds(5))
        }
        #expect(breaker.state(of: key) == .closed)
        _ = try? await router.response(for: URLEndPoint(.get, url))
        _ = try? await router.response(for: URLEndPoint(.get, url))
        #expect(breaker.state(of: key) == .open(for: .seconds(20)))
    }

    @Test("half open, one request probes, others fail, and its result decides", arguments: [true, false])
    func probe(succeeds: Bool) async throws {
        let breaker = breaker()
        let (gate, begun) = (Gate(), Deliveries<Bool>())
        let session = StubSession(.status(500), .status(500), .status(500), succeeds ? .text("back") : .status(500))
        let slow = AdHocInterceptor { request, next in
            if begun.all.count >= 3 { try await gate.wait() }
            begun.add(true)
            return try await next(request)
        }
        let waits = Events()
        let router = Router<URLEndPoint>(session: session, interceptors: [breaker, slow])
        for _ in 0..<3 { _ = try? await router.response(for: URLEndPoint(.get, url)) }
        clock.advance(by: .seconds(20))
        #expect(breaker.state(of: key) == .halfOpen)
        let options = RequestOptions { $0.monitors = [waits] }
        let probe = Task { try await router.rawResponse(for: URLEndPoint(.get, url, options: options)).statusCode }
        try await waits.wait(for: "this request is the probe")
        for _ in 0..<3 {
            let error = await #expect(throws: NetworkError.self) {
                try await router.rawResponse(for: URLEndPoint(.get, url))
            }
            #expect(error?.code == .circuitOpen)
            #expect(error?.reason?.contains("a probe is in flight") == true)
        }
        #expect(breaker.state(of: key) == .halfOpen)
        gate.open()
        #expect(try await probe.value == (succeeds ? 200 : 500))
        #expect(breaker.state(of: key) == (succeeds ? .closed : .open(for: .seconds(20))))
        #expect(session.requests.count == 4)
        let end = succeeds ? "closes: the probe succeeded" : "opens again for 20 s: the probe failed"
        #expect(waits.texts.contains("the circuit of \(key) \(end)"))
    }

    @Test(
        "after a probe that takes longer than the open time, the next request is a probe too", arguments: [true, false])
    func slowProbe(succeeds: Bool) async throws {
        let breaker = breaker()
        let (gate, begun) = (Gate(), Deliveries<Bool>())
        let session = StubSession { request in
            request.method == .put || begun.all.count > 3 && succeeds ? .text("ok") : .status(500)
        }
        let slow = AdHocInterceptor { request, next in
            begun.add(true)
            if request.method == .put { try await gate.wait() }
            return try await next(request)
        }
        let router = Router<URLEndPoint>(session: session, interceptors: [breaker, slow])
        for _ in 0..<3 { _ = try await router.rawResponse(for: URLEndPoint(.get, url)) }
        clock.advance(by: .seconds(20))
        let upload = Task { try await router.rawResponse(for: URLEndPoint(.put, url)).statusCode }
        #expect(await comesTrue { begun.all.count == 4 })
        clock.advance(by: .seconds(19))
        let error = await #expect(throws: NetworkError.self) {
            try await router.rawResponse(for: URLEndPoint(.get, url))
        }
        #expect(error?.code == .circuitOpen)
        clock.advance(by: .seconds(1))
        let status = try await router.rawResponse(for: URLEndPoint(.get, url)).statusCode
        let expected: CircuitBreaker.State = succeeds ? .closed : .open(for: .seconds(20))
        #expect(status == (succeeds ? 200 : 500) && breaker.state(of: key) == expected)
        // The second probe has decided the state. The end of the first one changes nothing.
        gate.open()
        let uploaded = try await upload.value
        #expect(uploaded == 200 && breaker.state(of: key) == expected)
    }

    @Test("a request that the probe sends and waits for passes")
    func nested() async throws {
        let breaker = breaker()
        let session = StubSession(.status(500), .status(500), .status(500), .text("nonce"), .text("back"))
        let nonces = Router<URLEndPoint>(session: session, interceptors: [breaker])
        for _ in 0..<3 { _ = try await nonces.rawResponse(for: URLEndPoint(.get, url)) }
        clock.advance(by: .seconds(20))
        let signer = AdHocInterceptor { [url] request, next in
            var request = request
            request.headers["X-Nonce"] = try await nonces.request(URLEndPoint(.get, url), as: String.self)
            return try await next(request)
        }
        let router = Router<URLEndPoint>(session: session, interceptors: [breaker, signer])
        let status = try await router.rawResponse(for: URLEndPoint(.get, url)).statusCode
        #expect(status == 200 && breaker.state(of: key) == .closed)
    }

    @Test("a canceled call is no failure; a canceled probe leaves it half open")
    func cancelled() async throws {
        let breaker = breaker()
        let session = StubSession { request in request.url?.path == "/slow" ? .stall : .status(500) }
        let router = Router<URLEndPoint>(session: session, interceptors: [breaker])
        let slow = URLEndPoint(.get, URL(text: "https://api.example.com/slow"))
        for count in 1...5 {
            let call = Task { try await router.rawResponse(for: slow) }
            #expect(await comesTrue { session.requests.count >= count })
            call.cancel()
            await #expect(throws: CancellationError.self) { try await call.value }
        }
        #expect(breaker.state(of: key) == .closed)
        for _ in 0..<3 { _ = try await router.rawResponse(for: URLEndPoint(.get, url)) }
        clock.advance(by: .seconds(20))
        let probe = Task { try await router.rawResponse(for: slow) }
        #expect(await comesTrue { session.requests.count >= 9 })
        router.cancel()
        await #expect(throws: CancellationError.self) { try await probe.value }
        #expect(breaker.state(of: key) == .halfOpen)
        #expect(try await router.rawResponse(for: URLEndPoint(.get, url)).statusCode == 500)
        #expect(breaker.state(of: key) == .open(for: .seconds(20)))
    }

    @Test("calls begun before the circuit opens do not change its state")
    func stale() async throws {
        let breaker = breaker()
        let (gate, begun) = (Gate(), Deliveries<Bool>())
        let late = AdHocInterceptor { request, next in
            guard request.url?.path == "/late" else { return try await next(request) }
            if request.method == .head { try await Gate().wait() }  // the probe waits forever
            begun.add(true)
            try await gate.wait()
            return try await next(request)
        }
        let session = StubSession { request in request.url?.path == "/late" ? .text("fine") : .status(500) }
        let router = Router<URLEndPoint>(session: session, interceptors: [breaker, late])
        let call = Task {
            try await router.rawResponse(for: URLEndPoint(.get, URL(text: "https://api.example.com/late")))
        }
        _ = try await begun.first()
        for _ in 0..<3 { _ = try await router.rawResponse(for: URLEndPoint(.get, url)) }
        clock.advance(by: .seconds(20))
        let monitor = Events()
        let options = RequestOptions { $0.monitors = [monitor] }
        let lateURL = URL(text: "https://api.example.com/late")
        let probe = Task { try await router.rawResponse(for: URLEndPoint(.head, lateURL, options: options)) }
        try await monitor.wait(for: "this request is the probe")
        gate.open()
        #expect(try await call.value.statusCode == 200)
        #expect(breaker.state(of: key) == .halfOpen)
        probe.cancel()
        await #expect(throws: CancellationError.self) { try await probe.value }
    }

    @Test("after a limiter, it refuses requests that waited while it opened")
    func afterLimiter() async throws {
        let (breaker, limiter) = (CircuitBreaker(failures: 1, clock: clock), ConcurrencyLimiter(1))
        let (gate, begun) = (Gate(), Deliveries<Bool>())
        let last = AdHocInterceptor { request, next in
            begun.add(true)
            try await gate.wait()
            return try await next(request)
        }
        let session = StubSession(.status(503), .text("sent"))
        let router = Router<URLEndPoint>(session: session, interceptors: [limiter, breaker, last])
        let first = Task { try await router.rawResponse(for: URLEndPoint(.get, url)) }
        _ = try await begun.first()
        let second = Task { try await router.rawResponse(for: URLEndPoint(.get, url)) }
        #expect(await comesTrue { limiter.waiting == 1 })
        gate.open()
        #expect(try await first.value.statusCode == 503)
        let error = await #expect(throws: NetworkError.self) { try await second.value }
        #expect(error?.code == .circuitOpen)
        #expect(session.requests.count == 1)
    }

    @Test("each host and port, or key, has a circuit; a reset closes all")
    func keys() async throws {
        let breaker = breaker()
        let session = StubSession { _ in .status(500) }
        let router = Router<URLEndPoint>(session: session, interceptors: [breaker])
        for _ in 0..<3 { _ = try await router.rawResponse(for: URLEndPoint(.get, url)) }
        #expect(breaker.state(of: "api.example.com:444") == .closed)
        #expect(
            try await router.rawResponse(for: URLEndPoint(.get, URL(text: "https://api.example.com:444/"))).statusCode
                == 500)
        await #expect(throws: NetworkError.self) {
            try await router.rawResponse(for: URLEndPoint(.get, URL(text: "https://API.example.com/b")))
        }
        await breaker.reset()
        #expect(breaker.state(of: key) == .closed)
        let byPath = CircuitBreaker(failures: 1, clock: clock) {
            $0.path
        } isFailure: { result in
            (try? result.get().statusCode) == 404
        }
        let other = Router<URLEndPoint>(session: StubSession { _ in .status(404) }, interceptors: [byPath])
        _ = try await other.rawResponse(for: URLEndPoint(.get, url))
        #expect(byPath.state(of: "/a") == .open(for: .seconds(30)))
    }

    @Test("circuits without recent failures are removed, so keys stay bounded", arguments: [false, true])
    func manyKeys(isProbed: Bool) async throws {
        let breaker = CircuitBreaker(failures: 1, within: .seconds(1), openFor: .seconds(1), clock: clock) { $0.path }
        let session = StubSession { request in request.method == .head ? .text("") : .status(500) }
        let router = Router<URLEndPoint>(session: session, interceptors: [breaker])
        for index in 0..<2_000 {
            let endPoint = url.appendingPathComponent("\(index)")
            _ = try await router.rawResponse(for: URLEndPoint(.get, endPoint))
            clock.advance(by: .seconds(1))
            if isProbed { _ = try await router.rawResponse(for: URLEndPoint(.head, endPoint)) }
        }
        #expect(breaker.circuitCount <= 256)
    }

    @Test("behind RetryPolicy each attempt counts; an open circuit is not retried")
    func withRetries() async throws {
        let breaker = breaker()
        let session = StubSession { _ in .status(503) }
        let policy = RetryPolicy(maximumAttempts: 9, strategy: .immediate)
        let router = Router<URLEndPoint>(session: session, interceptors: [policy, breaker])
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: URLEndPoint(.get, url)) }
        #expect(error?.code == .circuitOpen && error?.attempts == 4)
        #expect(session.requests.count == 3)
    }

    static let failures: [MockResponse] =
        [500, 502, 503, 504].map { .status($0) } + [
            .close, .truncated(after: 3), .failure(.timedOut), .failure(.cannotConnect), .failure(.cannotFindHost),
        ]
    static let harmless: [MockResponse] =
        [200, 301, 400, 401, 404, 429, 501].map { .status($0) } + [
            .failure(.noInternetConnection), .failure(.invalidRequest), .failure(.cancelled),
        ]
}
