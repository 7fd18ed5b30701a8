import Foundation

extension OutputBytes {
    private static var pairs: StaticString {
        """
        0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849\
        5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899
        """
    }

    @inline(__always)
    mutating func append(_ value: Int64) {
        reserve(20)
        if value < 0 {
            base[count] = UInt8(ascii: "-")
            count &+= 1
        }
        appendDigits(value.magnitude)
    }

    @inline(__always)
    mutating func append(_ value: UInt64) {
        reserve(20)
        appendDigits(value)
    }

    /// Appends the digits of a number. The caller has reserved 20 bytes.
    @inline(__always)
    private mutating func appendDigits(_ value: UInt64) {
        if value < 10 {
            base[count] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value)
            count &+= 1
        } else {
            appendManyDigits(value, width: Self.digits(value))
        }
    }

    /// Appends the number with `width` digits, padded with leading zeros.
    @inline(never)
    private mutating func appendManyDigits(_ value: UInt64, width: Int) {
        let pairs = Self.pairs.utf8Start
        var value = value
        var position = width
        let start = end
        while position >= 2 {
            let (quotient, rest) = value.quotientAndRemainder(dividingBy: 100)
            let pair = pairs + Int(truncatingIfNeeded: rest) &* 2
            start[position &- 1] = pair[1]
            start[position &- 2] = pair[0]
            position &-= 2
            value = quotient
        }
        if position == 1 { start[0] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value % 10) }
        count &+= width
    }

    @inline(__always)
    private static func digits(_ value: UInt64) -> Int {
        var count = 1
        var limit: UInt64 = 10
        while value >= limit {
            count &+= 1
            if count == 20 { break }
            limit &*= 10
        }
        return count
    }

    /// Appends a part of a date with `width` digits, padded with leading zeros.
    mutating func append(_ value: Int, width: Int) {
        reserve(20)
        appendManyDigits(UInt64(value.magnitude), width: min(width, 20))
    }

    /// Appends the `description` of a finite number, without the suffix `.0`.
    mutating func append(_ value: Double) {
        if appendWhole(value) || appendShort(value) { return }
        appendDescription(value)
    }

    /// Appends the `description` of a finite number, without the suffix `.0`.
    mutating func append(_ value: Float) {
        appendDescription(value)
    }

    private mutating func appendDescription(_ value: some TextOutputStreamable) {
        value.write(to: &self)
        if count >= 2, base[count - 1] == UInt8(ascii: "0"), base[count - 2] == UInt8(ascii: ".") { count -= 2 }
    }

    /// Appends a whole number below 2^53, which `description` writes without an exponent. False for any other number.
    @inline(__always)
    private mutating func appendWhole(_ value: Double) -> Bool {
        guard value.magnitude < 9_007_199_254_740_992 else { return false }
        let whole = Int64(value)
        guard Double(whole) == value, whole != 0 || value.sign == .plus else { return false }
        append(whole)
        return true
    }

    /// Appends a number with at most six decimals, such as a price. False for any other number.
    ///
    /// `digits / 10^6` is rounded once, so a match means that this decimal reads back as the value. It has at most 15
    /// digits. Two decimals of 15 digits never read as the same `Double`, so no shorter or nearer decimal exists.
    @inline(__always)
    private mutating func appendShort(_ value: Double) -> Bool {
        let size = value.magnitude
        guard size >= 0.001, size < 1e9 else { return false }
        let scaled = (size * 1e6).rounded()
        guard scaled / 1e6 == size else { return false }
        var digits = UInt64(scaled)
        var decimals = 6
        while decimals > 1 {
            let (quotient, rest) = digits.quotientAndRemainder(dividingBy: 10)
            guard rest == 0 else { break }
            digits = quotient
            decimals -= 1
        }
        reserve(24)
        if value < 0 { append(UInt8(ascii: "-")) }
        var unit: UInt64 = 1
        for _ in 0..<decimals { unit &*= 10 }
        appendDigits(digits / unit)
        base[count] = UInt8(ascii: ".")
        count &+= 1
        appendManyDigits(digits % unit, width: decimals)
        return true
    }
}

extension OutputBytes: TextOutputStream {
    mutating func write(_ text: String) { append(plain: text) }

    /// The standard library writes numbers by this function, which saves a `String`.
    mutating func _writeASCII(_ text: UnsafeBufferPointer<UInt8>) { append(text) }
}
