import SwitchboardPlatform
import Foundation
import Switchboard

extension ResponseCache {
    enum Decision {
        case answer(StoredResponse, CacheOutcome)
        case load(CacheOutcome.Reason, text: String)
        case refuse
    }

    /// Decides whether a stored response answers a request now, or at a time.
    func decision(on stored: StoredResponse?, _ request: NetworkRequest, at time: Date? = nil) -> Decision {
        let control = CacheControl(request.headers)
        let (options, policy) = (request.options, request.options.cachePolicy)
        let isOffline = control.isOnlyIfCached || policy == .returnCacheDataDontLoad
        guard options.cacheLifetime != .none else { return isOffline ? .refuse : .load(.requested, text: "miss") }
        guard let stored else { return isOffline ? .refuse : .load(.notStored, text: "miss") }
        // The retry of a call wants another answer than the error that it retries.
        if let failed = stored.failedCall, failed == request.id, !isOffline {
            return .load(.requested, text: "to be refreshed")
        }
        let now = time ?? now()
        let staleness = stored.staleness(for: options, at: now)
        switch policy {
        case .returnCacheDataElseLoad, .returnCacheDataDontLoad:
            return .answer(stored, staleness == nil ? .hit : .stale(.requested))
        case _ where policy.reloads && isOffline: return .refuse
        case _ where policy.reloads: return .load(.requested, text: "to be refreshed")
        // RFC 8246: an immutable response needs no confirmation while it is fresh. Without TLS, anybody may have changed
        // it.
        case .reloadRevalidatingCacheData:
            let isSettled =
                stored.rules.control.isImmutable && staleness == nil && request.url?.scheme?.lowercased() == "https"
            if isOffline, !isSettled { return .refuse }
            return isSettled ? .answer(stored, .hit) : .load(.requested, text: "to be confirmed")
        default: break
        }
        if isWanted(stored, control, options, at: now) {
            if staleness == nil { return .answer(stored, .hit) }
            if let staleness, !stored.forbidsStale, staleness <= control.maxStale ?? -1 {
                return .answer(stored, .stale(.requested))
            }
            if let staleness, !isOffline, control.minFresh == nil, staleness <= stored.window(for: options) ?? -1 {
                return .answer(stored, .stale(.whileRevalidating))
            }
        }
        if isOffline { return .refuse }
        guard staleness == nil else {
            return .load(.expired, text: "too old, \(stored.age(at: now).components.seconds) s old")
        }
        return .load(.requested, text: "to be confirmed")
    }

    /// Returns whether a stored response meets the request's own directives ([RFC 9111
    /// §5.2.1](https://www.rfc-editor.org/rfc/rfc9111#section-5.2.1)).
    private func isWanted(
        _ stored: StoredResponse, _ control: CacheControl, _ options: RequestOptions, at now: Date
    ) -> Bool {
        if control.isNoCache { return false }
        if let limit = control.maxAge, limit == 0 || stored.age(at: now).seconds > limit { return false }
        guard let minFresh = control.minFresh else { return true }
        return stored.staleness(for: options, at: now.addingTimeInterval(minFresh)).map { $0 <= 0 } ?? true
    }
}

extension URLRequest.CachePolicy {
    /// Whether the policy ignores stored responses.
    var reloads: Bool {
        self == .reloadIgnoringLocalCacheData || self == .reloadIgnoringLocalAndRemoteCacheData
    }
}

extension CacheOutcome {
    /// Returns the outcome in words, for the monitors.
    func text(of stored: StoredResponse, at now: Date) -> String {
        let age = "\(stored.age(at: now).components.seconds) s old"
        return switch self {
        case .stale(.requested): "hit, \(age), stale as requested"
        case .stale(.whileRevalidating): "hit, \(age), stale while it is revalidated"
        default: "hit, \(age)"
        }
    }
}
