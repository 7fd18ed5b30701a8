import Switchboard

/// A request that the cache sends, and the stored response that the answer may confirm or replace.
struct CacheLoad: Sendable {
    let key: CacheKey
    /// The stored response that matches the request and can answer it. Nil when there is none.
    var stored: StoredResponse?
    /// The stored response that matches the request, even if it is incomplete or cannot answer its `Range`.
    var found: StoredResponse?
    /// ``CacheHeld/removals`` before the stored response was found. Nil for a load that uses no stored response.
    let removals: Int?
    /// The request to send.
    var request: NetworkRequest
    let next: Next
    let reason: CacheOutcome.Reason
    /// Whether nobody reads the answer, because it is a revalidation in the background.
    var isInBackground = false
    /// The number of the load in the storage.
    var number = 0
    /// The cookies of responses that the answer replaces.
    var cookies: [String] = []

    /// Whether stored responses may answer, be confirmed or stand in for a failure.
    var usesStored: Bool { !request.options.cachePolicy.reloads && request.options.cacheLifetime != .none }
}
