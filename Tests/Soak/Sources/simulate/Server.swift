import Foundation
import Switchboard
import SwitchboardResilience

/// The servers of the simulation: one per environment, a foreign one, and one for logins.
final class Server: @unchecked Sendable {
    struct Token {
        let environment: Int, user: Int
        /// When the app considers it expired, and when the server does.
        let clientExpiry: Int, expiry: Int
        var isRevoked = false
        /// Whether the app received its successor.
        var isReplaced = false
    }

    /// What a server states about a response.
    struct Freshness {
        let control: String
        let maxAge: Int, whileRevalidating: Int, ifError: Int
        let hasTag: Bool
    }

    static let hosts = ["production.example.com", "staging.example.com", "foreign.example.net", "login.example.com"]
    static let leeway = 5_000
    static let (pageCount, eventCount) = (4, 12)
    static let items: [Freshness] = [
        Freshness(
            control: "max-age=10, stale-while-revalidate=20", maxAge: 10, whileRevalidating: 20, ifError: 0,
            hasTag: true),
        Freshness(control: "max-age=5, stale-if-error=30", maxAge: 5, whileRevalidating: 0, ifError: 30, hasTag: false),
        Freshness(control: "no-store", maxAge: -1, whileRevalidating: 0, ifError: 0, hasTag: false),
        Freshness(control: "max-age=3, must-revalidate", maxAge: 3, whileRevalidating: 0, ifError: 0, hasTag: true),
        Freshness(control: "no-cache", maxAge: -1, whileRevalidating: 0, ifError: 0, hasTag: true),
    ]

    unowned let world: World
    var tokens: [Token] = []
    var refreshing: Set<Int> = []
    var versions = [[Int]](repeating: [Int](repeating: 1, count: 5), count: 2)
    /// When the app last received or confirmed a version, by ``key(_:_:_:_:)``.
    var confirmed: [Int: Int] = [:]
    var keys: [String: Int] = [:]
    /// The epoch of each user.
    var userEpochs: [Int] = []
    var outageEnd = 0
    var restarts = 0
    private var bucket: (level: Double, time: Int) = (0, 0)
    private var openSince: [String: Int] = [:]

    init(_ world: World) {
        self.world = world
        bucket.level = Double(world.plan.setup.rate ?? 0)
    }

    func key(_ user: Int, _ item: Int, _ version: Int) -> Int { (user * 8 + item) * 1_000_000 + version }

    /// Issues a token and returns its number. A negative user is a new one.
    func issue(_ environment: Int, user: Int, lifetime: Int, requested: Int) -> Int {
        var user = user
        if user < 0 {
            user = userEpochs.count
            userEpochs.append(world.epoch)
        }
        let now = world.clock.milliseconds
        tokens.append(
            Token(environment: environment, user: user, clientExpiry: requested + lifetime, expiry: now + lifetime))
        world.lastToken = tokens.count - 1
        return tokens.count - 1
    }

    static func access(_ number: Int) -> String { "access-\(number)" }
    static func refresh(_ number: Int) -> String { "refresh-\(number)" }

    // MARK: Checks of each request

    /// Checks a request when the app hands it to the session. Returns the index of the host.
    func check(_ request: NetworkRequest, _ id: Int) -> Int {
        let name = request.url?.host ?? ""
        let host = Self.hosts.firstIndex(of: name) ?? -1
        guard host != 3 else {
            checkRefresh(request)
            return host
        }
        world.checkRequest(of: id)
        if let token = token(in: request) {
            world.check(host < 2, "no credential at a foreign origin", "call \(id) sends a token to \(name)")
            world.check(
                tokens[token].environment == host, "no credential of another environment", "call \(id) to \(name)")
            world.check(
                userEpochs[tokens[token].user] >= world.epoch, "no old credential after a reset", "call \(id)")
        }
        for pair in request.headers["Cookie"]?.split(separator: ";") ?? [] {
            // sid=HOST.CALL.EPOCH
            let parts = pair.split(separator: "=").last?.split(separator: ".").compactMap { Int($0) } ?? []
            guard parts.count == 3 else { continue }
            world.check(
                parts[0] == host, "no credential at a foreign origin", "a cookie of host \(parts[0]), call \(id)")
            world.check(parts[2] >= world.epoch, "no old credential after a reset", "a cookie, call \(id)")
            if let origin = world.calls[parts[1]]?.environment, let own = world.calls[id]?.environment {
                world.check(origin == own, "no credential of another environment", "a cookie, call \(id)")
            }
        }
        checkRate(id)
        checkBreaker(name, id)
        checkKey(request, id)
        return host
    }

    private func checkRate(_ id: Int) {
        guard let rate = world.plan.setup.rate else { return }
        let now = world.clock.milliseconds
        bucket.level = min(Double(rate), bucket.level + Double(rate * (now - bucket.time)) / 1_000)
        bucket.time = now
        world.check(bucket.level >= 0.99, "the rate limit", "call \(id) at \(bucket.level) tokens")
        bucket.level -= 1
    }

    private func checkBreaker(_ host: String, _ id: Int) {
        guard let breaker else { return }
        guard case .open(let rest) = breaker.state(of: "\(host):443") else { return }
        let opened =
            world.clock.milliseconds + Int(rest.components.seconds) * 1_000
            + Int(rest.components.attoseconds / 1_000_000_000_000_000) - 5_000
        world.check(opened >= world.clock.milliseconds, "an open circuit sends nothing", "call \(id) to \(host)")
    }

    weak var breaker: CircuitBreaker?

    private func checkKey(_ request: NetworkRequest, _ id: Int) {
        guard let key = request.headers["Idempotency-Key"] else { return }
        let owner = keys[key] ?? id
        world.check(owner == id, "an idempotency key belongs to one call", "call \(id) uses that of call \(owner)")
        keys[key] = id
    }

    private func token(in request: NetworkRequest) -> Int? {
        request.headers["Authorization"]?.split(separator: "-").last.flatMap { Int($0) }
    }

    private func checkRefresh(_ request: NetworkRequest) {
        let number = refreshNumber(request)
        guard tokens.indices.contains(number) else { return world.violate("refreshes have a token", "\(number)") }
        let (token, now) = (tokens[number], world.clock.milliseconds)
        world.check(
            userEpochs[token.user] >= world.epoch, "no old credential after a reset", "a refresh of user \(token.user)")
        world.check(!refreshing.contains(token.user), "one refresh at a time", "user \(token.user)")
        world.check(!token.isReplaced, "one refresh per expiry", "token \(number) was refreshed before")
        let isNeeded = token.isRevoked || now >= min(token.clientExpiry, token.expiry) - Self.leeway
        world.check(isNeeded, "one refresh per expiry", "token \(number) is valid until \(token.expiry) ms")
    }

    private func refreshNumber(_ request: NetworkRequest) -> Int {
        let text = String(decoding: (request.body as? DataBody)?.data ?? Data(), as: UTF8.self)
        let field = text.split(separator: "&").first { $0.hasPrefix("refresh_token=") }
        return field?.split(separator: "-").last.flatMap { Int($0) } ?? -1
    }

    // MARK: Answers

    func answer(_ request: NetworkRequest, _ host: Int, _ id: Int, began: Int) -> Answer {
        if host == 3 { return issueToken(request, began) }
        let path = request.url?.path.split(separator: "/") ?? []
        if host == 2 { return Answer(200, [cookie(host, id)], "foreign") }
        guard let number = token(in: request), tokens.indices.contains(number), !tokens[number].isRevoked,
            world.clock.milliseconds < tokens[number].expiry
        else { return Answer(401) }
        let user = tokens[number].user
        let item = path.last.flatMap { Int($0) } ?? 0
        switch path.first {
        case "items": return self.item(request, host, id, user, min(max(item, 0), 4))
        case "moved": return Answer(307, [("Location", "/items/\(item)")])
        case "away": return Answer(302, [("Location", "https://\(Self.hosts[2])/x"), cookie(host, id)])
        case "pages":
            return Answer(
                200, [("Content-Type", "application/json"), ("Cache-Control", "no-store")],
                "[\(item),\(item < Self.pageCount ? item + 1 : 0)]")
        case "stream":
            return Answer(200, [("Cache-Control", "max-age=4")], chunks: (0..<6).map { "chunk \($0);" })
        case "events":
            var last = request.headers["Last-Event-ID"].flatMap { Int($0) } ?? 0
            if world.fault == .repeatedEvent, last > 0 { last -= 1 }
            guard last < Self.eventCount else { return Answer(204) }
            return Answer(
                200, [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store")],
                chunks: (last + 1...last + 3).map { "id: \($0)\ndata: \($0)\n\n" })
        default: return Answer(404)
        }
    }

    private func cookie(_ host: Int, _ id: Int) -> (String, String) {
        ("Set-Cookie", "sid=\(host).\(id).\(world.epoch); Path=/")
    }

    private func item(_ request: NetworkRequest, _ host: Int, _ id: Int, _ user: Int, _ item: Int) -> Answer {
        if request.method != .get {
            let isRepeat = request.headers["Idempotency-Key"].map { keys["applied " + $0] != nil } ?? false
            if let key = request.headers["Idempotency-Key"] { keys["applied " + key] = id }
            if !isRepeat {
                versions[host][item] += 1
                world.calls[id]?.applied += 1
            }
            world.note("applied", id, item, versions[host][item])
            if request.method == .post {
                world.check(
                    world.calls[id]?.applied ?? 0 <= 1, "an unsafe request is applied once", "call \(id)")
            }
            return Answer(200, [("Cache-Control", "no-store")], "\(item) \(host) \(versions[host][item]) \(user)")
        }
        let (rule, version) = (Self.items[item], versions[host][item])
        let tag = "\"\(user)-\(item)-\(version)\""
        var headers = [("Cache-Control", rule.control), cookie(host, id)]
        if rule.hasTag { headers.append(("ETag", tag)) }
        if world.plan.setup.sendsDate { headers.append(("Date", Self.date(world.clock.date))) }
        var answer = Answer(200, headers, "\(item) \(host) \(version) \(user)")
        if rule.hasTag, request.headers["If-None-Match"]?.contains(tag) == true { answer = Answer(304, headers) }
        answer.confirms = key(user, item, version)
        return answer
    }

    private func issueToken(_ request: NetworkRequest, _ began: Int) -> Answer {
        let number = refreshNumber(request)
        guard tokens.indices.contains(number) else { return Answer(400) }
        var random = world.random(number, 7)
        if random.number(0...19) == 0 {
            return Answer(400, [("Content-Type", "application/json")], #"{"error":"invalid_grant"}"#)
        }
        let lifetime = random.number(1...6) * 10
        let next = issue(
            tokens[number].environment, user: tokens[number].user, lifetime: lifetime * 1_000, requested: began)
        var answer = Answer(
            200, [("Content-Type", "application/json")],
            #"{"access_token":"\#(Self.access(next))","token_type":"Bearer","expires_in":\#(lifetime),"refresh_token":"\#(Self.refresh(next))"}"#
        )
        answer.replaces = number
        return answer
    }

    /// Records that the app received an answer.
    func deliver(_ answer: Answer) {
        if let key = answer.confirms { confirmed[key] = world.clock.milliseconds }
        if let number = answer.replaces { tokens[number].isReplaced = true }
    }

    func beginRefresh(_ request: NetworkRequest) -> Int? {
        let number = refreshNumber(request)
        guard tokens.indices.contains(number) else { return nil }
        refreshing.insert(tokens[number].user)
        return tokens[number].user
    }

    private static func date(_ date: Date) -> String {
        var seconds = time_t(date.timeIntervalSince1970)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        // 1,750,000,000 s is June 15, 2025, and no run lasts two weeks.
        return "\(days[Int(parts.tm_wday)]), \(two(parts.tm_mday)) Jun 2025 "
            + "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT"
    }
}

/// An answer of a server.
struct Answer {
    let status: Int
    var headers: [(String, String)]
    let body: String
    /// The parts of a slow body, or nil.
    let chunks: [String]?
    /// The version that the answer confirms, and the token that it replaces.
    var confirms: Int?
    var replaces: Int?

    init(_ status: Int, _ headers: [(String, String)] = [], _ body: String = "", chunks: [String]? = nil) {
        (self.status, self.headers, self.body, self.chunks) = (status, headers, body, chunks)
    }
}
