import Foundation
import Switchboard
import SwitchboardPlatform

extension ResponseCache: ExplainedInterceptor {
    package func explanation(of received: NetworkRequest, sentAs sent: NetworkRequest) async -> String {
        let request = received.withCacheDirectives
        guard let key = CacheKey(request, identity: identity) else {
            return request.isCacheOnlyRead ? "fails: not cached" : "sends: the cache does not handle the request"
        }
        let found = await storage.peek(key, request)
        let isUsable = found?.response.canAnswer(request) ?? true
        let now = now()
        switch decision(on: isUsable ? found?.response : nil, request, at: now) {
        case .refuse: return "fails: not cached"
        case .answer(let stored, let outcome):
            if let error = stored.sizeError(for: request, stored.slice(for: request)) {
                return "fails: \(error.reason ?? "the stored body is too large")"
            }
            let location = found?.isInMemory ?? false ? "memory" : "disk"
            let left = -stored.secondsSinceExpiry(for: request.options, at: now)
            let state =
                switch outcome {
                case .stale(.whileRevalidating): "stale for \(Self.text(-left)), and revalidates"
                case .stale: "stale for \(Self.text(-left)), as requested"
                default: left < .infinity ? "fresh for \(Self.text(left))" : "fresh without limit"
                }
            return "answers from \(location), \(Self.text(stored.age(at: now))) old, \(state)"
        case .load(let reason, _):
            let refusal =
                StoredResponse.refusal(of: request)
                ?? (key.isNamed ? nil : changeRefusal(of: received, key, sentAs: sent))
            return await explanation(of: request, key, found?.response, reason, at: now)
                + (refusal.map { ", and the response is not stored: \($0.text)" } ?? "")
        }
    }

    private func explanation(
        of request: NetworkRequest, _ key: CacheKey, _ found: StoredResponse?, _ reason: Outcome.Reason, at now: Date
    ) async -> String {
        let usesStored = request.options.usesStoredResponse
        let stored = found.flatMap { $0.canAnswer(request) ? $0 : nil }
        // A 304 about another variant answers no range.
        let tags = request.headers.contains("Range") ? [] : await storage.entityTags(of: key)
        let isOfKey = stored?.url.map { $0.asCacheKey == key.url } ?? true
        let hasValidator = !CacheVariant.sendable(tags, after: nil).isEmpty || !(stored?.validators.isEmpty ?? true)
        let isPart = reason == .notStored && found?.part != nil
        let isValidated = !isPart && usesStored && request.method == .get && isOfKey && hasValidator
        let over = stored?.staleness(for: request.options, at: now)
        let why =
            switch reason {
            case .notStored where isPart: "only a part is stored"
            case .notStored where found != nil: "the stored response cannot answer the range"
            case .notStored: await storage.contains(key) ? "only other variants are stored" : "not stored"
            case .expired: "it expired \(Self.text(over ?? 0)) ago"
            default: "the request asks for it"
            }
        let isTooLarge = stored?.sizeError(for: request, stored?.slice(for: request)) != nil
        let mayAnswerStale =
            usesStored && !isTooLarge && stored?.mayReplaceFailure(staleFor: over ?? 0, request) ?? false
        return (isValidated ? "validates, because \(why)" : "sends: \(why)")
            + (mayAnswerStale ? ", and answers stale if the server fails" : "")
    }

    /// Returns whole seconds. A clock that was set back makes the time infinite.
    private static func text(_ seconds: Double) -> String {
        Int64(exactly: seconds.rounded(.towardZero)).map { "\($0) s" } ?? "an unknown time"
    }
}
