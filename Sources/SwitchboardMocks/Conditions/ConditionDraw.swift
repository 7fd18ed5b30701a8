/// What chance decides about one request: a function of the seed and the request's number alone, so that neither a change
/// of the conditions nor what happens to a request changes the fate of the next.
struct ConditionDraw {
    let seed: UInt64
    /// 1 for the first request.
    let number: Int
    /// From 0 up to 1.
    let loss: Double
    /// From -1 to 1.
    let jitter: Double

    init(seed: UInt64, number: Int) {
        self.seed = seed
        self.number = number
        // Two numbers for each request.
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
