import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// `RequestOptions.retry` of a router without a `RetryPolicy`.
struct OwnRetryPolicyTests {
    private static let endPoint = URLEndPoint(.get, URL(text: "http://h.test/film"))

    private static func options(_ attempts: Int) -> RequestOptions {
        RequestOptions { $0.retry = RetryPolicy(maximumAttempts: attempts, strategy: .constant(.zero)) }
    }

    @Test("the policy of the request's options is applied, and shown by explain")
    func applied() async throws {
        let stub = StubSession(.status(503), .status(503), .text("ok"))
        let router = Router<URLEndPoint>(session: stub)
        let response = try await router.response(for: Self.endPoint, options: Self.options(3))
        #expect(response.attempts == 3 && stub.requests.count == 3)
        let plan = await router.explain(Self.endPoint, options: Self.options(3))
        #expect(plan.interceptors == ["RetryPolicy", "RedirectInterceptor"])
        #expect("\(plan)".contains("1. RetryPolicy: of the request's options\n2. RedirectInterceptor"))
        #expect(await router.explain(Self.endPoint).interceptors == ["RedirectInterceptor"])
    }

    @Test("beside a policy of the chain, the attempts are not multiplied")
    func once() async throws {
        let stub = StubSession(.status(503))
        let router = Router<URLEndPoint>(
            session: stub, interceptors: [RetryPolicy(maximumAttempts: 5, strategy: .constant(.zero))])
        let error = await #expect(throws: NetworkError.self) {
            try await router.response(for: Self.endPoint, options: Self.options(2))
        }
        #expect(error?.attempts == 2 && stub.requests.count == 2)
    }

    @Test("a custom strategy decides about each response of a download too", arguments: [true, false])
    func download(isInChain: Bool) async throws {
        try await withFolder { folder in
            let stub = StubSession(.status(202), .status(202), .text("ok"))
            let policy = RetryPolicy(
                strategy: .custom { _, _, result in (try? result.get().statusCode) == 202 ? .zero : nil })
            let router = Router<URLEndPoint>(session: stub, interceptors: isInChain ? [policy] : [])
            let file = folder.appendingPathComponent("film")
            let options = RequestOptions { if !isInChain { $0.retry = policy } }
            let response = try await router.download(Self.endPoint, to: file, options: options)
            #expect(response.statusCode == 200 && response.attempts == 3)
            #expect(try String(contentsOf: file, encoding: .utf8) == "ok")
        }
    }

    @Test("a POST download with an idempotency key is retried with it", arguments: [true, false])
    func keyedDownload(isInChain: Bool) async throws {
        try await withFolder { folder in
            let stub = StubSession(.status(503), .text("ok"))
            let policy = RetryPolicy(strategy: .immediate)
            let router = Router<URLEndPoint>(session: stub, interceptors: isInChain ? [policy] : [])
            let options = RequestOptions {
                $0.idempotencyKey = "k"
                if !isInChain { $0.retry = policy }
            }
            let endPoint = URLEndPoint(.post, URL(text: "http://h.test/report"))
            _ = try await router.download(endPoint, to: folder.appendingPathComponent("report"), options: options)
            #expect(stub.requests.map { $0.headers["Idempotency-Key"] } == ["k", "k"])
        }
    }

    @Test(
        "a download that was cut is sent again with the same idempotency key",
        arguments: [HTTPMethod.get, .post], [true, false])
    func cutDownload(method: HTTPMethod, isInChain: Bool) async throws {
        try await withFolder { folder in
            let stub = StubSession(.text("0123456789").truncated(after: 4), .text("0123456789"))
            let policy = RetryPolicy(strategy: .immediate)
            let router = Router<URLEndPoint>(session: stub, interceptors: isInChain ? [policy] : [])
            let options = RequestOptions {
                $0.idempotencyKey = .unique
                if !isInChain { $0.retry = policy }
            }
            let endPoint = URLEndPoint(method, URL(text: "http://h.test/report"))
            _ = try await router.download(endPoint, to: folder.appendingPathComponent("report"), options: options)
            let keys = stub.requests.map { $0.headers["Idempotency-Key"] }
            #expect(keys.count == 2 && keys[0] != nil && keys[0] == keys[1])
        }
    }
}
