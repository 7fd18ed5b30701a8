import Foundation
import SwitchboardCookies
import SwitchboardPlatform
import SwitchboardTesting
import Testing

@testable import Switchboard
@testable import SwitchboardCache
@testable import SwitchboardHAR
import SwitchboardTestSupport
@testable import SwitchboardResilience

/// Dumps everything that stores requests, while they are in flight and afterwards.
@Suite(.timeLimit(.minutes(10)))
struct DumpTests {
    private static func texts(of value: Any) -> String {
        var dumped = ""
        dump(value, to: &dumped)
        return "\(value)\n\(String(reflecting: value))\n\(dumped)"
    }

    @Test("no part of a router shows a secret, in flight or afterwards")
    func parts() async throws {
        let secret = "pl4ntedSecret"
        let jar = CookieJar()
        let recorder = HARRecorder()
        let cache = ResponseCache()
        let deduplicator = Deduplicator()
        let parts: [any Interceptor] = [
            deduplicator, cache, RetryPolicy(), CircuitBreaker(), RateLimiter(1_000),
            ConcurrencyLimiter(9), HedgingPolicy(after: .seconds(60)), BearerAuth(secret),
        ]
        let held = Deliveries<@Sendable () -> [Any]>()
        let printed = Deliveries<String>()
        let session = StubSession { _ in
            for part in try await held.first()() { printed.add(Self.texts(of: part)) }
            return .json(
                #"{"token":"pl4ntedSecret"}"#,
                headers: ["Cache-Control": "max-age=86400", "Set-Cookie": "sid=pl4ntedSecret", "ETag": "\"a\""])
        }
        let options = RequestOptions { $0.monitors.append(recorder) }
        let router = Router<URLEndPoint>(
            session: session, interceptors: parts, exchangeInterceptors: [CookieInterceptor(jar)],
            options: options)
        let manager = NetworkManager(
            session: session, interceptors: parts, exchangeInterceptors: [CookieInterceptor(jar)], options: options)
        let all: @Sendable () -> [Any] = {
            [router, manager, session, jar, CookieInterceptor(jar), recorder, options] + parts
        }
        held.add(all)
        let url = URL(text: "https://api.example.com/a?api_key=pl4ntedSecret")
        for headers in [["X-Api-Key": secret], ["X-Tenant-Login": secret]] as [HTTPHeaders] {
            _ = try await router.response(for: URLEndPoint(.get, url, headers: headers))
        }
        for part in all() { printed.add(Self.texts(of: part)) }
        #expect(printed.all.count >= 2 * parts.count)
        for text in printed.all where text.contains("pl4nted") {
            let place = text.range(of: "pl4nted").map { text[..<$0.lowerBound].suffix(300) } ?? ""
            Issue.record("behind: \(place)")
        }
    }

    @Test("a value under a lock is not dumped")
    func locked() {
        #expect(!Self.texts(of: Protected(["pl4nted": "pl4nted"])).contains("pl4nted"))
    }
}
