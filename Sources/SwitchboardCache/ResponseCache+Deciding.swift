import SwitchboardPlatform
import Foundation
import Switchboard

extension ResponseCache {
    enum Decision {
        case answer(StoredResponse, Outcome)
        case load(Outcome.Reason, text: String)
        case refuse
    }

    /// Finds the stored response that matches a request, and decides whether it answers. Also returns the number of
    /// removals before that.
    ///
    /// If the request does not stream, a body in a file is read after the decision: of a `Range`, only its bytes. The
    /// decision is made again for the response with its body, because the file may be damaged. Inlined, because most
    /// hits do not suspend.
    @inline(__always)
    func decide(
        _ key: CacheKey, _ request: NetworkRequest, at now: Date
    ) async -> (found: StoredResponse?, stored: StoredResponse?, decision: Decision, removals: Int) {
        var (found, removals, isFinal) = storage.find(key, request)
        if !isFinal { found = await storage.findInMemoryOrOnDisk(key, request) }
        var stored = found.flatMap { $0.canAnswer(request) ? $0 : nil }
        let decision = decision(on: stored, request, at: now)
        guard let large = found, large.file != nil, request.readsIntoMemory else {
            return (found, stored, decision, removals)
        }
        // A revalidation in the background needs the complete response.
        if case .answer(_, let outcome) = decision, outcome != .stale(.whileRevalidating),
            let slice = large.withSlice(for: request)
        {
            return (found, stored, .answer(slice, outcome), removals)
        }
        found = storage.readable(large, by: request)
        // Removes a damaged file from the index.
        if found == nil { _ = await storage.findInMemoryOrOnDisk(key, request) }
        stored = found.flatMap { $0.canAnswer(request) ? $0 : nil }
        return (found, stored, self.decision(on: stored, request, at: now), removals)
    }

    func decision(on stored: StoredResponse?, _ request: NetworkRequest, at now: Date) -> Decision {
        let control = CacheControl(request.headers)
        let (options, policy) = (request.options, request.options.cachePolicy)
        let isOffline = control.isOnlyIfCached || policy == .returnCacheDataDontLoad
        guard options.cacheLifetime != .none else { return isOffline ? .refuse : .load(.requested, text: "miss") }
        guard let stored else { return isOffline ? .refuse : .load(.notStored, text: "miss") }
        if !isOffline, request.retries(stored) {
            return .load(.requested, text: "to be refreshed")
        }
        let staleness = stored.staleness(for: options, at: now)
        switch policy {
        case .returnCacheDataElseLoad, .returnCacheDataDontLoad:
            return .answer(stored, staleness == nil ? .hit : .stale(.requested))
        case _ where policy.reloads && isOffline: return .refuse
        case _ where policy.reloads: return .load(.requested, text: "to be refreshed")
        // RFC 8246: a fresh immutable response needs no revalidation. Without TLS, an intermediary may
        // have changed the response.
        case .reloadRevalidatingCacheData:
            let isImmutable =
                stored.rules.control.isImmutable && staleness == nil && request.url?.scheme?.lowercased() == "https"
                && meetsDirectives(stored, control, options, at: now)
            if isOffline, !isImmutable { return .refuse }
            return isImmutable ? .answer(stored, .hit) : .load(.requested, text: "to be validated")
        default: break
        }
        if meetsDirectives(stored, control, options, at: now) {
            if staleness == nil { return .answer(stored, .hit) }
            if let staleness, !stored.forbidsStale, staleness <= control.maxStale ?? -1 {
                return .answer(stored, .stale(.requested))
            }
            if let staleness, !isOffline, control.minFresh == nil,
                staleness <= stored.staleWhileRevalidate(for: options) ?? -1
            {
                return .answer(stored, .stale(.whileRevalidating))
            }
        }
        if isOffline { return .refuse }
        guard staleness == nil else {
            let age = stored.ageText(at: now)
            let isNeverFresh = stored.rules.control.isNoCache
            return .load(.expired, text: isNeverFresh ? "no-cache, \(age), to be validated" : "stale, \(age)")
        }
        return .load(.requested, text: "to be validated")
    }

    /// Returns whether a stored response meets the request's own directives ([RFC 9111
    /// §5.2.1](https://www.rfc-editor.org/rfc/rfc9111#section-5.2.1)).
    private func meetsDirectives(
        _ stored: StoredResponse, _ control: CacheControl, _ options: RequestOptions, at now: Date
    ) -> Bool {
        if control.isNoCache { return false }
        // `.reloadRevalidatingCacheData` itself sends `max-age=0`.
        let isReload = options.cachePolicy == .reloadRevalidatingCacheData && control.maxAge == 0
        if !isReload, let limit = control.maxAge, limit == 0 || stored.age(at: now) > limit { return false }
        guard let minFresh = control.minFresh else { return true }
        return stored.staleness(for: options, at: now.addingTimeInterval(minFresh)).map { $0 <= 0 } ?? true
    }
}

extension NetworkRequest {
    /// Whether only a stored response may answer: for a GET or a HEAD.
    var isCacheOnlyRead: Bool {
        guard method == .get || method == .head else { return false }
        return options.cachePolicy == .returnCacheDataDontLoad || CacheControl(headers).isOnlyIfCached
    }

    /// Whether the call has received the stored error or the stored 202 from the server, or the stored redirect. A
    /// retry, or a poll for the result, must not receive it again. A redirect that leads back to its URL may be outdated.
    func retries(_ stored: StoredResponse) -> Bool {
        guard let call else { return false }
        if NetworkResponse.isRedirect(stored.status) {
            return call.hasReceivedStoredRedirect(of: urlText?.asCacheKey ?? "")
        }
        return (stored.status >= 400 || stored.status == 202) && call.hasReceived(stored.status)
    }
}

extension RequestOptions {
    /// Whether a stored response may answer, be revalidated or replace a failure.
    var usesStoredResponse: Bool { cacheLifetime != .none && !cachePolicy.reloads }
}

extension URLRequest.CachePolicy {
    var reloads: Bool {
        self == .reloadIgnoringLocalCacheData || self == .reloadIgnoringLocalAndRemoteCacheData
    }
}

extension ResponseCache.Outcome {
    /// Returns the outcome in words, for the monitors.
    func text(of stored: StoredResponse, at now: Date) -> String {
        let age = stored.ageText(at: now)
        return switch self {
        case .stale(.requested): "hit, \(age), stale as requested"
        case .stale(.whileRevalidating): "hit, \(age), stale while it is revalidated"
        default: "hit, \(age)"
        }
    }
}
