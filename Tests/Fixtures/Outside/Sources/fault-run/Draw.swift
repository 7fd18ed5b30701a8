/// Numbers that depend only on the seed, the request and the attempt: runs with one seed draw the same numbers,
/// whatever the order of their requests. SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014).
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

    /// Returns a number from 0 up to, but not including, 1.
    mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }

    mutating func isOneIn(_ count: UInt64) -> Bool { next() % count == 0 }
}
