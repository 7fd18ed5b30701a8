import Foundation
import Switchboard
import SwitchboardAuth
import SwitchboardCache
import SwitchboardCookies
import SwitchboardResilience
import SwitchboardStreams

/// The simulated app: a manager with two environments, and all interceptors that the plan lists.
final class App: @unchecked Sendable {
    let world: World
    let server: Server
    let manager: NetworkManager
    let router: Router<PathEndPoint>
    let login: AuthenticationInterceptor<OAuth2Authenticator>
    let limiter: ConcurrencyLimiter?
    let deduplicator = Deduplicator()
    private let breaker: CircuitBreaker?
    /// The user in each environment. Nil when nobody is signed in.
    private let users: Users
    /// When the app knew that a version was written: by environment and item.
    private var written: [[(time: Int, version: Int)]]
    /// What must be released with the app.
    let parts: [WeakReference]

    static let environments: [NetworkEnvironment] = [.production, .staging]

    init(_ world: World, _ server: Server) {
        (self.world, self.server) = (world, server)
        let (setup, clock, fault) = (world.plan.setup, world.clock, world.fault)
        let session = SimulatedSession(world, server)
        let users = Users()
        self.users = users
        written = [[(Int, Int)]](repeating: [(Int, Int)](repeating: (-1, 0), count: 5), count: 2)
        var client = OAuth2Client(
            id: "app", tokenURL: Self.url("https://\(Server.hosts[3])/token"), session: session,
            now: { clock.date })
        client.timeouts.attempt = .seconds(15)
        let store = SimulatedStore(fault, clock)
        login = AuthenticationInterceptor(
            OAuth2Authenticator(client, store: store), leeway: .milliseconds(Server.leeway), clock: clock,
            now: { clock.date })
        let random = RandomSource(world.random(-1, 3))
        func budget() -> RetryBudget {
            RetryBudget(
                ratio: fault == .budget ? 5 : Budget.ratio, minimumPerSecond: Budget.minimum, clock: clock)
        }
        let retry = RetryPolicy(
            baseDelay: .milliseconds(100), maximumDelay: .seconds(5), jitter: { random.fraction() }, clock: clock,
            now: { clock.date }
        ).limited(by: budget())
        var identity: ResponseCache.Identity?
        if setup.cache == .first {
            identity = { request in
                // The number of the next user would hide the stored responses that a reset keeps.
                let user = users.identity(request.options.partition)
                return fault == .keptCache ? user.map { _ in "everyone" } : user
            }
        }
        let now: @Sendable () -> Date = {
            let slow = Double(clock.milliseconds) / (fault == .slowCache ? 10 : 1)
            return Date(timeIntervalSince1970: 1_750_000_000 + slow / 1_000)
        }
        let cache = setup.cache == .none ? nil : ResponseCache(identity: identity, now: now)
        limiter = setup.limit.map { ConcurrencyLimiter(fault == .limit ? 50 : $0) }
        breaker =
            setup.breaks
            ? CircuitBreaker(failures: 4, within: .seconds(10), openFor: .seconds(5), clock: clock) : nil
        server.breaker = breaker
        let jar = CookieJar(now: { clock.date })
        let cookies = CookieInterceptor(jar)

        var interceptors: [any Interceptor] = []
        if let cache, setup.cache == .first {
            interceptors.append(fault == .keptCache ? Kept(inner: cache) : HidingWrites(cache, fault))
        }
        let refusalReset = RefusalReset()
        if setup.resetsWhenRefused { interceptors.append(refusalReset) }
        interceptors.append(Disturbance(world, session, fault))
        interceptors += [Counter { world.retryable += 1 }, retry, login]
        if setup.deduplicates { interceptors.append(deduplicator) }
        if setup.hedges {
            interceptors.append(Counter { world.hedgeable += 1 })
            interceptors.append(HedgingPolicy(after: .milliseconds(150), budget: budget(), clock: clock))
        }
        if setup.cache != .last, let limiter { interceptors.append(limiter) }
        var exchanges: [any ExchangeInterceptor] = []
        if setup.hasCookies { exchanges.append(fault == .keptCookies ? Kept(inner: cookies) : cookies) }
        if let cache, setup.cache == .last {
            exchanges.append(fault == .keptCache ? Kept(inner: cache) : HidingWrites(cache, fault))
            if let limiter { exchanges.append(limiter) }
        }
        if let rate = setup.rate, fault != .rate { exchanges.append(RateLimiter(rate, clock: clock)) }
        if fault == .foreignToken { exchanges.append(ForeignToken()) }
        if let breaker { exchanges.append(fault == .breaker ? LeakyBreaker(breaker: breaker) : breaker) }

        let servers: EnvironmentURLs = [
            .production: "https://\(Server.hosts[0])/", .staging: "https://\(Server.hosts[1])/",
        ]
        let options = RequestOptions {
            $0.timeouts = Timeouts(idle: nil, attempt: .seconds(4))
        }
        manager = NetworkManager(
            environment: .production, servers: servers, session: session, interceptors: interceptors,
            exchangeInterceptors: exchanges, options: options, monitors: [Observer(world: world)], clock: clock)
        router = manager.router(for: PathEndPoint.self)
        let objects: [AnyObject?] = [manager, session, login, limiter, breaker, cache, deduplicator, jar, store]
        parts = objects.compactMap { $0 }.map { WeakReference($0) }
        refusalReset.app = self
    }

    private static func url(_ text: String) -> URL { URL(string: text) ?? URL(fileURLWithPath: "/") }

    private var environment: Int { manager.environment == .production ? 0 : 1 }

    // MARK: Actions

    func perform(_ action: Plan.Action) {
        world.note("action", action.id)
        switch action.kind {
        case .call(let operation): start(action.id, operation)
        case .cancelTask(let id):
            guard let task = world.calls[id]?.task else { return }
            if world.fault != .deaf { task.cancel() }
            world.cancel(id)
        case .cancelHandle(let id):
            guard let handle = world.calls[id]?.handle else { return }
            handle.cancel()
            world.cancel(id)
        case .cancelManager: cancel(ofRouter: false) { manager.cancel() }
        case .cancelRouter: cancel(ofRouter: true) { router.cancel() }
        case .reset: Task.detached { [self] in await reset() }
        case .switchEnvironment: manager.environment = Self.environments[1 - environment]
        case .signIn(let environment, let lifetime):
            guard world.resetStart == nil else { return }
            Task.detached { [self] in await signIn(environment, lifetime: lifetime) }
        case .signOut(let environment):
            guard world.resetStart == nil else { return }
            users.signOut(environment)
            Task.detached { [login] in try? await login.signOut(in: Self.environments[environment]) }
        case .limit(let limit):
            world.highestLimit = max(world.highestLimit, limit)
            if world.fault != .limit { limiter?.limit = limit }
        case .revoke(let environment):
            for index in server.tokens.indices where server.tokens[index].environment == environment {
                server.tokens[index].isRevoked = true
            }
        case .restart: server.restarts += 1
        case .outage(let time): server.outageEnd = world.clock.milliseconds + time
        case .change(let item): for environment in 0..<2 { server.versions[environment][item] += 1 }
        }
    }

    /// Resets the manager, and signs in again. A second reset waits for the first.
    func reset(isInCall: Bool = false) async {
        guard world.resetStart == nil else {
            let epoch = world.epoch
            await manager.reset()
            // A call that the first reset cancels does not wait for it.
            return world.check(
                isInCall || world.resetStart == nil || world.epoch > epoch, "a reset waits for the one before",
                "\(epoch)")
        }
        world.beginReset()
        users.reset(server.userEpochs.count)
        await manager.reset()
        world.endReset()
        for environment in 0..<2 { await signIn(environment, lifetime: 30_000) }
    }

    private func cancel(ofRouter isRouter: Bool, _ cancel: () -> Void) {
        // Pages and events are no call between two requests.
        let ids = world.calls.filter { id, call in
            call.ends == 0 && call.operation.usesRouter == isRouter && call.started > call.finished
                && ![.pages, .events, .handle].contains(call.operation.kind)
        }.keys.sorted()
        world.cancelTime = world.clock.milliseconds
        cancel()
        for id in ids { world.cancel(id) }
    }

    func signIn(_ environment: Int, lifetime: Int) async {
        let now = world.clock.milliseconds
        let number = server.issue(environment, user: -1, lifetime: lifetime, requested: now)
        let token = OAuthToken(
            accessToken: Server.access(number), refreshToken: Server.refresh(number),
            expiresAt: world.clock.date.addingTimeInterval(Double(lifetime) / 1_000))
        let other = world.fault == .environment ? 1 - environment : environment
        try? await login.signIn(token, in: Self.environments[other])
        users.signIn(environment, server.tokens[number].user)
    }

    // MARK: Calls

    private func start(_ id: Int, _ operation: Plan.Operation) {
        world.calls[id] = World.Call(operation: operation, epoch: world.epoch, start: world.clock.milliseconds)
        world.note("call", id, operation.kind.rawValue, operation.item)
        guard operation.kind != .handle else {
            // The completion of a router, on no specific queue.
            begin(id, operation, inEnvironment: true)
            let handle = router.response(for: endPoint(id, operation), options: options(id, operation)) {
                [self] result in
                let times = world.fault == .twice ? 2 : 1
                for _ in 0..<times { end(id, result.map { $0 }.mapError { $0 as any Error }) }
            }
            if world.calls[id]?.ends == 0 { world.calls[id]?.handle = handle }
            return
        }
        world.calls[id]?.task = Task.detached { [self] in
            do {
                end(id, .success(try await run(id, operation)))
            } catch {
                end(id, .failure(error))
            }
        }
    }

    /// Records the state of the app when a call begins, in its own task.
    private func begin(_ id: Int, _ operation: Plan.Operation, inEnvironment: Bool) {
        world.calls[id]?.epoch = world.epoch
        world.calls[id]?.start = world.clock.milliseconds
        world.calls[id]?.firstUser = users.first
        guard inEnvironment else { return }
        let last = written[environment][operation.item]
        world.calls[id]?.environment = environment
        // A write at the same time may be concurrent.
        world.calls[id]?.writtenVersion = last.time < world.clock.milliseconds ? last.version : 0
    }

    private func options(_ id: Int, _ operation: Plan.Operation) -> RequestOptions {
        var options = RequestOptions()
        options[CallNumber.self] = CallNumber.Value(id: id)
        if let total = operation.total {
            options.timeouts = Timeouts(idle: nil, attempt: .seconds(4), total: .milliseconds(total))
        }
        if operation.isRefreshing { options.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData }
        if operation.kind == .keyedPost { options.idempotencyKey = IdempotencyKey("key \(id)") }
        return options
    }

    private func endPoint(_ id: Int, _ operation: Plan.Operation) -> PathEndPoint {
        let item = operation.item
        let body = DataBody(Data("new".utf8), contentType: "text/plain")
        switch operation.kind {
        case .post, .keyedPost: return .post("items/\(item)", body)
        case .redirectedPost: return .post("moved/\(item)", body)
        case .put: return .put("items/\(item)", body)
        case .redirect: return .get("moved/\(item)")
        case .foreign: return .get("away/\(item)")
        case .stream: return .get("stream/\(item)")
        case .events: return .get("events")
        case .pages: return .get("pages/1")
        case .get, .handle: return .get("items/\(item)")
        }
    }

    /// Returns the response, or nil for an operation of several.
    private func run(_ id: Int, _ operation: Plan.Operation) async throws -> NetworkResponse? {
        let options = options(id, operation)
        begin(id, operation, inEnvironment: operation.kind != .pages && operation.kind != .events)
        switch operation.kind {
        case .pages:
            let pages = router.pages(
                as: [Int].self, from: 1, while: { ($0.last ?? 0) > 0 }, for: { .get("pages/\($0)") }, options: options)
            var next = 1
            for try await page in pages {
                world.check(page.value.first == next, "pages in order", "call \(id): \(page.value)")
                next += 1
                if next > operation.limit { break }
            }
            world.checkEnd(
                next - 1, of: min(operation.limit, Server.pageCount), "all pages, in order", "call \(id)")
            return nil
        case .events:
            var next = 1
            for try await event in router.events(for: .get("events"), options: options) {
                world.check(Int(event.data) == next, "each event once, in order", "call \(id): \(event.data)")
                next += 1
                if next > operation.limit { break }
            }
            world.checkEnd(
                next - 1, of: min(operation.limit, Server.eventCount), "each event once, in order", "call \(id)")
            return nil
        case .stream:
            let response =
                try await
                (operation.usesRouter
                ? router.streamedResponse(for: endPoint(id, operation), options: options)
                : manager.streamedResponse(for: endPoint(id, operation), options: options))
            var (text, count) = ("", 0)
            for try await chunk in response.bytes {
                text += String(decoding: chunk, as: UTF8.self)
                count += 1
                if count >= operation.limit { return nil }
            }
            let whole = (0..<6).map { "chunk \($0);" }.joined()
            world.check(text == whole, "a body arrives whole or fails", "call \(id): \(text)")
            return nil
        default:
            return operation.usesRouter
                ? try await router.response(for: endPoint(id, operation), options: options)
                : try await manager.response(for: endPoint(id, operation), options: options)
        }
    }

    private func end(_ id: Int, _ result: Result<NetworkResponse?, any Error>) {
        if case .success(let response?) = result { check(response, id) }
        let outcome: Int =
            switch result {
            case .success(let response): response?.statusCode ?? 1
            case .failure(let error):
                // The text of a code is the same in each run.
                (error as? NetworkError)?.code.rawValue.utf8.reduce(2) { ($0 &* 31 &+ Int($1)) & 0xFFFF } ?? 0
            }
        if case .failure(let error) = result {
            world.check(
                error is NetworkError || error is CancellationError, "each error is a NetworkError", "\(error)")
            if error is CancellationError {
                let call = world.calls[id]
                let wasCanceled = call?.cancelTime != nil || (call?.epoch ?? 0) < world.epoch || world.resetStart != nil
                world.check(
                    wasCanceled || world.isCanceling, "only a cancellation cancels", "call \(id)")
            }
        }
        world.end(id, outcome)
    }

    // MARK: Responses

    /// Checks a response against the rules of a cache and the user of the call.
    private func check(_ response: NetworkResponse, _ id: Int) {
        guard let call = world.calls[id], let environment = call.environment else { return }
        let kind = call.operation.kind
        guard kind != .foreign else { return }
        let fields = response.text.split(separator: " ").compactMap { Int($0) }
        guard fields.count == 4 else { return world.violate("a response is whole", "call \(id): \(response.text)") }
        let (item, host, version, user) = (fields[0], fields[1], fields[2], fields[3])
        world.check(item == call.operation.item, "the response of the request", "call \(id)")
        world.check(host == environment, "the environment of the call", "call \(id) of \(environment) from \(host)")
        world.check(user >= call.firstUser, "no old data after a reset", "call \(id) got that of user \(user)")
        let now = world.clock.milliseconds
        if kind == .post || kind == .keyedPost || kind == .put {
            let last = written[environment][item]
            written[environment][item] = (now, max(version, last.version))
            return
        }
        guard kind == .get || kind == .handle || kind == .redirect, let outcome = response.cacheOutcome else { return }
        let rule = Server.items[item]
        let age = now - (server.confirmed[server.key(user, item, version)] ?? 0)
        func allow(_ seconds: Int) {
            world.check(age <= seconds * 1_000, "a cached answer is fresh", "call \(id): \(outcome), \(age) ms old")
        }
        switch outcome {
        case .hit: allow(rule.maxAge)
        case .stale(.whileRevalidating): allow(rule.maxAge + rule.whileRevalidating)
        case .stale(.serverFailed): allow(rule.maxAge + rule.ifError)
        case .stale(.requested): world.violate("a cached answer is fresh", "call \(id) accepts no stale response")
        case .validated, .miss:
            let isOwn = world.plan.setup.deduplicates || now - age >= call.start
            world.check(isOwn, "a sent request has a new answer", "call \(id): \(outcome), \(age) ms old")
        }
        world.note("answer", id, version, age)
        // A deduplicated request may have begun before the write.
        guard outcome == .hit || outcome == .stale(.whileRevalidating) || !world.plan.setup.deduplicates else { return }
        world.check(
            version >= call.writtenVersion, "no stored response from before a write",
            "call \(id): \(outcome), version \(version), written \(call.writtenVersion)")
    }
}

/// Resets the app from inside of a call whose credentials are refused.
final class RefusalReset: Interceptor, @unchecked Sendable {
    weak var app: App?

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        do {
            let response = try await next(request)
            if response.statusCode == 401 { await app?.reset(isInCall: true) }
            return response
        } catch let error as NetworkError where error.code == .cannotAuthenticate {
            await app?.reset(isInCall: true)
            throw error
        }
    }
}

/// The users who are signed in.
final class Users: @unchecked Sendable {
    private var current: [Int?] = [nil, nil]
    /// The smallest number of a user since the last reset.
    private(set) var first = 0

    func signIn(_ environment: Int, _ user: Int) { current[environment] = user }
    func signOut(_ environment: Int) { current[environment] = nil }

    func reset(_ next: Int) {
        current = [nil, nil]
        first = next
    }

    func identity(_ partition: String?) -> String? {
        current[partition == NetworkEnvironment.staging.name ? 1 : 0].map { "user \($0)" }
    }
}

/// Random numbers for a closure of the library.
final class RandomSource: @unchecked Sendable {
    private var random: SeededGenerator

    init(_ random: SeededGenerator) { self.random = random }

    func fraction() -> Double { Double(random.number(0...10)) / 10 }
}

final class WeakReference {
    let name: String
    weak var object: AnyObject?

    init(_ object: AnyObject) {
        name = "\(type(of: object))"
        self.object = object
    }
}
