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
