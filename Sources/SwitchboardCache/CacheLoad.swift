import Switchboard

/// A request that the cache sends, and the stored response that the answer may confirm or replace.
struct CacheLoad: Sendable {
    let key: CacheKey
    /// The stored response that matches the request. Nil when there is none or when it must not be used.
    let stored: StoredResponse?
    let request: NetworkRequest
    let next: Next
    let reason: CacheOutcome.Reason
    /// The number of the load in the storage.
    var number = 0

    /// Whether stored responses may answer, be confirmed or stand in for a failure.
    var usesStored: Bool { !request.options.cachePolicy.reloads && request.options.cacheLifetime != .none }
}
