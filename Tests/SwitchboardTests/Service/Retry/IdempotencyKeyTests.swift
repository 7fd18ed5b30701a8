import Foundation
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@testable import Switchboard

@Suite(.timeLimit(.minutes(10)))
struct IdempotencyKeyTests {
    private let url = URL(text: "https://api.example.com/orders")

    private func keys(
        _ method: HTTPMethod = .post, headers: HTTPHeaders = [:], policy change: (inout RetryPolicy) -> Void = { _ in },
        options: RequestOptions = RequestOptions()
    ) async -> [String?] {
        let session = StubSession { _ in .status(503) }
        var policy = RetryPolicy(strategy: .immediate)
        change(&policy)
        let router = Router<URLEndPoint>(session: session, interceptors: [policy])
        _ = try? await router.response(for: URLEndPoint(method, url, headers: headers, options: options))
        return session.requests.map { $0.headers["Idempotency-Key"] }
    }

    @Test("a POST with a key is retried with that key; each call has another", .requirement("S2.19"))
    func unique() async throws {
        let options = RequestOptions { $0.idempotencyKey = .unique }
        let (first, second) = (await keys(options: options), await keys(options: options))
        #expect(first.count == 3 && second.count == 3)
        #expect(Set(first).count == 1 && Set(second).count == 1 && first != second)
        #expect(first[0].flatMap(UUID.init) != nil)
    }

    #if os(Linux) && compiler(>=6.2)
    @Test("keys differ in a process that has no free descriptor")
    func uniqueWithoutDescriptors() async {
        await #expect(processExitsWith: .success) {
            let keys = try await withoutDescriptors { (0..<100).map { _ in IdempotencyKey.unique.text } }
            #expect(Set(keys).count == 100)
            let shape = "^[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}$"
            #expect(keys.allSatisfy { $0.range(of: shape, options: .regularExpression) != nil })
        }
    }
    #endif

    @Test("a custom key is an option or a header; a GET has one only on request", .requirement("S2.19"))
    func own() async {
        #expect(
            await keys(options: RequestOptions { $0.idempotencyKey = "order-17" }) == [
                "order-17", "order-17", "order-17",
            ])
        #expect(await keys(headers: ["idempotency-key": "mine"]) == ["mine", "mine", "mine"])
        let both = await keys(
            headers: ["idempotency-key": "mine"], options: RequestOptions { $0.idempotencyKey = .unique })
        #expect(both == ["mine", "mine", "mine"])
        #expect(await keys(.get) == [nil, nil, nil])
        #expect(await keys(.get, options: RequestOptions { $0.idempotencyKey = "a" }) == ["a", "a", "a"])
        #expect(await keys() == [nil])
    }

    @Test("a policy adds keys only to methods that are not idempotent", .requirement("S2.19"))
    func byPolicy() async {
        for method in [HTTPMethod.post, .patch, "PURGE"] {
            let keys = await keys(method, policy: { $0.addsIdempotencyKeys = true })
            #expect(keys.count == 3 && Set(keys).count == 1 && keys[0] != nil)
        }
        #expect(await keys(.put, policy: { $0.addsIdempotencyKeys = true }) == [nil, nil, nil])
    }

    @Test("the policy of a request keeps the key setting of the chain", .requirement("S2.19"))
    func ownPolicy() async {
        let own = RequestOptions { $0.retry = RetryPolicy(maximumAttempts: 2, strategy: .immediate) }
        let keys = await keys(policy: { $0.addsIdempotencyKeys = true }, options: own)
        #expect(keys.count == 2 && Set(keys).count == 1 && keys[0] != nil)
        #expect(await self.keys(options: own) == [nil])
    }

    @Test("over a real connection a POST is retried only with a key", .requirement("S2.19"))
    func overTheWire() async throws {
        try await MockServer.run { server in
            for (key, count) in [(nil, 1), (IdempotencyKey.unique, 3)] as [(IdempotencyKey?, Int)] {
                let before = server.requests.count
                server.enqueue(.reset)
                if count > 1 { server.enqueue(.close, .text("ordered")) }
                let router = Router<URLEndPoint>(
                    session: DefaultSession.make(), interceptors: [RetryPolicy(strategy: .immediate)])
                let options = RequestOptions { $0.idempotencyKey = key }
                let endPoint = URLEndPoint(.post, server.url, options: options)
                let text = try? await router.request(endPoint, as: String.self)
                #expect(text == (count > 1 ? "ordered" : nil))
                #expect(server.requests.count - before == count)
            }
            #expect(Set(server.requests.dropFirst().map { $0.headers["Idempotency-Key"] }).count == 1)
        }
    }

    @Test("a key that is invalid in a header is refused, and nothing is sent", .requirement("S2.19"))
    func badKey() async {
        #expect(await keys(options: RequestOptions { $0.idempotencyKey = "a\r\nX: b" }) == [])
    }
}
