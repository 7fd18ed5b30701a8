import Foundation
import Switchboard
import SwitchboardAuth
import SwitchboardCache
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

/// A cache and a signer among the exchange interceptors.
@Suite(.timeLimit(.minutes(10)))
struct SignedCacheTests {
    /// The position of the signer, and whether its signature changes with each request.
    struct Order: Sendable {
        let isSignerLast: Bool
        let isChanging: Bool
    }

    private static let orders = [
        Order(isSignerLast: true, isChanging: true), Order(isSignerLast: true, isChanging: false),
        Order(isSignerLast: false, isChanging: true), Order(isSignerLast: false, isChanging: false),
    ]

    private let endPoint = URLEndPoint(.get, URL(text: "https://h.example.com/me"))

    private func router(_ cache: ResponseCache, _ order: Order, _ session: StubSession) -> Router<URLEndPoint> {
        let signer = RequestSigner { request in
            let nonce = order.isChanging ? UUID().uuidString : "1"
            request.headers["X-Signature"] = nonce + (request.headers["If-None-Match"] ?? "")
        }
        return Router(
            session: session, exchangeInterceptors: order.isSignerLast ? [cache, signer] : [signer, cache])
    }

    @Test("with an identity, the cache answers before and after a signer", arguments: orders)
    func named(order: Order) async throws {
        let session = StubSession { _ in .text("x", headers: ["Cache-Control": "max-age=86400"]) }
        let router = router(ResponseCache(identity: { _ in "anna" }), order, session)
        #expect(try await router.response(for: endPoint).notStoredReason == nil)
        #expect(try await router.response(for: endPoint).cacheOutcome == .hit)
        #expect(session.requests.count == 1)
    }

    @Test("without an identity, a later signer prevents storing")
    func unnamed() async throws {
        for order in Self.orders {
            let session = StubSession { _ in .text("x", headers: ["Cache-Control": "max-age=86400"]) }
            let router = router(ResponseCache(), order, session)
            let reason = try await router.response(for: endPoint).notStoredReason
            #expect((reason != nil) == order.isSignerLast, "\(order)")
            #expect(reason?.hasPrefix("an interceptor after the cache changed the request") ?? true)
            let outcome = try await router.response(for: endPoint).cacheOutcome
            let isHit = !order.isSignerLast && !order.isChanging
            #expect(outcome == (isHit ? .hit : .miss(.notStored)), "\(order)")
        }
    }

    @Test("only a signer after the cache signs the condition of a validation", arguments: orders)
    func validation(order: Order) async throws {
        let session = StubSession { request in
            let headers: HTTPHeaders = ["Cache-Control": "no-cache", "ETag": "\"a\""]
            return request.headers["If-None-Match"] == nil
                ? .text("x", headers: headers) : .status(304, headers: headers)
        }
        let router = router(ResponseCache(identity: { _ in "anna" }), order, session)
        _ = try await router.response(for: endPoint)
        let second = try await router.response(for: endPoint)
        #expect(second.cacheOutcome == .validated(.expired))
        #expect(session.requests.last?.headers["If-None-Match"] == "\"a\"")
        #expect(session.requests.last?.headers["X-Signature"]?.hasSuffix("\"a\"") == order.isSignerLast)
    }
}
