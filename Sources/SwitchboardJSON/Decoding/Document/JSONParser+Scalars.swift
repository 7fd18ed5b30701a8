extension JSONParser {
    /// Checks a string and moves past it. Returns the offset and length of its contents.
    @inline(__always)
    mutating func string() throws -> (offset: Int, length: Int, isEscaped: Bool) {
        let begin = at + 1
        var place = begin
        var isEscaped = false
        while true {
            let word = UnsafeRawPointer(place).loadUnaligned(as: UInt64.self).littleEndian
            // The high bit of each byte that is a quote, a backslash, a control character or not ASCII. Only the lowest
            // bit is used: a borrow can set wrong bits, but only above it.
            let special =
                (((word ^ 0x2222_2222_2222_2222) &- 0x0101_0101_0101_0101)
                    | ((word ^ 0x5C5C_5C5C_5C5C_5C5C) &- 0x0101_0101_0101_0101)
                    | (word &- 0x2020_2020_2020_2020) | word) & 0x8080_8080_8080_8080
            if special == 0 {
                place += 8
                continue
            }
            place += special.trailingZeroBitCount >> 3
            if place.pointee == UInt8(ascii: "\"") { break }
            if place.pointee == UInt8(ascii: "\\") { isEscaped = true }
            place = try checked(at: place)
        }
        at = place + 1
        return (begin - start, place - begin, isEscaped)
    }

    /// Checks an escape or characters outside ASCII. Returns the address after them.
    private func checked(at begin: UnsafePointer<UInt8>) throws -> UnsafePointer<UInt8> {
        var place = begin
        if place.pointee == UInt8(ascii: "\\") { return try escape(at: place) }
        guard place.pointee >= 0x80 else {
            throw failure(place == end ? "'\"'" : "no control character in a string", at: place)
        }
        repeat {
            let length = UTF8Sequence.length(place)
            guard length > 0 else { throw failure("valid UTF-8", at: place) }
            place += length
        } while place.pointee >= 0x80
        return place
    }

    private func escape(at place: UnsafePointer<UInt8>) throws -> UnsafePointer<UInt8> {
        switch place[1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return place + 2
        case UInt8(ascii: "u"):
            let unit = try hexadecimal(at: place + 2)
            if unit & 0xF800 != 0xD800 { return place + 6 }
            guard unit < 0xDC00, place[6] == UInt8(ascii: "\\"), place[7] == UInt8(ascii: "u"),
                try hexadecimal(at: place + 8) & 0xFC00 == 0xDC00
            else { throw failure("a pair of surrogates", at: place) }
            return place + 12
        default: throw failure("an escape sequence", at: place)
        }
    }

    private func hexadecimal(at place: UnsafePointer<UInt8>) throws -> UInt32 {
        var unit: UInt32 = 0
        for index in 0..<4 {
            let digit = JSONStringText.hexadecimal(place[index])
            guard digit < 16 else { throw failure("four hexadecimal digits", at: place + index) }
            unit = unit << 4 | digit
        }
        return unit
    }

    /// Checks a number, appends its entry and moves past it.
    @inline(__always)
    mutating func number() throws {
        let begin = at
        var place = at
        var flags: JSONTapeEntry.Flags = []
        if place.pointee == UInt8(ascii: "-") { place += 1 }
        if place.pointee == UInt8(ascii: "0") { place += 1 } else { place = try digits(at: place) }
        if place.pointee == UInt8(ascii: ".") {
            flags = .fraction
            place = try digits(at: place + 1)
        }
        if place.pointee | 0x20 == UInt8(ascii: "e") {
            flags = .fraction
            place += 1
            if place.pointee == UInt8(ascii: "+") || place.pointee == UInt8(ascii: "-") { place += 1 }
            place = try digits(at: place)
        }
        at = place
        append(JSONTapeEntry(.number, offset: begin - start, length: place - begin, flags: flags))
    }

    /// Returns the address after the digits, or throws without a digit.
    @inline(__always)
    private func digits(at begin: UnsafePointer<UInt8>) throws -> UnsafePointer<UInt8> {
        var place = begin
        while place.pointee &- UInt8(ascii: "0") < 10 { place += 1 }
        guard place != begin else { throw failure("a digit", at: begin) }
        return place
    }
}
