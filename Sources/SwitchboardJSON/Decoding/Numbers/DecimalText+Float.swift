import Foundation

extension DecimalText {
    /// The nearest `Double`, or nil when the number is too large or when a nonzero number rounds to zero.
    @inline(__always)
    var double: Double? {
        // Both operands are exact, so a single operation rounds correctly (Clinger).
        if significand <= 1 << 53, exponent >= -22, exponent <= 22, !isCut {
            var value = Double(significand)
            if exponent < 0 {
                value /= DecimalText.tens[-exponent]
            } else {
                value *= DecimalText.tens[exponent]
            }
            return isNegative ? -value : value
        }
        return roundedDouble
    }

    /// The nearest `Float`, rounded once, or nil when the number is too large or when a nonzero number rounds to zero.
    var float: Float? {
        if significand <= 1 << 24, exponent >= -10, exponent <= 10, !isCut {
            var value = Float(significand)
            if exponent < 0 {
                value /= Float(DecimalText.tens[-exponent])
            } else {
                value *= Float(DecimalText.tens[exponent])
            }
            return isNegative ? -value : value
        }
        if significand == 0 { return isNegative ? -0.0 : 0 }
        guard let double else { return nil }
        let value = Float(double)
        // Rounding twice equals rounding once unless the `Double` is halfway between two `Float` values.
        if value.isNormal, double.significandBitPattern & 0x1FFF_FFFF != 0x1000_0000 { return value }
        guard let parsed = Float(String(decoding: bytes, as: UTF8.self)), parsed.isFinite, parsed != 0 else {
            return nil
        }
        return parsed
    }

    /// The number as a `Decimal`, without a conversion to `Double`. Nil when its exponent does not fit.
    var decimal: Decimal? {
        if significand == 0 { return 0 }
        if !isCut, exponent >= -64, exponent <= 64 {
            return Decimal(sign: isNegative ? .minus : .plus, exponent: exponent, significand: Decimal(significand))
        }
        return Decimal(string: String(decoding: bytes, as: UTF8.self))
    }

    /// The powers of ten from 1 to 1e22, each of which is exact.
    private static let tens: [Double] = (0...22).reduce(into: []) { tens, _ in tens.append((tens.last ?? 0.1) * 10) }

    @inline(never)
    private var roundedDouble: Double? {
        if significand == 0 { return isNegative ? -0.0 : 0 }
        guard exponent >= -400, exponent <= 400, let bits = EiselLemire.bits(significand, exponent),
            !isCut || EiselLemire.bits(significand + 1, exponent) == bits
        else { return parsedDouble }
        let value = Double(bitPattern: bits)
        guard value.isFinite, value != 0 else { return nil }
        return isNegative ? -value : value
    }

    /// The result for numbers whose first 19 digits do not decide the rounding.
    private var parsedDouble: Double? {
        guard let value = Double(String(decoding: bytes, as: UTF8.self)), value.isFinite, value != 0 else { return nil }
        return value
    }
}
