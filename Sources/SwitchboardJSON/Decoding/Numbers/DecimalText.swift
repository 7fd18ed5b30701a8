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
        var place = 0
        isNegative = bytes[0] == UInt8(ascii: "-")
        if isNegative { place = 1 }
        var significand: UInt64 = 0
        let begin = place
        while place < count, bytes[place] &- UInt8(ascii: "0") < 10 {
            significand = significand &* 10 &+ UInt64(bytes[place] &- UInt8(ascii: "0"))
            place += 1
        }
        var digits = place - begin
        var exponent = 0
        if place < count, bytes[place] == UInt8(ascii: ".") {
            place += 1
            let begin = place
            while place + 8 <= count {
                let word = UnsafeRawPointer(bytes.baseAddress.unsafelyUnwrapped + place).loadUnaligned(as: UInt64.self)
                    .littleEndian
                guard DecimalText.isEightDigits(word) else { break }
                significand = significand &* 100_000_000 &+ DecimalText.eightDigits(word)
                place += 8
            }
            while place < count, bytes[place] &- UInt8(ascii: "0") < 10 {
                significand = significand &* 10 &+ UInt64(bytes[place] &- UInt8(ascii: "0"))
                place += 1
            }
            exponent = begin - place
            digits += place - begin
        }
        if digits > 19 {
            (self.significand, self.exponent, isCut) = DecimalText.cut(bytes)
            return
        }
        if place < count { exponent += DecimalText.exponent(bytes, place + 1) }
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
        var place = bytes[0] == UInt8(ascii: "-") ? 1 : 0
        while place < bytes.count {
            let digit = bytes[place] &- UInt8(ascii: "0")
            if digit < 10 {
                if digits < 19 {
                    significand = significand * 10 + UInt64(digit)
                    if significand > 0 { digits += 1 }
                    if isFraction { exponent -= 1 }
                } else {
                    if digit > 0 { isCut = true }
                    if !isFraction { exponent += 1 }
                }
            } else if bytes[place] == UInt8(ascii: ".") {
                isFraction = true
            } else {
                exponent += self.exponent(bytes, place + 1)
                break
            }
            place += 1
        }
        return (significand, exponent, isCut)
    }

    static func exponent(_ bytes: UnsafeBufferPointer<UInt8>, _ begin: Int) -> Int {
        var place = begin
        let isNegative = bytes[place] == UInt8(ascii: "-")
        if isNegative || bytes[place] == UInt8(ascii: "+") { place += 1 }
        var value = 0
        while place < bytes.count {
            // The cap exceeds the length of any text, so digits cannot offset it. Adding that length cannot overflow.
            if value < Int.max / 16 { value = value * 10 + Int(bytes[place] &- UInt8(ascii: "0")) }
            place += 1
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
