import Switchboard

extension ResponseCache {
    /// The part that a ``ResponseCache`` had in a response.
    public enum Outcome: Sendable, Hashable {
        /// A stored response answered, and nothing was sent.
        case hit
        /// The server confirmed a stored response, for this reason.
        case validated(Reason)
        /// A stored response answered after its lifetime, with this permission.
        case stale(Permission)
        /// The server answered, because no stored response could, for this reason.
        case miss(Reason)

        /// The reason for which a request was sent.
        public enum Reason: Sendable, Hashable {
            /// Nothing is stored for the URL, the environment, and the identity or the header fields. If each call gets
            /// this reason, `NetworkResponse.notStoredReason` says why.
            case notStored
            /// The stored responses are for other values of the fields that `Vary` names. Without an `identity`, a
            /// request with other header fields is usually `notStored` instead, because the cache compares them.
            case otherVariant
            /// Only a part of the response is stored, and the request asked for more.
            case incomplete
            /// The lifetime of the stored response is over.
            case expired
            /// The request bypassed the stored response: by a directive, by its `cachePolicy` or
            /// ``ResponseCache/Lifetime/none``, as a retry of a stored error, or with a `Range` that the stored
            /// response cannot answer.
            case requested
        }

        /// The permission to answer with a stale response.
        public enum Permission: Sendable, Hashable {
            /// The request accepted it, by `max-stale` or its `cachePolicy`.
            case requested
            /// `stale-while-revalidate`: the response is revalidated in the background.
            case whileRevalidating
            /// `stale-if-error`: the server failed or was not reached.
            case serverFailed
        }
    }
}

extension NetworkResponse {
    /// The part that a ``ResponseCache`` had in this response. Nil for a response that passed no cache, and for a
    /// request that the cache does not handle, such as a POST.
    public var cacheOutcome: ResponseCache.Outcome? { request?.cacheOutcome }

    /// Returns the response with an outcome, which its request carries.
    func recording(_ outcome: ResponseCache.Outcome?, _ refusal: CacheRefusal? = nil) -> NetworkResponse {
        var response = self
        response.request?.setCacheOutcome(outcome, refusal)
        return response
    }
}

extension CallEvent {
    /// The part that a ``ResponseCache`` had in the answer to a request, in the one event that states it. Nil for all
    /// other events.
    ///
    /// A retried or redirected call has one such event per request that the cache handles. A revalidation in the
    /// background is a call with such an event.
    public var cacheOutcome: ResponseCache.Outcome? {
        guard case .cache = kind else { return nil }
        return request.cacheOutcome
    }
}

extension NetworkRequest {
    var cacheOutcome: ResponseCache.Outcome? { (cacheRecord as? CacheRecord)?.outcome }

    /// The reason why the response that has this request was not stored.
    var cacheRefusal: CacheRefusal? { (cacheRecord as? CacheRecord)?.refusal }

    mutating func setCacheOutcome(_ outcome: ResponseCache.Outcome?, _ refusal: CacheRefusal? = nil) {
        cacheRecord = outcome.map { $0 == .hit ? CacheRecord.hit : CacheRecord($0, refusal) }
    }
}

private final class CacheRecord: Sendable {
    static let hit = CacheRecord(.hit, nil)

    let outcome: ResponseCache.Outcome
    let refusal: CacheRefusal?

    init(_ outcome: ResponseCache.Outcome, _ refusal: CacheRefusal?) {
        (self.outcome, self.refusal) = (outcome, refusal)
    }
}

extension ResponseCache {
    /// The size of a ``ResponseCache``, and its counts since it was created.
    ///
    /// A request that the cache does not handle, such as a POST, does not count. A revalidation in the background does.
    public struct Usage: Sendable, Hashable {
        /// The number of stored responses. With a folder, those on disk; responses that are in memory only do not
        /// count.
        public internal(set) var count = 0
        /// The bytes that stored responses use in memory.
        public internal(set) var memory = 0
        /// The bytes that stored responses use on disk.
        public internal(set) var disk = 0
        /// The number of fresh stored responses that answered, ``ResponseCache/Outcome/hit``.
        public internal(set) var hits = 0
        /// The number of stored responses that answered because the server confirmed them,
        /// ``ResponseCache/Outcome/validated(_:)``.
        public internal(set) var validations = 0
        /// The number of stale stored responses that answered, ``ResponseCache/Outcome/stale(_:)``.
        public internal(set) var staleAnswers = 0
        /// The number of responses from the server, ``ResponseCache/Outcome/miss(_:)``.
        public internal(set) var misses = 0
        /// The bytes of bodies that stored responses had, and that were therefore not received again.
        public internal(set) var bytesSaved = 0
        /// The number of responses that were removed to make room for others. With a folder, those that were removed
        /// from disk.
        public internal(set) var evictions = 0

        mutating func count(_ outcome: ResponseCache.Outcome, _ bytes: Int) {
            switch outcome {
            case .hit: hits += 1
            case .validated: validations += 1
            case .stale: staleAnswers += 1
            case .miss: return misses += 1
            }
            bytesSaved += bytes
        }
    }
}
