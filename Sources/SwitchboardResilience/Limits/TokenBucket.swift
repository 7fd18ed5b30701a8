/// A token bucket: tokens are added at an even rate, up to a capacity. Not thread-safe.
struct TokenBucket: Sendable {
    private(set) var tokens: Double
    private let capacity: Double
    private let count: Double
    private let period: Duration
    private var lastFill = Duration.zero

    /// Creates a bucket with tokens, which gets `count` more per period.
    init(_ tokens: Double, capacity: Double, adding count: Double, per period: Duration) {
        (self.tokens, self.capacity, self.count, self.period) = (tokens, capacity, count, period)
    }

    /// Adds the tokens since the last fill. `time` counts from the creation of the bucket.
    mutating func fill(at time: Duration) {
        guard time > lastFill else { return }
        add(count * ((time - lastFill) / period))
        lastFill = time
    }

    mutating func add(_ more: Double) {
        tokens = min(capacity, tokens + more)
    }

    /// Takes a token. Returns false when none is left.
    mutating func take() -> Bool {
        guard tokens >= 1 - 1e-6 else { return false }  // sums of fractions have rounding errors
        tokens = max(0, tokens - 1)
        return true
    }

    /// The time until the next token. At least a nanosecond, so that rounding does not make it zero.
    var wait: Duration { max(.nanoseconds(1), period * ((1 - tokens) / count)) }
}
