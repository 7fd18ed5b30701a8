import Foundation
import SwitchboardPlatform
import SwitchboardTesting
import SwitchboardTestSupport
import Testing
@testable import Switchboard
@testable import SwitchboardAuth

/// Refreshes that fail, hang, are canceled, or send requests through their own router.
@Suite(.timeLimit(.minutes(10)))
struct CredentialRefreshTests {
    private let url = URL(text: "https://api.example.com/a")

    private func router(
        _ session: any NetworkSession, _ interceptors: [any Interceptor], monitors: [any EventMonitor] = []
    ) -> Router<URLEndPoint> {
        Router(session: session, interceptors: interceptors, monitors: monitors)
    }

    private func failures(_ count: Int, _ router: Router<URLEndPoint>) async -> [NetworkError] {
        await withTaskGroup(of: NetworkError?.self) { group in
            for _ in 0..<count {
                group.addTask {
                    do {
                        _ = try await router.response(for: URLEndPoint(.get, url))
                        return nil
                    } catch { return error as? NetworkError }
                }
            }
            return await group.reduce(into: []) { if let error = $1 { $0.append(error) } }
        }
    }

    @Test("a failed refresh fails all waiting requests; the next tries again", .requirement("S2.21"))
    func failing() async throws {
        let server = KeyServer(2, refusing: 50)
        let isUp = Deliveries<Bool>()
        let keys = KeyAuthenticator { _, _ in
            guard isUp.all.isEmpty else { return Key(number: 2) }
            throw NetworkError(.timedOut, reason: "the login server is slow")
        }
        let session = server.session
        let router = router(session, [AuthenticationInterceptor(keys, clock: TestClock())])
        let errors = await failures(50, router)
        #expect(errors.count == 50)
        #expect(Set(errors.map(\.code)) == [.timedOut])
        #expect(Set(errors.map(\.reason)).count == 1)
        #expect(errors.allSatisfy { $0.url == url && ($0.underlying as? NetworkError)?.code == .timedOut })
        #expect(keys.refreshes.all == [1])
        #expect(session.requests.count == 50)
        isUp.open()
        _ = try await router.response(for: URLEndPoint(.get, url))
        #expect(keys.refreshes.all == [1, 1])
    }

    @Test("a 401 after a failed refresh shares that failure")
    func lateAfterFailure() async throws {
        let (slowArrived, release) = (Deliveries<Bool>(), Deliveries<Bool>())
        let session = AdHocSession { request in
            if request.url?.path == "/slow" {
                slowArrived.add(true)
                _ = try await release.first()
            }
            return NetworkResponse(statusCode: 401)
        }
        let keys = KeyAuthenticator { _, _ in throw NetworkError(.cannotConnect) }
        let router = router(session, [AuthenticationInterceptor(keys, clock: TestClock())])
        let slow = Task { try await router.response(for: URLEndPoint(.get, URL(text: "https://api.example.com/slow"))) }
        _ = try await slowArrived.first()
        let error = await failures(1, router).first
        release.add(true)
        let late = await #expect(throws: NetworkError.self) { try await slow.value }
        #expect(late?.code == .cannotConnect)
        #expect(late?.reason == error?.reason)
        #expect(keys.refreshes.all == [1])
    }

    @Test("a revoked credential is removed, also in the store, and not refreshed", .requirement("S2.21"))
    func lost() async throws {
        let keys = KeyAuthenticator { _, _ in throw NetworkError(.cannotAuthenticate, reason: "revoked") }
        let session = StubSession { _ in .status(401) }
        let router = router(session, [AuthenticationInterceptor(keys, clock: TestClock())])
        for _ in 0..<3 { #expect(await failures(1, router).map(\.code) == [.cannotAuthenticate]) }
        #expect(keys.refreshes.all == [1, nil, nil])
        #expect(session.requests.count == 1)
        #expect(keys.saved.all.first == KeyAuthenticator.Pair(partition: nil, number: nil))
    }

    @Test("a foreign error or cancellation of a refresh becomes a typed error")
    func foreign() async throws {
        struct Locked: Error {}
        for error: any Error in [Locked(), CancellationError()] {
            let keys = KeyAuthenticator { _, _ in throw error }
            let router = router(
                StubSession { _ in .status(401) }, [AuthenticationInterceptor(keys, clock: TestClock())])
            let thrown = await failures(1, router).first
            #expect(thrown?.code == .cannotAuthenticate)
            #expect(thrown?.underlying.map { type(of: $0) == type(of: error) } == true)
        }
    }

    @Test("a canceled waiter leaves at once; the refresh and the others continue", .requirement("S2.21"))
    func cancelOne() async throws {
        let gate = Deliveries<Bool>()
        let keys = KeyAuthenticator { _, _ in
            _ = try await gate.first()
            return Key(number: 2)
        }
        let interceptor = AuthenticationInterceptor(keys, clock: TestClock())
        try await interceptor.signIn(Key(number: 1), in: nil)
        let waiting = WaitingCounter()
        let router = router(KeyServer(2).session, [interceptor], monitors: [waiting])
        let calls = (0..<10).map { _ in Task { try await router.response(for: URLEndPoint(.get, url)) } }
        // After a sign-in nothing is loaded, so each call waits once.
        _ = try await waiting.values.wait(for: 10)
        calls[3].cancel()
        await #expect(throws: CancellationError.self) { try await calls[3].value }
        gate.open()
        for (index, call) in calls.enumerated() where index != 3 {
            #expect(try await call.value.statusCode == 200)
        }
        #expect(keys.refreshes.all == [1])
    }

    @Test("a refresh whose waiters are all canceled still ends and is saved", .requirement("S2.21"))
    func cancelAll() async throws {
        let (gate, isCancelled) = (Deliveries<Bool>(), Deliveries<Bool>())
        let keys = KeyAuthenticator { _, _ in
            await withTaskCancellationHandler {
                _ = try? await gate.first()
            } onCancel: {
                isCancelled.add(true)
            }
            return Key(number: 2)
        }
        let (session, waiting) = (KeyServer(2).session, WaitingCounter())
        let interceptor = AuthenticationInterceptor(keys, clock: TestClock())
        try await interceptor.signIn(Key(number: 1), in: nil)
        let router = router(session, [interceptor], monitors: [waiting])
        let calls = (0..<10).map { _ in Task { try await router.response(for: URLEndPoint(.get, url)) } }
        // After a sign-in nothing is loaded, so each call waits once.
        _ = try await waiting.values.wait(for: 10)
        router.cancel()
        for call in calls { await #expect(throws: CancellationError.self) { try await call.value } }
        #expect(isCancelled.all.isEmpty)
        gate.open()
        _ = try await keys.saved.wait(for: 2)  // the sign-in's and the refresh's
        _ = try await router.response(for: URLEndPoint(.get, url))
        #expect(session.authorizations.last == "Key 2")
        #expect(keys.refreshes.all == [1])
    }

    @Test(
        "a refresh through its own router never waits for itself or recurses", .requirement("S2.21"),
        arguments: [200, 401])
    func throughItself(status: Int) async throws {
        let holder = Deliveries<Router<URLEndPoint>>()
        let keys = KeyAuthenticator { old, _ in
            let router = try await holder.first()
            _ = try await router.response(for: URLEndPoint(.post, URL(text: "https://api.example.com/token")))
            return Key(number: (old?.number ?? 0) + 1)
        }
        let session = StubSession { request in
            if request.url?.path == "/token" { return .status(status) }
            return request.headers["Authorization"] == "Key 2" ? .text("ok") : .status(401)
        }
        let router = router(
            session, [AuthenticationInterceptor(keys, clock: TestClock()), RetryPolicy(clock: TestClock(skips: true))])
        holder.add(router)
        let errors = await failures(20, router)
        #expect(errors.count == (status == 200 ? 0 : 20))
        #expect(Set(errors.map(\.code)).isSubset(of: [.cannotAuthenticate]))
        let tokenRequests = session.requests.filter { $0.url?.path == "/token" }
        #expect(tokenRequests.allSatisfy { !$0.headers.contains("Authorization") })
        #expect(tokenRequests.count == keys.refreshes.all.count)
        if status == 200 { #expect(keys.refreshes.all == [1]) }
    }

    @Test("a task that a refresh started sends the credential after it")
    func startedByRefresh() async throws {
        let holder = Deliveries<Router<URLEndPoint>>()
        let (gate, codes) = (Gate(), Deliveries<Int>())
        let url = url
        let keys = KeyAuthenticator { _, _ in
            Task {
                try await gate.wait()
                codes.add(try await holder.first().rawResponse(for: URLEndPoint(.get, url)).statusCode)
            }
            return Key(number: 2)
        }
        let router = router(KeyServer(2).session, [AuthenticationInterceptor(keys)])
        holder.add(router)
        #expect(try await router.response(for: URLEndPoint(.get, url)).statusCode == 200)
        gate.open()
        #expect(try await codes.first() == 200)
    }

    @Test("a refresh by completion through its router never waits for itself")
    func throughItselfByCompletion() async throws {
        let holder = Deliveries<Router<URLEndPoint>>()
        let keys = KeyAuthenticator { _, _ in
            let router = try await holder.first()
            let answer = Deliveries<Bool>()
            router.request(URLEndPoint(.post, URL(text: "https://api.example.com/token"))) { _, _, _ in answer.add(true)
            }
            _ = try await answer.first()
            return Key(number: 2)
        }
        let session = StubSession { request in
            request.url?.path == "/token" || request.headers["Authorization"] == "Key 2" ? .text("ok") : .status(401)
        }
        let router = router(session, [AuthenticationInterceptor(keys, clock: TestClock())])
        holder.add(router)
        #expect(try await router.response(for: URLEndPoint(.get, url)).statusCode == 200)
    }

    @Test("a hung refresh fails its waiters by its timeout; the next tries again", .requirement("S2.21"))
    func hangs() async throws {
        let clock = TestClock()
        let never = Deliveries<Bool>()
        let keys = KeyAuthenticator { _, _ in
            // Ignores its cancellation.
            await Task { _ = try? await never.first() }.value
            return Key(number: 2)
        }
        let interceptor = AuthenticationInterceptor(keys, refreshTimeout: .seconds(20), clock: clock)
        try await interceptor.signIn(Key(number: 1), in: nil)
        let waiting = WaitingCounter()
        let router = router(StubSession { _ in .status(401) }, [interceptor], monitors: [waiting])
        async let errors = failures(5, router)
        _ = try await waiting.values.wait(for: 5)
        #expect(try await clock.nextSleep() == .seconds(20))
        clock.advance(by: .seconds(20))
        #expect(Set(await errors.map(\.code)) == [.timedOut])
        async let more = failures(1, router)
        _ = try await keys.refreshes.wait(for: 2)
        _ = try await clock.nextSleep()
        clock.advance(by: .seconds(20))
        #expect(await more.map(\.code) == [.timedOut])
        never.open()
    }

    @Test("an answer to a refresh that waited in a suspended process is used", .requirement("S2.21"))
    func suspended() async throws {
        let (clock, gate) = (TestClock(), Gate())
        let keys = KeyAuthenticator { _, _ in
            try await gate.wait()
            return Key(number: 2)
        }
        let interceptor = AuthenticationInterceptor(keys, refreshTimeout: .seconds(20), clock: clock)
        try await interceptor.signIn(Key(number: 1), in: nil)
        let session = StubSession { $0.headers["Authorization"] == "Key 2" ? .text("ok") : .status(401) }
        let router = router(session, [interceptor])
        let texts = Deliveries<String>()
        let call = Task { texts.add((try? await router.response(for: URLEndPoint(.get, url)).text) ?? "failed") }
        _ = try await keys.refreshes.first()
        _ = await comesTrue {
            let count = clock.sleeperCount
            if clock.sleeps.contains(.seconds(10)) || !texts.all.isEmpty { return true }
            // The timer of the loading may end after the refresh has begun.
            if count == 1 { clock.advance(by: .seconds(90)) }
            return false
        }
        gate.open()
        await call.value
        #expect(texts.all == ["ok"])
    }

    /// A store whose changes wait for a gate.
    private struct GatedStore: TokenStore {
        var token = OAuthToken(accessToken: "a1", refreshToken: "r1")
        let gate = Gate()
        let began = Deliveries<Bool>()
        let saved = Deliveries<OAuthToken>()

        func load(in partition: String?) -> OAuthToken? { token }
        func save(_ token: OAuthToken, in partition: String?) async throws {
            began.add(true)
            try await gate.wait()
            saved.add(token)
        }
        func remove(in partition: String?) async throws {
            began.add(true)
            try await gate.wait()
        }
        func removeAll() {}
    }

    @Test("a removal that hangs delays a request by the timeout at most", .requirement("S2.21"))
    func hangingRemoval() async throws {
        let (clock, store) = (TestClock(), GatedStore())
        let client = OAuth2Client(StubSession(.invalidGrant))
        let interceptor = AuthenticationInterceptor(
            OAuth2Authenticator(client, store: store), refreshTimeout: .seconds(20), clock: clock)
        let router = router(StubSession { _ in .status(401) }, [interceptor])
        let errors = Deliveries<NetworkError.Code>()
        let call = Task { errors.add(await failures(1, router)[0].code) }
        _ = try await store.began.first()
        let isAnswered = await comesTrue {
            clock.advance(by: .seconds(20))
            return !errors.all.isEmpty
        }
        #expect(isAnswered && errors.all == [.cannotAuthenticate])
        store.gate.open()
        await call.value
    }

    @Test("a sign-in while a lost token is removed serves waiting requests")
    func signInDuringRemoval() async throws {
        let store = GatedStore()
        let client = OAuth2Client(StubSession(.invalidGrant))
        let interceptor = AuthenticationInterceptor(OAuth2Authenticator(client, store: store), clock: TestClock())
        let api = StubSession { $0.headers["Authorization"] == "Bearer a2" ? .text("ok") : .status(401) }
        let router = router(api, [interceptor])
        let call = Task { try await router.response(for: URLEndPoint(.get, url)).text }
        _ = try await store.began.first()
        let token = OAuthToken(accessToken: "a2", refreshToken: "r2")
        let login = Task { try await interceptor.signIn(token, in: String?.none) }
        let isSignedIn = await comesTrue {
            (try? await interceptor.credential(in: String?.none))?.accessToken == "a2"
        }
        #expect(isSignedIn)
        store.gate.open()
        let text = try await call.value
        #expect(text == "ok")
        try await login.value
    }

    @Test("a store that does not answer delays a request by the timeout", .requirement("S2.21"))
    func hangingStore() async throws {
        let (clock, store) = (TestClock(), GatedStore())
        let client = OAuth2Client(StubSession(.token("a2", "r2")))
        let interceptor = AuthenticationInterceptor(
            OAuth2Authenticator(client, store: store), refreshTimeout: .seconds(20), clock: clock)
        let api = StubSession { $0.headers["Authorization"] == "Bearer a2" ? .text("ok") : .status(401) }
        let router = router(api, [interceptor])
        let texts = Deliveries<String>()
        let call = Task { texts.add(try await router.response(for: URLEndPoint(.get, url)).text) }
        _ = try await store.began.first()
        let isAnswered = await comesTrue {
            clock.advance(by: .seconds(20))
            return !texts.all.isEmpty
        }
        #expect(isAnswered && texts.all == ["ok"])
        try await call.value
        store.gate.open()
        #expect(try await store.saved.first().accessToken == "a2")
    }

    @Test("a credential removed or replaced during its save is not used", arguments: [nil, "a9"])
    func endedWhileSaving(replacement: String?) async throws {
        let store = GatedStore()
        let client = OAuth2Client(StubSession(.token("a2", "r2")))
        let interceptor = AuthenticationInterceptor(
            OAuth2Authenticator(client, store: store), clock: TestClock())
        let api = StubSession { $0.headers["Authorization"] == "Bearer a1" ? .status(401) : .text("ok") }
        let router = router(api, [interceptor])
        let call = Task { try await router.response(for: URLEndPoint(.get, url)).text }
        _ = try await store.began.first()
        let change = Task {
            guard let replacement else { return try await interceptor.signOut(in: nil) }
            try await interceptor.signIn(OAuthToken(accessToken: replacement), in: nil)
        }
        let isChanged = try await comesTrue { try await interceptor.credential(in: nil)?.accessToken == replacement }
        #expect(isChanged)
        store.gate.open()
        let result = await call.result
        if replacement == nil {
            let error = #expect(throws: NetworkError.self) { try result.get() }
            #expect(error?.code == .cannotAuthenticate)
        } else {
            #expect(try result.get() == "ok")
        }
        #expect(api.authorizations == ["Bearer a1"] + (replacement.map { ["Bearer \($0)"] } ?? []))
        try await change.value
    }

    @Test(
        "a request that waits during a sign-out does not use the next sign-in", .requirement("S2.21"),
        arguments: [false, true], [false, true])
    func signOutBeforeSignIn(isLost: Bool, isExpired: Bool) async throws {
        let token = OAuthToken(
            accessToken: "a1", refreshToken: "r1", expiresAt: isExpired ? Date.distantPast : Date.distantFuture)
        let store = GatedStore(token: token)
        let client = OAuth2Client(StubSession(isLost ? .invalidGrant : .token("a2", "r2")))
        let interceptor = AuthenticationInterceptor(OAuth2Authenticator(client, store: store), clock: TestClock())
        let api = StubSession { $0.headers["Authorization"] == "Bearer a1" ? .status(401) : .text("ok") }
        let router = router(api, [interceptor])
        let call = Task { try await router.response(for: URLEndPoint(.get, url)).text }
        _ = try await store.began.first()
        // The request waits until the store has the end of the refresh.
        var changes: [Task<Void, any Error>] = []
        for name in ["a3", nil, "b1"] as [String?] {
            let change = Task {
                guard let name else { return try await interceptor.signOut(in: nil) }
                try await interceptor.signIn(OAuthToken(accessToken: name), in: nil)
            }
            changes.append(change)
            let isChanged = try await comesTrue { try await interceptor.credential(in: nil)?.accessToken == name }
            #expect(isChanged)
        }
        store.gate.open()
        let result = await call.result
        let error = #expect(throws: NetworkError.self) { try result.get() }
        #expect(error?.code == .cannotAuthenticate)
        #expect(api.authorizations == (isExpired ? [] : ["Bearer a1"]))
        for change in changes { try await change.value }
    }

    @Test("a server that refuses new credentials gets five refreshes per 30 s")
    func excess() async throws {
        let date = TestDate()
        let keys = KeyAuthenticator()
        let session = StubSession { _ in .status(401) }
        let router = router(session, [AuthenticationInterceptor(keys, clock: TestClock(), now: { date.now })])
        for _ in 0..<20 { #expect(await failures(1, router).map(\.code) == [.unauthorized]) }
        #expect(keys.refreshes.all.count == 5)
        #expect(session.requests.count == 25)
        date.advance(by: 30)
        _ = await failures(1, router)
        #expect(keys.refreshes.all.count == 6)
    }

    @Test("a credential that ends too often fails with cannotAuthenticate")
    func excessAhead() async throws {
        let date = TestDate()
        let keys = KeyAuthenticator { old, _ in Key(number: (old?.number ?? 0) + 1, end: date.now + 2) }
        let session = StubSession { _ in .text("ok") }
        let interceptor = AuthenticationInterceptor(
            keys, leeway: .zero, refreshes: 2, within: .seconds(300), now: { date.now })
        try await interceptor.signIn(Key(number: 1, end: date.now + 2), in: nil)
        let router = router(session, [interceptor])
        var codes: [NetworkError.Code] = []
        for _ in 0..<4 {
            date.advance(by: 3)
            codes += await failures(1, router).map(\.code)
        }
        #expect(codes == [.cannotAuthenticate, .cannotAuthenticate])
        #expect(keys.refreshes.all.count == 2)
    }

    @Test("a failed early refresh is ignored until the credential ends")
    func aheadFails() async throws {
        let date = TestDate()
        let keys = KeyAuthenticator(stored: [nil: Key(number: 1, end: date.now + 100)]) { _, _ in
            throw NetworkError(.cannotConnect)
        }
        let session = StubSession { _ in .text("ok") }
        let router = router(session, [AuthenticationInterceptor(keys, leeway: .seconds(50), now: { date.now })])
        #expect(await failures(1, router).isEmpty)
        date.advance(by: 60)
        #expect(await failures(1, router).isEmpty)
        #expect(keys.refreshes.all == [1])
        date.advance(by: 60)
        #expect(await failures(1, router).map(\.code) == [.cannotConnect])
        #expect(session.authorizations == ["Key 1", "Key 1"])
    }

    @Test("a request whose early refresh failed is refreshed after its 401")
    func aheadFailsBefore401() async throws {
        let (date, count) = (TestDate(), Protected(0))
        let keys = KeyAuthenticator(stored: [nil: Key(number: 1, end: date.now + 20)]) { _, _ in
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            if isFirst { throw NetworkError(.cannotConnect) }
            return Key(number: 2)
        }
        let session = StubSession { $0.headers["Authorization"] == "Key 2" ? .text("ok") : .status(401) }
        let router = router(session, [AuthenticationInterceptor(keys, now: { date.now })])
        #expect(await failures(1, router).isEmpty)
        #expect(keys.refreshes.all == [1, 1])
        #expect(session.authorizations == ["Key 1", "Key 2"])
    }

    @Test("a saved credential within its leeway is used if its refresh fails")
    func savedAheadFails() async throws {
        let date = TestDate()
        let keys = KeyAuthenticator(stored: [nil: Key(number: 1, end: date.now + 20)]) { _, _ in
            throw NetworkError(.cannotConnect)
        }
        let session = StubSession { _ in .text("ok") }
        let router = router(session, [AuthenticationInterceptor(keys, now: { date.now })])
        #expect(await failures(1, router).isEmpty)
        #expect(session.authorizations == ["Key 1"])
    }

    @Test("a newer credential is used after a 401 if its early refresh fails")
    func newerAheadFails() async throws {
        let (date, arrived, release) = (TestDate(), Deliveries<Bool>(), Gate())
        let keys = KeyAuthenticator { _, _ in throw NetworkError(.cannotConnect) }
        let session = AdHocSession { request in
            if request.headers["Authorization"] == "Key 2" { return NetworkResponse(statusCode: 200) }
            arrived.add(true)
            try await release.wait()
            return NetworkResponse(statusCode: 401)
        }
        let login = AuthenticationInterceptor(keys, now: { date.now })
        let router = router(session, [login])
        let call = Task { try await router.response(for: URLEndPoint(.get, url)) }
        _ = try await arrived.first()
        try await login.signIn(Key(number: 2, end: date.now + 40), in: String?.none)
        date.advance(by: 20)
        release.open()
        #expect(try await call.value.statusCode == 200)
        #expect(keys.refreshes.all == [2])
    }

    @Test("a sign-in during a refresh wins: waiters use it, and only it is saved")
    func signInDuringRefresh() async throws {
        let gate = Deliveries<Bool>()
        let keys = KeyAuthenticator { _, _ in
            await Task { _ = try? await gate.first() }.value
            return Key(number: 2)
        }
        let session = KeyServer(9).session
        let interceptor = AuthenticationInterceptor(keys, clock: TestClock())
        let router = router(session, [interceptor])
        let call = Task { try await router.response(for: URLEndPoint(.get, url)) }
        _ = try await keys.refreshes.first()
        try await interceptor.signIn(Key(number: 9), in: nil)
        #expect(try await call.value.statusCode == 200)
        gate.open()
        #expect(try await interceptor.credential(in: nil) == Key(number: 9))
        #expect(keys.saved.all.map(\.number) == [9])
        #expect(session.authorizations == ["Key 1", "Key 9"])
    }

    @Test("a reset clears all partitions, ends a refresh and wipes the store", .requirement("S2.17", "S2.21"))
    func reset() async throws {
        let gate = Deliveries<Bool>()
        let keys = KeyAuthenticator(stored: [nil: Key(number: 1), "qa": Key(number: 5)]) { _, _ in
            await Task { _ = try? await gate.first() }.value
            return Key(number: 2)
        }
        let interceptor = AuthenticationInterceptor(keys, clock: TestClock())
        let router = router(KeyServer(2).session, [interceptor])
        let call = Task { try await router.response(for: URLEndPoint(.get, url)) }
        _ = try await keys.refreshes.first()
        await interceptor.reset()
        #expect(keys.resets.all.count == 1)
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.code == .cannotAuthenticate)
        gate.open()
        // Loaded again: the result of the ended refresh is ignored.
        _ = try? await router.response(for: URLEndPoint(.get, url))
        #expect(keys.refreshes.all == [1, 1])
        #expect(keys.resets.all.count == 1)
    }
}

@Suite(.timeLimit(.minutes(10)))
struct RequiredRefreshTests {
    private struct LoadingAuthenticator: Authenticator {
        let loadKey: @Sendable () async throws -> Key?

        func apply(_ credential: Key, to request: inout NetworkRequest) {
            request.headers["Authorization"] = "Key \(credential.number)"
        }

        func refresh(_ credential: Key?, in partition: String?) async throws -> Key {
            throw NetworkError(.cannotAuthenticate)
        }

        func load(in partition: String?) async throws -> Key? { try await loadKey() }
    }

    @Test("a refresh is sent over a router that requires a sign-in everywhere")
    func sameRouter() async throws {
        let session = StubSession { request in
            if request.url?.path == "/refresh" { return .text("2") }
            return request.headers["Authorization"] == "Key 2" ? .text("ok") : .status(401)
        }
        let router = Protected<Router<URLEndPoint>?>(nil)
        let authenticator = KeyAuthenticator { _, _ in
            let response = try await router.value?.response(
                for: URLEndPoint(.get, URL(text: "http://127.0.0.1/refresh")))
            return Key(number: Int(response?.text ?? "") ?? 0)
        }
        let made = Router<URLEndPoint>(
            session: session, interceptors: [AuthenticationInterceptor(authenticator)],
            options: RequestOptions { $0.authentication = .required })
        router.withLock { $0 = made }
        defer { router.withLock { $0 = nil } }
        let text = try await made.response(for: URLEndPoint(.get, URL(text: "http://127.0.0.1/a"))).text
        #expect(text == "ok")
    }

    @Test("a load sends requests over the same router without a credential")
    func loadOverSameRouter() async throws {
        let session = StubSession { _ in .text("1") }
        let router = Protected<Router<URLEndPoint>?>(nil)
        let authenticator = LoadingAuthenticator {
            let response = try await router.value?.response(
                for: URLEndPoint(.get, URL(text: "http://127.0.0.1/session")))
            return response.flatMap { Int($0.text) }.map { Key(number: $0) }
        }
        let made = Router<URLEndPoint>(
            session: session, interceptors: [AuthenticationInterceptor(authenticator, clock: TestClock())],
            options: RequestOptions { $0.authentication = .required })
        router.withLock { $0 = made }
        defer { router.withLock { $0 = nil } }
        _ = try await made.response(for: URLEndPoint(.get, URL(text: "http://127.0.0.1/a")))
        #expect(session.authorizations == [nil, "Key 1"])
    }
}
