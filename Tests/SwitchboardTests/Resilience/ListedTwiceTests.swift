import Foundation
import Switchboard
import SwitchboardTesting
import Testing

/// Lists that somebody got wrong.
@Suite(.timeLimit(.minutes(3)))
struct ListedTwiceTests {
    private let url = URL(text: "https://api.example.com/a")

    @Test("an interceptor that makes requests wait does not wait for itself when it is listed twice")
    func waits() async throws {
        let interceptors: [any Interceptor] = [Deduplicator(), ConcurrencyLimiter(1), RateLimiter(1_000)]
        for one in interceptors {
            let router = Router<URLEndPoint>(session: StubSession { _ in .text("ok") }, interceptors: [one, one])
            #expect(try await router.request(URLEndPoint(.get, url), as: String.self) == "ok")
        }
        let limiter = ConcurrencyLimiter(1)
        let chain = Chain {
            limiter
            limiter
            StubSession { _ in .text("ok") }
        }
        #expect(try await chain.send(NetworkRequest(.get, url)).text == "ok")
        let router = Router<URLEndPoint>(session: chain, interceptors: [limiter])
        #expect(try await router.request(URLEndPoint(.get, url), as: String.self) == "ok")
    }

    @Test("a circuit breaker that is listed twice counts each failure once")
    func breaker() async throws {
        let breaker = CircuitBreaker(failures: 2)
        let router = Router<URLEndPoint>(session: StubSession { _ in .status(500) }, interceptors: [breaker, breaker])
        _ = try await router.exchange(URLEndPoint(.get, url))
        #expect(breaker.state(of: "api.example.com:443") == .closed)
    }

    @Test("S2.19 an empty idempotency key is an error, and an empty field is none: a POST goes out once at most")
    func emptyKey() async throws {
        let session = StubSession { _ in .status(503) }
        let router = Router<URLEndPoint>(session: session, interceptors: [RetryPolicy(clock: TestClock(skips: true))])
        let keyed = URLEndPoint(.post, url, options: RequestOptions { $0.idempotencyKey = "" })
        let error = await #expect(throws: NetworkError.self) { try await router.exchange(keyed) }
        #expect(error?.code == .invalidRequest)
        #expect(session.requests.isEmpty)
        _ = try await router.exchange(URLEndPoint(.post, url, headers: ["Idempotency-Key": ""]))
        #expect(session.requests.count == 1)
    }

    @Test("S2.23 by id, requests with other credentials are not shared, whatever field or parameter has them")
    func byID() async throws {
        for place in [APIKeyAuth.Place.header("X-Odd"), .header("X-Api-Key"), .query("api_key")] {
            let begun = Deliveries<String>()
            let gate = Deliveries<Bool>()
            let session = StubSession { request in
                let key = request.headers["X-Odd"] ?? request.headers["X-Api-Key"] ?? request.query ?? ""
                begun.add(key)
                _ = try await gate.first()
                return .text(key)
            }
            let deduplicator = Deduplicator()
            let calls = ["anna", "bob"].map { key in
                let router = Router<URLEndPoint>(
                    session: session, interceptors: [APIKeyAuth(key, in: place), deduplicator],
                    builder: RequestBuilder(options: RequestOptions { $0.deduplication = .id("me") }))
                return Task { [url] in try await router.request(URLEndPoint(.get, url), as: String.self) }
            }
            _ = try await begun.wait(for: 2)
            gate.open()
            #expect(try await calls[0].value.hasSuffix("anna"))
            #expect(try await calls[1].value.hasSuffix("bob"))
        }
    }
}
