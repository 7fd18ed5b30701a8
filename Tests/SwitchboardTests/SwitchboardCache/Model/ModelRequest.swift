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
    let place: String
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

    private var typed: CacheDirectives {
        func seconds(_ name: String) -> Duration? {
            control.seconds(name).map { $0 == .infinity ? .seconds(1 << 40) : .seconds($0) }
        }
        var typed = CacheDirectives()
        typed.maxAge = seconds("max-age")
        typed.maxStale = seconds("max-stale")
        typed.minFresh = seconds("min-fresh")
        typed.noCache = directives.contains("no-cache")
        typed.noStore = directives.contains("no-store")
        typed.onlyIfCached = directives.contains("only-if-cached")
        return typed
    }

    private var cacheLifetime: CacheLifetime {
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
