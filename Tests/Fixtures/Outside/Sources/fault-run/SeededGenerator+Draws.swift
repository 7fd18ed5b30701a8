extension SeededGenerator {
    /// Creates a generator that depends only on the seed, the request and the attempt: runs with one seed draw the same
    /// numbers, whatever the order of their requests.
    init(seed: UInt64, request: Int, attempt: Int) {
        self.init(seed: seed)
        for part in [UInt64(request), UInt64(attempt)] {
            self = SeededGenerator(seed: next() ^ part &* 0xD6E8_FEB8_6659_FD93)
        }
    }

    /// Returns a number from 0 up to, but not including, 1.
    mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }

    mutating func isOneIn(_ count: UInt64) -> Bool { next() % count == 0 }
}
