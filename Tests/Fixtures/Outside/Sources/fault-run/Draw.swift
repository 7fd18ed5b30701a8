/// Numbers that depend on the seed and on what they are drawn for alone: a run with the same seed draws the same, in whatever
/// order its requests come. SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
struct Draw {
    private var state: UInt64

    init(seed: UInt64, request: Int, attempt: Int) {
        state = seed
        for part in [UInt64(request), UInt64(attempt)] { state = next() ^ part &* 0xD6E8_FEB8_6659_FD93 }
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// From 0 up to 1.
    mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }

    mutating func isOneIn(_ count: UInt64) -> Bool { next() % count == 0 }
}
