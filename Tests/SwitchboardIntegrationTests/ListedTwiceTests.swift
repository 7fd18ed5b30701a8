import Foundation
import Switchboard
import SwitchboardCalls
import SwitchboardResilience
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

/// Invalid lists of interceptors.
@Suite(.timeLimit(.minutes(10)))
struct ListedTwiceTests {
    private let url = URL(text: "https://api.example.com/a")

    @Test(
        "an object listed twice ends every call with an error that names it",
        arguments: [ConcurrencyLimiter(1), RateLimiter(1_000), CircuitBreaker()]
            as [any Interceptor & ExchangeInterceptor])
    func twice(one: any Interceptor & ExchangeInterceptor) async throws {
        let session = StubSession { _ in .text("ok") }
        let chain = SessionChain {
            [one]
            session
        }
        let routers = [
            Router<URLEndPoint>(session: session, interceptors: [one, RetryPolicy(), one]),
            Router(session: session, exchangeInterceptors: [one, one]),
            Router(session: session, interceptors: [one], exchangeInterceptors: [one]),
            Router(session: chain, interceptors: [one]),
        ]
        for router in routers {
            let error = await #expect(throws: NetworkError.self) {
                try await router.request(URLEndPoint(.get, url), as: String.self)
            }
            #expect(error?.code == .invalidRequest && error?.url == url)
            #expect(error?.reason?.contains("the same \(type(of: one)) is listed twice") == true)
            #expect(await router.explain(URLEndPoint(.get, url)).error?.code == .invalidRequest)
        }
        let again = SessionChain {
            [one, one]
            session
        }
        await #expect(throws: NetworkError.self) { try await again.send(NetworkRequest(.get, url)) }
        #expect(session.requests.isEmpty)
        #expect(try await chain.send(NetworkRequest(.get, url)).text == "ok")
    }

    @Test("an object listed twice in a chain behind an app's session is an error")
    func behindSession() async throws {
        let session = StubSession { _ in .text("ok") }
        let one = RateLimiter(1_000)
        let chain = SessionChain {
            one
            one
            session
        }
        // The router does not see the chain in this session.
        let router = Router<URLEndPoint>(session: AdHocSession(chain.send))
        let error = await #expect(throws: NetworkError.self) {
            try await router.request(URLEndPoint(.get, url), as: String.self)
        }
        #expect(error?.code == .invalidRequest && error?.url == url && session.requests.isEmpty)
    }

    @Test("two objects of one type may be listed")
    func twoOfAKind() async throws {
        let lists: [any Interceptor] = [RateLimiter(9), RateLimiter(9), RetryPolicy(), RetryPolicy()]
        let router = Router<URLEndPoint>(session: StubSession { _ in .text("ok") }, interceptors: lists)
        #expect(try await router.request(URLEndPoint(.get, url), as: String.self) == "ok")
    }

    @Test("an empty idempotency key is an error; an empty field allows no retry", .requirement("S2.19"))
    func emptyKey() async throws {
        let session = StubSession { _ in .status(503) }
        let router = Router<URLEndPoint>(session: session, interceptors: [RetryPolicy(clock: TestClock(skips: true))])
        let keyed = URLEndPoint(.post, url, options: RequestOptions { $0.idempotencyKey = "" })
        let error = await #expect(throws: NetworkError.self) { try await router.rawResponse(for: keyed) }
        #expect(error?.code == .invalidRequest)
        #expect(session.requests.isEmpty)
        _ = try await router.rawResponse(for: URLEndPoint(.post, url, headers: ["Idempotency-Key": ""]))
        #expect(session.requests.count == 1)
    }

    @Test("requests with the same id and different credentials are not shared", .requirement("S2.23"))
    func byID() async throws {
        for place in [APIKeyAuth.Location.header("X-Odd"), .header("X-Api-Key"), .query("api_key")] {
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
                    options: RequestOptions { $0.deduplication = .id("me") })
                return Task { [url] in try await router.request(URLEndPoint(.get, url), as: String.self) }
            }
            _ = try await begun.wait(for: 2)
            gate.open()
            #expect(try await calls[0].value.hasSuffix("anna"))
            #expect(try await calls[1].value.hasSuffix("bob"))
        }
    }
}
