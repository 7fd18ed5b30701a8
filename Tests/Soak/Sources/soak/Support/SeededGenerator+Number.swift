extension SeededGenerator {
    /// Creates the generator of one operation of a run.
    init(_ seed: UInt64, _ index: Int) {
        self.init(seed: seed &* 0xD134_2543_DE82_EF95 &+ UInt64(index) &* 0x9E37_79B9_7F4A_7C15)
    }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
}
