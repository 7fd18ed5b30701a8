import SwitchboardTestSupport
import SwitchboardCache

/// A response that a cache may have stored, with the dates that RFC 9111 computes with.
struct ModelEntry: Sendable {
    let status: Int
    let fields: ModelFields
    let version: Int
    /// The last exchange that changed it: its own, or a later 304 or HEAD.
    let exchange: ModelExchange
    /// The request for which it was stored.
    let request: ModelRequest
    /// Whether a cache that evicts nothing has stored it.
    var isCertain = false
    /// The moment from which it must not be used: the end of a call that replaced or invalidated it.
    var invalidatedAt: Int?

    var serial: Int { exchange.serial }
    /// The time of the last answer. A cache adds a missing `Date`, in whole seconds (RFC 9110 §6.6.1).
    var dateValue: Double { exchange.fields.time("date") ?? exchange.arrived.rounded(.down) }
    var isSuccess: Bool { (200..<300).contains(status) }

    // MARK: Storing (RFC 9111 §3)

    /// Whether a private cache may store the response.
    var isStorable: Bool {
        guard request.lifetime != .none, !request.control.has("no-store"), !fields.has("no-store") else { return false }
        guard !fields.members("vary").contains("*"), ![206, 304].contains(status) else { return false }
        let isStated = fields["expires"] != nil || ["max-age", "public", "private"].contains(where: fields.has)
        return isStated || Self.heuristic.contains(status) || isSuccess && request.lifetime != .server
    }

    /// Returns whether a response that is stored at a time can answer later requests without own options.
    func isUseful(at now: Double) -> Bool {
        let hasValidator = fields["etag"] != nil || fields["last-modified"] != nil
        return hasValidator || isSuccess
            || freshness(for: request, at: now) > 0
    }

    /// Whether a cache may store it to answer when it is stale (RFC 5861).
    var mayBeUseful: Bool {
        ["stale-while-revalidate", "stale-if-error"].contains { fields.seconds($0) != nil }
            || request.staleIfError != nil || request.staleWhileRevalidate != nil
    }

    private static let heuristic: Set<Int> = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]

    // MARK: Selecting (RFC 9111 §4.1)

    func matches(_ other: ModelRequest) -> Bool {
        let names = fields.members("vary").map { $0.lowercased() }
        func value(_ name: String, _ request: ModelRequest) -> String? {
            request.fields.first { $0.key.lowercased() == name }?.value
        }
        return !names.contains("*") && names.allSatisfy { value($0, request) == value($0, other) }
    }

    // MARK: Freshness (RFC 9111 §4.2)

    /// Returns the current age (RFC 9111 §4.2.3).
    func age(at now: Double) -> Double {
        let (arrived, sent) = (exchange.arrived, exchange.sent)
        let own = exchange.fields  // Only the last answer states its age.
        let apparent = own.time("date").map { max(0, arrived - $0) } ?? 0
        let ageValue = own["age"].flatMap(Double.init) ?? 0
        return max(apparent, ageValue + arrived - sent) + now - arrived
    }

    /// Returns the remaining seconds of freshness for a request: 0 and less for a stale response.
    func freshness(for other: ModelRequest, at now: Double) -> Double {
        switch isSuccess || other.lifetime == .none ? other.lifetime : .server {
        case .none: -.infinity
        case .unlimited: .infinity
        case .time(let seconds): seconds - (now - exchange.arrived)
        case .server: lifetime(for: other) - age(at: now)
        }
    }

    private func lifetime(for other: ModelRequest) -> Double {
        if fields.has("no-cache") { return 0 }
        if let seconds = fields.seconds("max-age") { return seconds }
        if fields["expires"] != nil { return (fields.time("expires") ?? dateValue) - dateValue }
        guard other.usesHeuristics, Self.heuristic.contains(status) || fields.has("public") else { return 0 }
        return fields.time("last-modified").map { min(86_400, max(0, dateValue - $0) / 10) } ?? 0
    }

    // MARK: Validation (RFC 9111 §4.3)

    /// Returns whether a 304 confirms this response.
    func isConfirmed(by answer: ModelFields) -> Bool {
        func bare(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
        if let tag = answer["etag"] { return fields["etag"].map { bare($0) == bare(tag) } ?? false }
        if let changed = answer["last-modified"] { return fields["last-modified"].map { $0 == changed } ?? true }
        return true
    }

    /// Returns whether a HEAD describes this response (RFC 9111 §4.3.5).
    func isDescribed(by answer: ModelFields, length: Int) -> Bool {
        ["etag", "last-modified"].allSatisfy { answer[$0] == nil || answer[$0] == fields[$0] }
            && answer["content-length"].map { $0 == fields["content-length"] ?? "\(length)" } ?? true
    }

    /// Returns whether both are the same response for the same fields of a request.
    func isSame(as other: ModelEntry) -> Bool {
        serial == other.serial && version == other.version && status == other.status
            && request.fields == other.request.fields && fields.lines == other.fields.lines
    }

    /// The body that the origin sends with this version.
    var body: String { "\(version) for \(request.fields["X-User"] ?? "")" }

    /// Returns the response after a 304 or a HEAD, stored for a request.
    func updated(by answer: ModelExchange, for other: ModelRequest) -> ModelEntry {
        ModelEntry(
            status: status, fields: fields.updated(by: answer.fields), version: version, exchange: answer,
            request: other)
    }
}

extension ModelEntry {
    /// Returns whether the stored response may answer a request at a time with this outcome. The request was sent before
    /// if `isFailed`, and the server failed.
    func allows(_ outcome: ResponseCache.Outcome, _ other: ModelRequest, at now: Double, isFailed: Bool) -> Bool {
        let control = other.control
        let left = freshness(for: other, at: now)
        if other.lifetime == .none || other.policy == .reload { return false }
        if outcome == .stale(.serverFailed) { return isFailed && mayReplaceFailure(other, max(0, -left)) }
        if isFailed { return false }
        switch other.policy {
        case .any, .only: return outcome == (left > 0 ? .hit : .stale(.requested))
        case .revalidate:
            return outcome == .hit && left > 0 && fields.has("immutable") && !control.has("no-cache")
                && left >= control.seconds("min-fresh") ?? 0
                && ([nil, 0].contains(control.seconds("max-age")) || age(at: now) <= control.seconds("max-age") ?? 0)
        case .normal, .reload: break
        }
        if control.has("no-cache") || age(at: now) > control.seconds("max-age") ?? .infinity { return false }
        let wanted = control.seconds("min-fresh")
        if left < wanted ?? -.infinity { return false }
        switch outcome {
        case .hit: return left > 0
        case .stale(.requested): return left <= 0 && !forbidsStale && -left <= control.seconds("max-stale") ?? -1
        case .stale(.whileRevalidating):
            return left <= 0 && wanted == nil && !other.isOffline && -left <= window(for: other) ?? -1
        default: return false
        }
    }

    /// Whether the origin forbids stale answers (RFC 9111 §4.2.4).
    private var forbidsStale: Bool { fields.has("must-revalidate") || fields.has("no-cache") }

    /// Returns whether `stale-if-error` allows the response instead of a failure (RFC 5861 §4).
    private func mayReplaceFailure(_ other: ModelRequest, _ staleness: Double) -> Bool {
        guard status < 500 else { return false }
        if let own = other.staleIfError { return staleness <= own }
        return !forbidsStale && staleness <= fields.seconds("stale-if-error") ?? -1
    }

    /// Returns the seconds of `stale-while-revalidate` (RFC 5861 §3).
    private func window(for other: ModelRequest) -> Double? {
        if isSuccess, let own = other.staleWhileRevalidate { return own }
        return forbidsStale ? nil : fields.seconds("stale-while-revalidate")
    }
}

extension ModelEntry: CustomStringConvertible {
    var description: String {
        "  entry \(serial), version \(version), for #\(request.number), \(isCertain ? "certain" : "possible")"
            + (invalidatedAt.map { ", invalidated at \($0)" } ?? "")
    }
}
