import Foundation

/// The parts of a number in a JSON text. The parser has validated it.
struct DecimalText {
    let bytes: UnsafeBufferPointer<UInt8>
    let isNegative: Bool
    /// The first digits without leading zeros, at most 19.
    let significand: UInt64
    /// The power of ten of `significand`.
    let exponent: Int
    /// Whether a nonzero digit follows the digits of `significand`.
    let isCut: Bool

    /// Reads a number. A huge exponent is capped, which changes no result.
    @inline(__always)
    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
        let count = bytes.count
        var index = 0
        isNegative = bytes[0] == UInt8(ascii: "-")
        if isNegative { index = 1 }
        var significand: UInt64 = 0
        let begin = index
        while index < count, bytes[index] &- UInt8(ascii: "0") < 10 {
            significand = significand &* 10 &+ UInt64(bytes[index] &- UInt8(ascii: "0"))
            index += 1
        }
        var digits = index - begin
        var exponent = 0
        if index < count, bytes[index] == UInt8(ascii: ".") {
            index += 1
            let begin = index
            while index + 8 <= count {
                let word = UnsafeRawPointer(bytes.baseAddress.unsafelyUnwrapped + index).loadUnaligned(as: UInt64.self)
                    .littleEndian
                guard DecimalText.isEightDigits(word) else { break }
                significand = significand &* 100_000_000 &+ DecimalText.eightDigits(word)
                index += 8
            }
            while index < count, bytes[index] &- UInt8(ascii: "0") < 10 {
                significand = significand &* 10 &+ UInt64(bytes[index] &- UInt8(ascii: "0"))
                index += 1
            }
            exponent = begin - index
            digits += index - begin
        }
        if digits > 19 {
            (self.significand, self.exponent, isCut) = DecimalText.cut(bytes)
            return
        }
        if index < count { exponent += DecimalText.exponent(bytes, index + 1) }
        self.significand = significand
        self.exponent = exponent
        isCut = false
    }

    /// Reads a number of more than 19 digits, some of which may be leading zeros.
    @inline(never)
    private static func cut(_ bytes: UnsafeBufferPointer<UInt8>) -> (UInt64, Int, Bool) {
        var significand: UInt64 = 0
        var digits = 0
        var exponent = 0
        var isFraction = false
        var isCut = false
        var index = bytes[0] == UInt8(ascii: "-") ? 1 : 0
        while index < bytes.count {
            let digit = bytes[index] &- UInt8(ascii: "0")
            if digit < 10 {
                if digits < 19 {
                    significand = significand * 10 + UInt64(digit)
                    if significand > 0 { digits += 1 }
                    if isFraction { exponent -= 1 }
                } else {
                    if digit > 0 { isCut = true }
                    if !isFraction { exponent += 1 }
                }
            } else if bytes[index] == UInt8(ascii: ".") {
                isFraction = true
            } else {
                exponent += self.exponent(bytes, index + 1)
                break
            }
            index += 1
        }
        return (significand, exponent, isCut)
    }

    static func exponent(_ bytes: UnsafeBufferPointer<UInt8>, _ begin: Int) -> Int {
        var index = begin
        let isNegative = bytes[index] == UInt8(ascii: "-")
        if isNegative || bytes[index] == UInt8(ascii: "+") { index += 1 }
        var value = 0
        while index < bytes.count {
            // The cap exceeds the length of any text, so digits cannot offset it. Adding that length cannot overflow.
            if value < Int.max / 16 { value = value * 10 + Int(bytes[index] &- UInt8(ascii: "0")) }
            index += 1
        }
        return isNegative ? -value : value
    }

    /// Returns whether the eight bytes of a little-endian word are ASCII digits.
    @inline(__always)
    private static func isEightDigits(_ word: UInt64) -> Bool {
        (word & 0xF0F0_F0F0_F0F0_F0F0) | (((word &+ 0x0606_0606_0606_0606) & 0xF0F0_F0F0_F0F0_F0F0) >> 4)
            == 0x3333_3333_3333_3333
    }

    /// Returns the value of eight ASCII digits. One word combines them to pairs, then to fours, then to one value.
    @inline(__always)
    private static func eightDigits(_ word: UInt64) -> UInt64 {
        let digits = word &- 0x3030_3030_3030_3030
        let pairs = (digits &* 10) &+ (digits >> 8)
        let low = (pairs & 0x0000_00FF_0000_00FF) &* 0x000F_4240_0000_0064
        let high = ((pairs >> 16) & 0x0000_00FF_0000_00FF) &* 0x0000_2710_0000_0001
        return (low &+ high) >> 32
    }
}

extension DecimalText {
    /// Returns the value of a number of any length that is an integer, such as `1.0` or `12e3`.
    ///
    /// Nil when the number has a fraction or does not fit in the type.
    static func integer<Value: FixedWidthInteger>(_ type: Value.Type, _ bytes: UnsafeBufferPointer<UInt8>) -> Value? {
        let isNegative = bytes[0] == UInt8(ascii: "-")
        let begin = isNegative ? 1 : 0
        let end = bytes.firstIndex { $0 | 0x20 == UInt8(ascii: "e") } ?? bytes.count
        let point = bytes[..<end].firstIndex(of: UInt8(ascii: ".")) ?? end
        // The number of digits before the decimal point in a notation without an exponent.
        let integers = point - begin + (end < bytes.count ? exponent(bytes, end + 1) : 0)
        var value: Value = 0
        var count = 0
        for index in begin..<end where index != point {
            let digit = bytes[index] &- UInt8(ascii: "0")
            if count < integers {
                guard let next = appending(digit, to: value, isNegative) else { return nil }
                value = next
            } else if digit != 0 {
                return nil
            }
            count += 1
        }
        // The exponent adds zeros. Overflow ends the loop after a few.
        while count < integers, value != 0 {
            guard let next = appending(0, to: value, isNegative) else { return nil }
            value = next
            count += 1
        }
        return value
    }

    private static func appending<Value: FixedWidthInteger>(
        _ digit: UInt8, to value: Value, _ isNegative: Bool
    ) -> Value? {
        let (product, isOver) = value.multipliedReportingOverflow(by: 10)
        let digit = Value(digit)
        let (sum, isOverToo) =
            isNegative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
        return isOver || isOverToo ? nil : sum
    }
}

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
        // Rounding twice equals rounding once unless the `Double` is halfway between two `Float` values. Between
        // subnormal values, the half has other bits.
        if value.isFinite, value.magnitude > .leastNormalMagnitude,
            double.significandBitPattern & 0x1FFF_FFFF != 0x1000_0000
        {
            return value
        }
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
