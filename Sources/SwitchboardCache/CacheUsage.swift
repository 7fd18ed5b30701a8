/// The size of a ``ResponseCache``, and its counts since it was created.
///
/// A request that the cache does not handle, such as a POST, does not count. A revalidation in the background does.
public struct CacheUsage: Sendable, Hashable {
    /// The number of stored responses. With a folder, those on disk; responses that are in memory only do not count.
    public internal(set) var count = 0
    /// The bytes that stored responses use in memory.
    public internal(set) var memory = 0
    /// The bytes that stored responses use on disk.
    public internal(set) var disk = 0
    /// The number of fresh stored responses that answered, ``CacheOutcome/hit``.
    public internal(set) var hits = 0
    /// The number of stored responses that answered because the server confirmed them, ``CacheOutcome/validated(_:)``.
    public internal(set) var validations = 0
    /// The number of stale stored responses that answered, ``CacheOutcome/stale(_:)``.
    public internal(set) var staleAnswers = 0
    /// The number of responses from the server, ``CacheOutcome/miss(_:)``.
    public internal(set) var misses = 0
    /// The bytes of bodies that stored responses had, and that were therefore not received again.
    public internal(set) var bytesSaved = 0
    /// The number of responses that were removed to make room for others. With a folder, those that were removed from
    /// disk.
    public internal(set) var evictions = 0

    /// Counts an answer.
    mutating func count(_ outcome: CacheOutcome, _ bytes: Int) {
        switch outcome {
        case .hit: hits += 1
        case .validated: validations += 1
        case .stale: staleAnswers += 1
        case .miss: return misses += 1
        }
        bytesSaved += bytes
    }
}
