/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014). Its state is a counter,
/// so each number can be computed without those before it.
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

    /// Returns a number from 0 up to 1, in steps of 2^-53. The standard library's algorithm may change between its
    /// versions.
    mutating func nextFraction() -> Double {
        Double(next() >> 11) * 0x1p-53
    }
}
