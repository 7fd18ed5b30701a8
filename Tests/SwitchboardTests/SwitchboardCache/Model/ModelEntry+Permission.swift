import SwitchboardCache

extension ModelEntry {
    /// Returns whether the stored response may answer a request at a time with this outcome. The request was sent before
    /// if `isFailed`, and the server failed.
    func allows(_ outcome: CacheOutcome, _ asked: ModelRequest, at now: Double, isFailed: Bool) -> Bool {
        let control = asked.control
        let left = freshness(for: asked, at: now)
        if asked.lifetime == .none || asked.policy == .reload { return false }
        if outcome == .stale(.serverFailed) { return isFailed && left <= 0 && mayReplaceFailure(asked, -left) }
        if isFailed { return false }
        switch asked.policy {
        case .any, .only: return outcome == (left > 0 ? .hit : .stale(.requested))
        case .revalidate: return outcome == .hit && left > 0 && fields.has("immutable")
        case .normal, .reload: break
        }
        if control.has("no-cache") || age(at: now) > control.seconds("max-age") ?? .infinity { return false }
        let wanted = control.seconds("min-fresh")
        if left < wanted ?? -.infinity { return false }
        switch outcome {
        case .hit: return left > 0
        case .stale(.requested): return left <= 0 && !forbidsStale && -left <= control.seconds("max-stale") ?? -1
        case .stale(.whileRevalidating):
            return left <= 0 && wanted == nil && !asked.isOffline && -left <= window(for: asked) ?? -1
        default: return false
        }
    }

    /// RFC 9111 §4.2.4.
    private var forbidsStale: Bool { fields.has("must-revalidate") || fields.has("no-cache") }

    /// RFC 5861 §4.
    private func mayReplaceFailure(_ asked: ModelRequest, _ staleness: Double) -> Bool {
        guard status < 500 else { return false }
        if let own = asked.staleIfError { return staleness <= own }
        return !forbidsStale && staleness <= fields.seconds("stale-if-error") ?? -1
    }

    /// RFC 5861 §3.
    private func window(for asked: ModelRequest) -> Double? {
        if let own = asked.staleWhileRevalidate { return isSuccess ? own : nil }
        return forbidsStale ? nil : fields.seconds("stale-while-revalidate")
    }
}

extension ModelEntry: CustomStringConvertible {
    var description: String {
        "  entry \(serial), version \(version), for #\(request.number), \(isCertain ? "certain" : "possible")"
            + (gone.map { ", gone at \($0)" } ?? "")
    }
}
