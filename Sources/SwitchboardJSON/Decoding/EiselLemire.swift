/// Finds the `Double` nearest to a decimal number of at most 19 digits.
///
/// The method comes from D. Lemire, [Number Parsing at a Gigabyte per Second](https://arxiv.org/abs/2101.11408): the
/// product of the digits and the first 128 bits of a power of five decides the rounding, except in rare cases.
enum EiselLemire {
    /// Returns the bits of the nearest `Double`, or nil when the product does not decide. `digits` must not be zero.
    static func bits(_ digits: UInt64, _ exponent: Int) -> UInt64? {
        if exponent < PowersOfFive.smallest { return 0 }
        if exponent > PowersOfFive.largest { return Double.infinity.bitPattern }
        let shift = digits.leadingZeroBitCount
        let factor = digits << UInt64(shift)
        let (powerHigh, powerLow) = PowersOfFive.bits(exponent)
        var (high, low) = factor.multipliedFullWidth(by: powerHigh)
        // The result needs 55 bits: 53, one to round, and one because the product's first bit may be zero.
        if high & 0x1FF == 0x1FF {
            let second = factor.multipliedFullWidth(by: powerLow).high
            let (sum, isOver) = low.addingReportingOverflow(second)
            low = sum
            if isOver { high += 1 }
        }
        if low == .max, exponent < -27 || exponent > 55 { return nil }
        let first = high >> 63
        var mantissa = high >> (first + 9)
        // floor(log2(10) * exponent), and the bias of a `Double`'s exponent.
        var power = ((217_706 * exponent) >> 16) + 63 + Int(first) - shift + 1_023
        if power <= 0 {
            if power <= -63 { return 0 }
            mantissa >>= UInt64(1 - power)
            mantissa = (mantissa + mantissa & 1) >> 1
            return mantissa
        }
        // A number halfway between two `Double` values rounds to the even one.
        if low <= 1, exponent >= -4, exponent <= 23, mantissa & 3 == 1, mantissa << (first + 9) == high {
            mantissa &= ~1
        }
        mantissa = (mantissa + mantissa & 1) >> 1
        if mantissa == 1 << 53 {
            mantissa >>= 1
            power += 1
        }
        if power >= 0x7FF { return Double.infinity.bitPattern }
        return mantissa & ~(1 << 52) | UInt64(power) << 52
    }
}

/// The first 128 bits of the powers of five with exponents from -342 to 308, computed on first use.
enum PowersOfFive {
    static let smallest = -342
    static let largest = 308

    /// Returns the bits of a power. The first bit is 1. Exponents from -27 to -1 are rounded up, others down.
    @inline(__always)
    static func bits(_ exponent: Int) -> (high: UInt64, low: UInt64) {
        let index = (exponent - smallest) * 2
        return (table[index], table[index + 1])
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
        for index in stride(from: 3, through: 0, by: -1) {
            let (high, low) = power[index].multipliedFullWidth(by: 5)
            let (sum, isOver) = low.addingReportingOverflow(carry)
            power[index] = sum
            carry = high + (isOver ? 1 : 0)
        }
        // The carry is 2 to 4, so it has two or three bits.
        let shift: UInt64 = carry >= 4 ? 3 : 2
        for index in stride(from: 3, through: 0, by: -1) {
            let above = index == 0 ? carry : power[index - 1]
            power[index] = power[index] >> shift | above << (64 - shift)
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
        for index in 0..<4 { power[index] = words[index] << shift | words[index + 1] >> (64 - shift) }
    }
}
