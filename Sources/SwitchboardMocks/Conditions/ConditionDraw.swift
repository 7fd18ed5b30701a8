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

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014). Its state is a counter, so that
/// any number of it can be had without those before.
struct SplitMix64 {
    private static let step: UInt64 = 0x9E37_79B9_7F4A_7C15
    private var state: UInt64

    init(seed: UInt64, skipping count: UInt64 = 0) {
        state = seed &+ Self.step &* count
    }

    mutating func next() -> UInt64 {
        state &+= Self.step
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// From 0 up to 1, in steps of 2^-53. By hand: how the standard library makes one may change between its versions.
    mutating func nextFraction() -> Double {
        Double(next() >> 11) * 0x1p-53
    }
}
