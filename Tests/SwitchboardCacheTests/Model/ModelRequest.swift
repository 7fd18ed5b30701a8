import Foundation
import Switchboard
import SwitchboardCache

/// A drawn request, as values that the model reads.
struct ModelRequest: Sendable {
    enum Lifetime: Sendable, Hashable { case server, none, unlimited, time(Double) }
    enum Policy: Sendable { case normal, reload, revalidate, any, only }

    /// The number of the call, which the field `X-Request-ID` carries to the origin.
    let number: Int
    let method: String
    /// The normalized URL.
    let url: String
    /// The URL as it is sent.
    let spelling: String
    let partition: String?
    /// The fields that `Vary` may name, and the user.
    let fields: [String: String]
    let directives: [String]
    /// Whether the directives are options instead of a field.
    let isTyped: Bool
    let lifetime: Lifetime
    let policy: Policy
    let staleIfError: Double?
    let staleWhileRevalidate: Double?
    let usesHeuristics: Bool

    /// The directives as a message's fields.
    var control: ModelFields {
        let fields: HTTPHeaders = directives.isEmpty ? [:] : ["Cache-Control": directives.joined(separator: ", ")]
        return ModelFields(fields)
    }

    var isSafe: Bool { ["GET", "HEAD", "OPTIONS"].contains(method) }
    /// Whether a cache handles the request.
    var isCached: Bool { ["GET", "HEAD"].contains(method) }
    var isOffline: Bool { isCached && (directives.contains("only-if-cached") || policy == .only) }

    /// Returns the identity that may read the response: the user, or all fields.
    func identity(_ usesUser: Bool) -> String {
        let named = usesUser ? fields.filter { $0.key == "X-User" } : fields
        return named.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    }

    func endPoint(_ monitors: [any EventMonitor]) -> URLEndPoint {
        var headers: HTTPHeaders = ["X-Request-ID": "\(number)"]
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) { headers.add(name, value) }
        if !isTyped, !directives.isEmpty { headers.add("Cache-Control", directives.joined(separator: ", ")) }
        let options = RequestOptions {
            $0.monitors = monitors
            $0.partition = partition
            $0.cacheLifetime = cacheLifetime
            $0.cachePolicy = cachePolicy
            $0.staleIfError = staleIfError.map { .seconds($0) }
            $0.staleWhileRevalidate = staleWhileRevalidate.map { .seconds($0) }
            $0.usesHeuristicFreshness = usesHeuristics
            if isTyped { $0.cacheDirectives = typed }
        }
        let url = URL(string: spelling) ?? URL(fileURLWithPath: "/")
        let task: HTTPTask = isSafe ? .request : .requestBody(DataBody(Data("x".utf8)))
        return URLEndPoint(HTTPMethod(rawValue: method), url, task: task, headers: headers, options: options)
    }

    private var typed: ResponseCache.Directives {
        func seconds(_ name: String) -> Duration? {
            control.seconds(name).map { $0 == .infinity ? .seconds(1 << 40) : .seconds($0) }
        }
        var typed = ResponseCache.Directives()
        typed.maxAge = seconds("max-age")
        typed.maxStale = seconds("max-stale")
        typed.minFresh = seconds("min-fresh")
        typed.noCache = directives.contains("no-cache")
        typed.noStore = directives.contains("no-store")
        typed.onlyIfCached = directives.contains("only-if-cached")
        return typed
    }

    private var cacheLifetime: ResponseCache.Lifetime {
        switch lifetime {
        case .server: .server
        case .none: .none
        case .unlimited: .unlimited
        case .time(let seconds): .time(.seconds(seconds))
        }
    }

    private var cachePolicy: URLRequest.CachePolicy {
        switch policy {
        case .normal: .useProtocolCachePolicy
        case .reload: .reloadIgnoringLocalCacheData
        case .revalidate: .reloadRevalidatingCacheData
        case .any: .returnCacheDataElseLoad
        case .only: .returnCacheDataDontLoad
        }
    }
}

extension ModelRequest: CustomStringConvertible {
    var description: String {
        var parts = ["#\(number) \(method) \(spelling)"]
        if let partition { parts.append("partition \(partition)") }
        parts += fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        if !directives.isEmpty { parts.append("\(directives)\(isTyped ? " typed" : "")") }
        if lifetime != .server { parts.append("lifetime \(lifetime)") }
        if policy != .normal { parts.append("policy \(policy)") }
        if let staleIfError { parts.append("own stale-if-error \(staleIfError)") }
        if let staleWhileRevalidate { parts.append("own stale-while-revalidate \(staleWhileRevalidate)") }
        if !usesHeuristics { parts.append("no heuristic") }
        return parts.joined(separator: ", ")
    }
}

/// The record of one exchange at the origin.
struct ModelExchange: Sendable {
    /// The number of the exchange, which its field `X-Serial` carries.
    let serial: Int
    /// The number of the call that sent it.
    let call: Int
    let method: String
    /// Whether the request had `If-None-Match` or `If-Modified-Since`.
    let isConditional: Bool
    /// The status, or nil when nothing was answered.
    let status: Int?
    let fields: ModelFields
    /// The version of the content, whose number the body carries. For a 304, the confirmed one.
    let version: Int
    /// The times on the clock when the request was sent and when the answer arrived.
    let sent: Double
    let arrived: Double
    /// The moments, in the order of all events of the run.
    let begin: Int
    let end: Int

    /// Whether the server failed, so that `stale-if-error` applies (RFC 5861 §4).
    var isFailure: Bool { status.map { [500, 502, 503, 504].contains($0) } ?? true }
}

extension ModelExchange: CustomStringConvertible {
    var description: String {
        let all = fields.lines.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.joined(separator: " | "))" }
        let time = "\(sent - ModelOrigin.start)-\(arrived - ModelOrigin.start) s"
        return "  exchange \(serial) of #\(call) at \(time): \(method)\(isConditional ? " if changed" : "") -> "
            + "\(status.map { "\($0)" } ?? "no answer") version \(version) {\(all.joined(separator: "; "))}"
    }
}

/// The result of a call, as the app received it.
struct ModelAnswer: Sendable {
    let status: Int?
    let serial: Int?
    let body: String
    let age: String?
    let outcome: ResponseCache.Outcome?
    /// The code of the error. Nil for a response.
    let error: NetworkError.Code?

    init(_ response: NetworkResponse) {
        status = response.statusCode
        serial = response.headers["X-Serial"].flatMap { Int($0) }
        body = response.text
        age = response.headers["Age"]
        outcome = response.cacheOutcome
        error = nil
    }

    init(_ error: NetworkError) {
        (status, serial, body, age, outcome, self.error) = (nil, nil, "", nil, nil, error.code)
    }

    var isRevalidating: Bool { outcome == .stale(.whileRevalidating) }

    var isValidated: Bool {
        if case .validated = outcome { true } else { false }
    }

    var isMiss: Bool {
        if case .miss = outcome { true } else { false }
    }
}

extension ModelAnswer: CustomStringConvertible {
    var description: String {
        error.map { "error \($0)" }
            ?? "\(status ?? 0), serial \(serial ?? 0), body \(body), age \(age ?? "-"), "
            + "\(outcome.map { "\($0)" } ?? "no outcome")"
    }
}
