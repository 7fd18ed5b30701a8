import Dispatch
import Foundation
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

@testable import Switchboard
@testable import SwitchboardResilience

@Suite(.timeLimit(.minutes(10)))
struct DeduplicatorTests {
    private let url = URL(text: "https://api.example.com/user")

    /// Returns a router whose exchanges wait for a gate, with the requests of those exchanges.
    private func gated(
        _ deduplicator: Deduplicator = Deduplicator(), _ answer: @escaping StubSession.Answer = { _ in .text("answer") }
    ) -> (Router<URLEndPoint>, Deliveries<NetworkRequest>, Gate) {
        let (begun, gate) = (Deliveries<NetworkRequest>(), Gate())
        let last = AdHocInterceptor { request, next in
            begun.add(request)
            try await gate.wait()
            return try await next(request)
        }
        let chain: [any Interceptor] = [deduplicator, last]
        return (Router(session: StubSession(answer), interceptors: chain), begun, gate)
    }

    /// Starts a call that shares an exchange in flight.
    private func follow(
        _ router: Router<URLEndPoint>, _ options: RequestOptions = RequestOptions()
    ) async throws -> Task<NetworkResponse, any Error> {
        let monitor = Events()
        let options = options.merging(RequestOptions { $0.monitors = [monitor] })
        let call = Task { try await router.response(for: URLEndPoint(.get, url, options: options)) }
        try await monitor.wait(for: "cache: shared with ")
        return call
    }

    @Test("equal GETs in flight share one exchange; the next one is sent again", .requirement("S2.23"))
    func shared() async throws {
        let deduplicator = Deduplicator()
        let (router, begun, gate) = gated(deduplicator)
        let leader = Task { try await router.response(for: URLEndPoint(.get, url)) }
        let sent = try await begun.first()
        var calls = [leader]
        for _ in 0..<9 { calls.append(try await follow(router)) }
        #expect(deduplicator.inFlight == 1)
        gate.open()
        var ids: [NetworkRequest.ID] = []
        for call in calls {
            let response = try await call.value
            #expect(response.text == "answer" && response.url == url)
            ids.append(try #require(response.request?.id))
        }
        #expect(Set(ids).count == 10 && ids[0] == sent.id)
        #expect(begun.all.count == 1 && deduplicator.inFlight == 0)
        let history = try await leader.value.history
        #expect(history.count == 1)
        _ = try await router.response(for: URLEndPoint(.get, url))
        #expect(begun.all.count == 2)
    }

    @Test("requests without a host share no exchange: each may get another one")
    func relativeURL() {
        #expect(DeduplicationKey(NetworkRequest(.get, URL(text: "people")), ignoring: []) == nil)
    }

    @Test("header values with other bytes share no exchange")
    func bytes() throws {
        let keys = ["\u{E9}", "e\u{301}"].map { value in
            var request = NetworkRequest(.get, url)
            request.headers["X-City"] = value
            return DeduplicationKey(request, ignoring: [])
        }
        let (composed, decomposed) = try (#require(keys[0]), #require(keys[1]))
        #expect(composed != decomposed)
    }

    @Test("ids with other bytes share no exchange")
    func bytesOfIDs() throws {
        let keys = ["caf\u{E9}", "cafe\u{301}"].map { id in
            DeduplicationKey(
                NetworkRequest(.get, url, options: RequestOptions { $0.deduplication = .id(id) }), ignoring: [])
        }
        #expect(try #require(keys[0]) != #require(keys[1]))
    }

    @Test("one id with other credentials in the options shares no exchange")
    func optionCredentials() {
        func key(_ change: @escaping @Sendable (inout RequestOptions) -> Void) -> DeduplicationKey? {
            let options = RequestOptions {
                $0.deduplication = .id("me")
                change(&$0)
            }
            return DeduplicationKey(NetworkRequest(.get, url, options: options), ignoring: [])
        }
        let anna = key { $0.credentials = BasicCredentials(user: "anna", password: "a") }
        let bob = key { $0.credentials = BasicCredentials(user: "bob", password: "b") }
        let guest = key { $0.authentication = .anonymous }
        #expect(Set([anna, bob, guest, key { _ in }]).count == 4)
        #expect(anna == key { $0.credentials = BasicCredentials(user: "anna", password: "a") })
    }

    @Test("texts of a follower mask a key that was added to the shared request")
    func maskedKey() async throws {
        let (begun, gate) = (Deliveries<Bool>(), Gate())
        let session = StubSession { _ in
            begun.add(true)
            try await gate.wait()
            return .status(500)
        }
        let router = Router<URLEndPoint>(
            session: session, interceptors: [Deduplicator()],
            exchangeInterceptors: [APIKeyAuth("s3cret99", in: .query("appid"))])
        let leader = Task { try await router.response(for: URLEndPoint(.get, url)) }
        _ = try await begun.first()
        let monitor = Events()
        let follower = Task {
            let options = RequestOptions { $0.monitors = [monitor] }
            return try await router.response(for: URLEndPoint(.get, url, options: options))
        }
        try await monitor.wait(for: "cache: shared with ")
        gate.open()
        for call in [leader, follower] {
            let error = await #expect(throws: NetworkError.self) { try await call.value }
            let text = "\(try #require(error)) \(error?.request?.curlCommand ?? "")"
            #expect(!text.contains("s3cret99") && text.contains("appid"))
        }
        #expect(!monitor.all.map { "\($0)" }.joined().contains("s3cret99"))
    }

    @Test("an answer of a later interceptor is not called shared")
    func ownAnswer() async throws {
        let monitor = Events()
        let answer = AdHocInterceptor { _, _ in NetworkResponse(statusCode: 200) }
        let router = Router<URLEndPoint>(session: StubSession(), interceptors: [Deduplicator(), answer])
        let options = RequestOptions { $0.monitors = [monitor] }
        let response = try await router.response(for: URLEndPoint(.get, url, options: options))
        #expect(!response.isShared && !monitor.texts.contains { $0.contains("shared") })
    }

    @Test("before a limiter and a circuit breaker, a shared exchange counts once")
    func documentedOrder() async throws {
        let (begun, gate) = (Deliveries<NetworkRequest>(), Gate())
        let last = AdHocInterceptor { request, next in
            begun.add(request)
            try await gate.wait()
            return try await next(request)
        }
        let (breaker, limiter) = (CircuitBreaker(failures: 2), ConcurrencyLimiter(20, perHost: 1))
        let chain: [any Interceptor] = [Deduplicator(), limiter, breaker, last]
        let router = Router<URLEndPoint>(session: StubSession { _ in .status(503) }, interceptors: chain)
        let leader = Task { try await router.response(for: URLEndPoint(.get, url)) }
        _ = try await begun.first()
        let follower = try await follow(router)
        #expect(limiter.inFlight == 1 && limiter.waiting == 0)
        gate.open()
        for call in [leader, follower] {
            await #expect(throws: NetworkError.self) { try await call.value }
        }
        #expect(begun.all.count == 1)
        #expect(breaker.state(of: "api.example.com:443") == .closed)
    }

    @Test("a shared answer of another origin is foreign for every caller")
    func foreignAnswer() async throws {
        let page = #"<https://api.example.com/close>; rel="next""#
        let (router, begun, gate) = gated { request in
            request.url?.host == "evil.example"
                ? .json("[]").with("Link", page) : .redirect(to: "https://evil.example/list")
        }
        let leader = Task { try await router.response(for: URLEndPoint(.get, url)) }
        _ = try await begun.first()
        let follower = try await follow(router)
        gate.open()
        for call in [leader, follower] {
            let response = try await call.value
            #expect(response.request?.hasLeftOrigin == true)
            #expect(response.passedAnotherOrigin)
        }
    }

    @Test("a shared response of another origin has no credential of its caller")
    func foreignRequest() async throws {
        let (begun, gate) = (Deliveries<NetworkRequest>(), Gate())
        let last = AdHocInterceptor { request, next in
            begun.add(request)
            try await gate.wait()
            return try await next(request)
        }
        let session = StubSession { request in
            request.url?.host == "cdn.example" ? .text("ok") : .redirect(to: "https://cdn.example/list")
        }
        let chain: [any Interceptor] = [BearerAuth("secret"), Deduplicator(), last]
        let router = Router<URLEndPoint>(session: session, interceptors: chain)
        let leader = Task { try await router.response(for: URLEndPoint(.get, url)) }
        _ = try await begun.first()
        let follower = try await follow(router)
        gate.open()
        for call in [leader, follower] {
            let request = try #require(try await call.value.request)
            #expect(request.host == "cdn.example" && !request.headers.contains("Authorization"))
        }
    }

    @Test("each caller gets the error with its request; events name the leader", .requirement("S2.23"))
    func errors() async throws {
        let (router, begun, gate) = gated { _ in .close }
        let leader = Task { try await router.response(for: URLEndPoint(.get, url)) }
        let sent = try await begun.first()
        let monitor = Events()
        let follower = Task {
            let options = RequestOptions { $0.monitors = [monitor] }
            return try await router.response(for: URLEndPoint(.get, url, options: options))
        }
        try await monitor.wait(for: "cache: shared with \(sent.id)")
        gate.open()
        let first = await #expect(throws: NetworkError.self) { try await leader.value }
        let second = await #expect(throws: NetworkError.self) { try await follower.value }
        #expect(first?.code == .connectionLost && second?.code == .connectionLost)
        #expect(first?.request?.id == sent.id)
        #expect(second?.request != nil && second?.request?.id != sent.id && second?.url == url)
        #expect(monitor.texts.last?.hasPrefix("failed") == true)
    }

    @Test("the error of each caller names the interceptor that threw it")
    func thrower() async throws {
        let (begun, gate) = (Deliveries<NetworkRequest>(), Gate())
        let chain: [any Interceptor] = [Deduplicator(), Paywall(begun: begun, gate: gate)]
        let router = Router<URLEndPoint>(session: StubSession(), interceptors: chain)
        let leader = Task { try await router.response(for: URLEndPoint(.get, url)) }
        _ = try await begun.first()
        let follower = try await follow(router)
        gate.open()
        for call in [leader, follower] {
            let error = await #expect(throws: NetworkError.self) { try await call.value }
            #expect(error?.reason == "Paywall threw NoAccess.plan")
        }
    }

    @Test("an error counts no attempt that the first caller made alone")
    func attempts() async throws {
        let (begun, gate) = (Deliveries<NetworkRequest>(), Gate())
        let last = AdHocInterceptor { request, next in
            var response = try await next(request)
            guard response.statusCode == 200 else { return response }
            begun.add(request)
            try await gate.wait()
            response.request = request
            throw NetworkError(.truncatedBody).with(response)
        }
        let chain: [any Interceptor] = [
            RetryPolicy(maximumAttempts: 2, strategy: .immediate), Deduplicator(), last,
        ]
        let router = Router<URLEndPoint>(session: StubSession(.status(503), .text("part")), interceptors: chain)
        let leader = Task { try await router.response(for: URLEndPoint(.get, url)) }
        _ = try await begun.first()
        let follower = try await follow(router, RequestOptions { $0.retry = .never })
        gate.open()
        let first = await #expect(throws: NetworkError.self) { try await leader.value }
        let second = await #expect(throws: NetworkError.self) { try await follower.value }
        #expect(first?.attempts == 2 && second?.attempts == 1)
    }

    @Test("an equal request from inside a shared request does not wait for it")
    func nested() async throws {
        let holder = Deliveries<Router<URLEndPoint>>()
        let isNested = Deliveries<Bool>()
        let url = url
        let last = AdHocInterceptor { request, next in
            if isNested.all.isEmpty {
                isNested.add(true)
                // Turns a hang into a failure.
                let options = RequestOptions { $0.timeouts.total = .seconds(300) }
                _ = try await holder.first().response(for: URLEndPoint(.get, url), options: options)
            }
            return try await next(request)
        }
        let session = StubSession { _ in .text("answer") }
        let router = Router<URLEndPoint>(session: session, interceptors: [Deduplicator(), last])
        holder.add(router)
        #expect(try await router.response(for: URLEndPoint(.get, url)).text == "answer")
        #expect(session.requests.count == 2)
    }

    @Test("calls in two environments are not shared, also without a manager")
    func environments() async throws {
        let (router, begun, gate) = gated()
        let calls = [NetworkEnvironment.staging, .production].map { environment in
            Task {
                try await NetworkEnvironment.withCurrent(environment) {
                    try await router.response(for: URLEndPoint(.get, url))
                }
            }
        }
        _ = try await begun.wait(for: 2)
        gate.open()
        for call in calls { #expect(try await call.value.text == "answer") }
    }

    @Test("canceling the leader, a follower or a router leaves others running", .requirement("S2.23"))
    func oneLeaves() async throws {
        let deduplicator = Deduplicator()
        let (router, begun, gate) = gated(deduplicator)
        let (other, otherBegun, _) = gated(deduplicator)
        let monitor = Events()
        let options = RequestOptions { $0.monitors = [monitor] }
        let leader = Task { try await other.response(for: URLEndPoint(.get, url, options: options)) }
        _ = try await otherBegun.first()
        // A separate router, whose `cancel()` ends all of its calls.
        other.cancel()
        await #expect(throws: CancellationError.self) { try await leader.value }
        #expect(monitor.texts.last == "cancelled")
        #expect(deduplicator.inFlight == 0)  // the last caller left
        let again = Task { try await router.response(for: URLEndPoint(.get, url)) }
        _ = try await begun.first()
        let calls = [try await follow(router), try await follow(other), try await follow(router)]
        calls[0].cancel()
        await #expect(throws: CancellationError.self) { try await calls[0].value }
        other.cancel()
        await #expect(throws: CancellationError.self) { try await calls[1].value }
        again.cancel()
        await #expect(throws: CancellationError.self) { try await again.value }
        #expect(deduplicator.inFlight == 1)
        gate.open()
        #expect(try await calls[2].value.text == "answer")
        #expect(begun.all.count == 1)
    }

    @Test(
        "a shared request is retried within the longest total of its callers",
        arguments: [
            (Duration.seconds(600), Duration?.none, 200), (.seconds(600), .seconds(6_000), 200),
            (.seconds(6_000), .seconds(600), 200), (.seconds(600), .seconds(600), 503),
        ])
    func totals(leader: Duration, follower: Duration?, status: Int) async throws {
        let (begun, gate) = (Deliveries<NetworkRequest>(), Gate())
        let last = AdHocInterceptor { request, next in
            begun.add(request)
            try await gate.wait()
            return try await next(request)
        }
        let session = StubSession(.status(503, headers: ["Retry-After": "700"]), .status(200))
        let retries = RetryPolicy(maximumDelay: .seconds(1_000), clock: TestClock(skips: true))
        let router = Router<URLEndPoint>(session: session, interceptors: [Deduplicator(), retries, last])
        func options(_ total: Duration?) -> RequestOptions { RequestOptions { $0.timeouts.total = total } }
        let first = Task { try await router.rawResponse(for: URLEndPoint(.get, url), options: options(leader)) }
        _ = try await begun.first()
        let monitor = Events()
        let second = Task {
            var options = options(follower)
            options.monitors = [monitor]
            return try await router.rawResponse(for: URLEndPoint(.get, url), options: options)
        }
        try await monitor.wait(for: "cache: shared with ")
        gate.open()
        let (one, other) = try await (first.value, second.value)
        #expect(one.statusCode == status && other.statusCode == status)
        #expect(one.request?.timeouts.total == leader && other.request?.timeouts.total == follower)
    }

    @Test("canceling the last caller cancels the exchange, and no call joins it", .requirement("S2.23"))
    func lastLeaves() async throws {
        try await MockServer.run { server in
            server.enqueue(.stall, .text("new"))
            let router = Router<URLEndPoint>(
                session: DefaultSession.make(), interceptors: [Deduplicator()],
                options: RequestOptions { $0.timeouts = .none })
            let monitor = Events()
            let leader = Task { try await router.response(for: URLEndPoint(.get, server.url)) }
            let seen = try await server.takeRequest()
            let options = RequestOptions { $0.monitors = [monitor] }
            let follower = Task { try await router.response(for: URLEndPoint(.get, server.url, options: options)) }
            try await monitor.wait(for: "shared")
            leader.cancel()
            await #expect(throws: CancellationError.self) { try await leader.value }
            #expect(server.openConnections == 1)
            follower.cancel()
            await #expect(throws: CancellationError.self) { try await follower.value }
            #expect(try await router.response(for: URLEndPoint(.get, server.url)).text == "new")
            try await server.waitForDisconnect(of: seen.connection)
        }
    }

    @Test("monitors of a canceled leader receive nothing after the cancellation", .requirement("S2.23"))
    func events() async throws {
        let (router, begun, gate) = gated()
        let monitor = Events()
        let options = RequestOptions { $0.monitors = [monitor] }
        let leader = Task { try await router.response(for: URLEndPoint(.get, url, options: options)) }
        _ = try await begun.first()
        let follower = try await follow(router)
        leader.cancel()
        await #expect(throws: CancellationError.self) { try await leader.value }
        gate.open()
        #expect(try await follower.value.text == "answer")
        #expect(monitor.texts == ["started", "cancelled"])
    }

    @Test("a follower keeps its total timeout", .requirement("S2.23"))
    func total() async throws {
        let deduplicator = Deduplicator()
        let (router, begun, gate) = gated(deduplicator)
        let clock = TestClock()
        let timed = Router<URLEndPoint>(session: StubSession(), interceptors: [deduplicator], clock: clock)
        let leader = Task { try await router.response(for: URLEndPoint(.get, url)) }
        _ = try await begun.first()
        let follower = try await follow(timed, RequestOptions { $0.timeouts.total = .seconds(2) })
        _ = try await clock.nextSleep()
        clock.advance(by: .seconds(2))
        let error = await #expect(throws: NetworkError.self) { try await follower.value }
        #expect(error?.code == .timedOut)
        gate.open()
        #expect(try await leader.value.text == "answer")
    }

    @Test(
        "a hundred concurrent calls send one request to the server", .requirement("S2.23"),
        arguments: SessionKind.allCases)
    func atTheServer(kind: SessionKind) async throws {
        try await MockServer.run { server in
            let gate = DispatchSemaphore(value: 0)
            server.stub(.any) { _ in
                gate.wait()
                return .text("answer")
            }
            let monitor = Events()
            let router = Router<URLEndPoint>(session: kind.make(), interceptors: [Deduplicator()])
            let options = RequestOptions { $0.monitors = [monitor] }
            let calls = (0..<100).map { _ in
                Task { try await router.request(URLEndPoint(.get, server.url, options: options), as: String.self) }
            }
            try await monitor.wait(for: "shared with", count: 99)
            gate.signal()
            for call in calls {
                let answer = try await call.value
                #expect(answer == "answer")
            }
            #expect(server.requests.count == 1)
        }
    }

    @Test("requests that differ or opt out are not shared", .requirement("S2.23"), arguments: different)
    func apart(change: Change) async throws {
        let (router, begun, gate) = gated()
        let leader = Task { try await router.rawResponse(for: URLEndPoint(.get, url)) }
        _ = try await begun.first()
        let endPoint = URLEndPoint(
            change.method, change.url ?? url, headers: change.headers, options: RequestOptions(change.set))
        let other = Task { try await router.rawResponse(for: endPoint) }
        _ = try await begun.wait(for: 2)
        gate.open()
        _ = try await (leader.value, other.value)
    }

    @Test("tracing fields, name order and default options do not prevent sharing", .requirement("S2.23"))
    func same() async throws {
        let (router, begun, gate) = gated()
        func call(_ headers: HTTPHeaders, _ options: RequestOptions) -> URLEndPoint {
            URLEndPoint(.get, url, headers: headers, options: options)
        }
        let leader = Task {
            try await router.rawResponse(
                for: call(["Accept": "a", "X-Tag": "1", "traceparent": "x"], RequestOptions()))
        }
        _ = try await begun.first()
        let monitor = Events()
        let options = RequestOptions {
            $0.monitors = [monitor]
            $0.timeouts = .standard
            $0.timeouts.total = .seconds(77)
        }
        let other = Task {
            try await router.rawResponse(for: call(["x-tag": "1", "accept": "a", "X-Request-ID": "5"], options))
        }
        try await monitor.wait(for: "shared with")
        gate.open()
        _ = try await (leader.value, other.value)
        #expect(begun.all.count == 1)
    }

    @Test("requests with one id share, unless credentials or partition differ", .requirement("S2.23"))
    func byID() async throws {
        let (router, begun, gate) = gated()
        func endPoint(_ path: String, _ token: String = "a", _ monitor: Events? = nil, partition: String? = nil)
            -> URLEndPoint
        {
            URLEndPoint(
                .post, url.appendingPathComponent(path), headers: ["Authorization": token],
                options: RequestOptions {
                    $0.deduplication = .id("profile")
                    $0.partition = partition
                    $0.monitors = monitor.map { [$0] } ?? []
                })
        }
        let leader = Task { try await router.rawResponse(for: endPoint("1")) }
        _ = try await begun.first()
        let monitor = Events()
        let follower = Task { try await router.rawResponse(for: endPoint("2", "a", monitor)) }
        try await monitor.wait(for: "shared with")
        let others = [
            Task { try await router.rawResponse(for: endPoint("1", "b")) },
            Task { try await router.rawResponse(for: endPoint("1", partition: "qa")) },
        ]
        _ = try await begun.wait(for: 3)
        gate.open()
        for call in [leader, follower] + others { #expect(try await call.value.text == "answer") }
        #expect(begun.all.count == 3)
    }

    @Test("an id and a partition are compared separately", .requirement("S2.23"))
    func idAndPartition() throws {
        func key(_ id: String, _ partition: String?) -> DeduplicationKey? {
            var request = NetworkRequest(.get, url)
            request.options.deduplication = .id(id)
            request.options.partition = partition
            return DeduplicationKey(request, ignoring: [])
        }
        #expect(key("a", "b of c") != key("a of b", "c"))
        #expect(key("a", nil) != key("a", ""))
        #expect(key("a", "b") == key("a", "b"))
    }

    @Test("requests with one id and different keys in the query are not shared")
    func keysInQuery() async throws {
        func key(_ value: String) async throws -> DeduplicationKey? {
            var request = NetworkRequest(.get, url)
            request.options.deduplication = .id("a")
            try await APIKeyAuth(value, in: .query("tmdb")).adapt(&request)
            return DeduplicationKey(request, ignoring: [])
        }
        #expect(try await key("anna") != key("ben"))
        #expect(try await key("anna") == key("anna"))
    }

    @Test("a reset waits for a shared request that ends late")
    func reset() async throws {
        let (begun, order, gate) = (Deliveries<NetworkRequest>(), Deliveries<String>(), Gate())
        let late = AdHocInterceptor { request, next in
            begun.add(request)
            // This task ignores the cancellation.
            try await Task { try await gate.wait() }.value
            defer { order.add("request") }
            return try await next(request)
        }
        let chain: [any Interceptor] = [Deduplicator(), late, ResetRecorder(order: order)]
        let router = Router<URLEndPoint>(session: StubSession { _ in .text("answer") }, interceptors: chain)
        let call = Task { try await router.response(for: URLEndPoint(.get, url)) }
        _ = try await begun.first()
        let reset = Task { await router.reset() }
        await #expect(throws: CancellationError.self) { try await call.value }
        gate.open()
        await reset.value
        #expect(order.all == ["request", "reset"])
    }

    @Test("a reset from inside a shared request ends")
    func nestedReset() async throws {
        let router = Deliveries<Router<URLEndPoint>>()
        let resetting = AdHocInterceptor { request, next in
            await (try await router.first()).reset()
            return try await next(request)
        }
        let chain: [any Interceptor] = [Deduplicator(), resetting]
        let made = Router<URLEndPoint>(session: StubSession { _ in .text("answer") }, interceptors: chain)
        router.add(made)
        await #expect(throws: CancellationError.self) { try await made.response(for: URLEndPoint(.get, url)) }
    }

    @Test("a reset from inside a shared request ends during another reset")
    func nestedResetDuringReset() async throws {
        let (router, begun, gate) = (Deliveries<Router<URLEndPoint>>(), Deliveries<NetworkRequest>(), Gate())
        let resetting = AdHocInterceptor { request, next in
            begun.add(request)
            try await Task { try await gate.wait() }.value
            await (try await router.first()).reset()
            return try await next(request)
        }
        let chain: [any Interceptor] = [Deduplicator(), resetting]
        let made = Router<URLEndPoint>(session: StubSession { _ in .text("answer") }, interceptors: chain)
        router.add(made)
        let call = Task { try await made.response(for: URLEndPoint(.get, url)) }
        _ = try await begun.first()
        let reset = Task { await made.reset() }
        await #expect(throws: CancellationError.self) { try await call.value }
        gate.open()
        await reset.value
    }

    struct Change: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var method = HTTPMethod.get
        var url: URL?
        var headers: HTTPHeaders = [:]
        var set: @Sendable (inout RequestOptions) -> Void = { _ in }
    }

    static let different: [Change] = [
        Change(testDescription: "method", method: .head), Change(testDescription: "POST", method: .post),
        Change(testDescription: "URL", url: URL(text: "https://api.example.com/user?a=1")),
        Change(testDescription: "credentials", headers: ["Authorization": "Bearer a"]),
        Change(testDescription: "range", headers: ["Range": "bytes=0-9"]),
        Change(testDescription: "type", headers: ["Accept": "text/csv"]),
        Change(testDescription: "cookie", headers: ["Cookie": "a=b"]),
        Change(testDescription: "stream", set: { $0.streamsResponse = true }),
        Change(testDescription: "partition", set: { $0.partition = "qa" }),
        Change(testDescription: "limit", set: { $0.limits.responseBody = 17 }),
        Change(testDescription: "timeout", set: { $0.timeouts.idle = .seconds(5) }),
        Change(testDescription: "option of an app", set: { $0[Color.self] = "blue" }),
        Change(testDescription: "never", set: { $0.deduplication = .never }),
        Change(testDescription: "id", set: { $0.deduplication = .id("a") }),
    ]
}

/// Refuses each request that has passed a gate.
private struct Paywall: Interceptor {
    let begun: Deliveries<NetworkRequest>
    let gate: Gate

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        begun.add(request)
        try await gate.wait()
        throw NoAccess.plan
    }
}

private enum NoAccess: Error { case plan }

/// Records its reset.
private struct ResetRecorder: Interceptor, Resettable {
    let order: Deliveries<String>

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse { try await next(request) }
    func reset() async { order.add("reset") }
}

private enum Color: RequestOption { static let defaultValue = "red" }
