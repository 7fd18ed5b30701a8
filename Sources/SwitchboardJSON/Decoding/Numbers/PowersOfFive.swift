/// The first 128 bits of the powers of five with exponents from -342 to 308, computed on first use.
enum PowersOfFive {
    static let smallest = -342
    static let largest = 308

    /// Returns the bits of a power. The first bit is 1. Exponents from -27 to -1 are rounded up, others down.
    @inline(__always)
    static func bits(_ exponent: Int) -> (high: UInt64, low: UInt64) {
        let place = (exponent - smallest) * 2
        return (table[place], table[place + 1])
    }

    private static let table = makeTable()

    /// Computes each power from its neighbor in 256 bits. The error stays below a thousand units in the last place.
    private static func makeTable() -> [UInt64] {
        var table = [UInt64](repeating: 0, count: (largest - smallest + 1) * 2)
        // Four words, the most significant first.
        var power: [UInt64] = [1 << 63, 0, 0, 0]
        for exponent in 0...largest {
            table[(exponent - smallest) * 2] = power[0]
            table[(exponent - smallest) * 2 + 1] = power[1]
            multiply(&power)
        }
        power = [1 << 63, 0, 0, 0]
        for exponent in stride(from: -1, through: smallest, by: -1) {
            divide(&power)
            // None of these low words is `UInt64.max`, so adding 1 does not overflow.
            table[(exponent - smallest) * 2] = power[0]
            table[(exponent - smallest) * 2 + 1] = exponent < -27 ? power[1] : power[1] + 1
        }
        return table
    }

    /// Multiplies by 5 and shifts so that the first bit is 1 again: times 5/4 or 5/8.
    private static func multiply(_ power: inout [UInt64]) {
        var carry: UInt64 = 0
        for place in stride(from: 3, through: 0, by: -1) {
            let (high, low) = power[place].multipliedFullWidth(by: 5)
            let (sum, isOver) = low.addingReportingOverflow(carry)
            power[place] = sum
            carry = high + (isOver ? 1 : 0)
        }
        // The carry is 2 to 4, so it has two or three bits.
        let shift: UInt64 = carry >= 4 ? 3 : 2
        for place in stride(from: 3, through: 0, by: -1) {
            let above = place == 0 ? carry : power[place - 1]
            power[place] = power[place] >> shift | above << (64 - shift)
        }
    }

    /// Divides by 5 and shifts so that the first bit is 1 again: times 8/5 or 4/5.
    private static func divide(_ power: inout [UInt64]) {
        var remainder: UInt64 = 0
        var words: [UInt64] = []
        // One more word supplies the bits that the shift moves in.
        for word in power + [0] {
            let (quotient, rest) = UInt64(5).dividingFullWidth((remainder, word))
            words.append(quotient)
            remainder = rest
        }
        let shift = UInt64(words[0].leadingZeroBitCount)
        for place in 0..<4 { power[place] = words[place] << shift | words[place + 1] >> (64 - shift) }
    }
}
