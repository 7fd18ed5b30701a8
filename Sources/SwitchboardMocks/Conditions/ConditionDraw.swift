/// The random values of one request. They depend only on the seed and the request's number, so neither a change of the
/// conditions nor an earlier request's fate affects later requests.
struct ConditionDraw {
    let seed: UInt64
    /// The request's number, from 1.
    let number: Int
    /// A value from 0 up to 1.
    let loss: Double
    /// A value from -1 to 1.
    let jitter: Double

    init(seed: UInt64, number: Int) {
        self.seed = seed
        self.number = number
        // Each request uses two random numbers.
        var generator = SplitMix64(seed: seed, skipping: 2 * UInt64(number - 1))
        loss = generator.nextFraction()
        jitter = 2 * generator.nextFraction() - 1
    }

    func isLost(under conditions: NetworkConditions) -> Bool {
        loss < conditions.loss
    }

    func latency(under conditions: NetworkConditions) -> Duration {
        conditions.jitter == .zero ? conditions.latency : max(.zero, conditions.latency + conditions.jitter * jitter)
    }
}
