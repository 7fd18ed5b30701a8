import Switchboard

/// The part that a ``ResponseCache`` had in a response.
public enum CacheOutcome: Sendable, Hashable {
    /// A stored response answered, and nothing was sent.
    case hit
    /// The server confirmed a stored response, for this reason.
    case validated(Reason)
    /// A stored response answered after its lifetime, because this allowed it.
    case stale(Permission)
    /// The server answered, because no stored response could, for this reason.
    case miss(Reason)

    /// The reason for which a request was sent.
    public enum Reason: Sendable, Hashable {
        /// Nothing is stored for the URL, the environment, and the identity or the header fields. If each call gets
        /// this reason, `NetworkResponse.notStoredReason` says why.
        case notStored
        /// The stored responses are for other values of the fields that `Vary` names. Without an `identity`, a request
        /// with other header fields is usually `notStored` instead, because the cache compares them.
        case otherVariant
        /// Only a part of the response is stored, and the request asked for more.
        case incomplete
        /// The lifetime of the stored response is over.
        case expired
        /// The request asked for it, by a directive, its `cachePolicy` or `CacheLifetime.none`.
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

extension NetworkResponse {
    /// The part that a ``ResponseCache`` had in this response. Nil for a response that passed no cache, and for a
    /// request that the cache does not handle, such as a POST.
    public var cacheOutcome: CacheOutcome? { request?.cacheOutcome }

    /// Returns the response with an outcome. The request carries it, since the cache is not part of the core.
    func noting(_ outcome: CacheOutcome?, _ refusal: CacheRefusal? = nil) -> NetworkResponse {
        var response = self
        response.request?.note(outcome, refusal)
        return response
    }
}

extension CallEvent {
    /// The part that a ``ResponseCache`` had in the answer to a request, in the one event that states it. Nil for all
    /// other events.
    ///
    /// ```swift
    /// struct CacheCount: EventMonitor {
    ///     func record(_ event: CallEvent) {
    ///         guard let outcome = event.cacheOutcome else { return }
    ///         switch outcome {
    ///         case .hit, .stale, .validated: print("answered")
    ///         case .miss(let reason): print("sent: \(reason)")
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// A call whose request is sent again, or redirected behind the cache, has such an event for each request that the
    /// cache handles. A revalidation in the background is a call with such an event.
    public var cacheOutcome: CacheOutcome? {
        guard case .cache = kind else { return nil }
        return request.cacheOutcome
    }
}

extension NetworkRequest {
    /// The outcome of the response that has this request.
    var cacheOutcome: CacheOutcome? { (cacheNote as? CacheNote)?.outcome }

    /// The reason why the response that has this request was not stored.
    var cacheRefusal: CacheRefusal? { (cacheNote as? CacheNote)?.refusal }

    /// Notes the outcome of the response that has this request, and the reason why it was not stored.
    mutating func note(_ outcome: CacheOutcome?, _ refusal: CacheRefusal? = nil) {
        cacheNote = outcome.map { $0 == .hit ? CacheNote.hit : CacheNote($0, refusal) }
    }
}

private final class CacheNote: Sendable {
    /// The note of all hits, which have no refusal.
    static let hit = CacheNote(.hit, nil)

    let outcome: CacheOutcome
    let refusal: CacheRefusal?

    init(_ outcome: CacheOutcome, _ refusal: CacheRefusal?) {
        (self.outcome, self.refusal) = (outcome, refusal)
    }
}
