/// Checks a JSON text in one pass and writes its tape.
///
/// 16 zero bytes follow the text. No grammar rule accepts a zero, so each scan stops at the end of the text, and
/// 16 bytes can be read from each offset in it.
struct JSONParser {
    /// The offset of a syntax error, and the syntax expected there.
    struct Failure: Error {
        let offset: Int
        let expected: String
    }

    let start: UnsafePointer<UInt8>
    let end: UnsafePointer<UInt8>
    let maximumDepth: Int
    var at: UnsafePointer<UInt8>
    /// Entry 0 is a null that represents a missing value. Entry 1 is the top-level value.
    private(set) var tape: UnsafeMutablePointer<JSONTapeEntry>
    private(set) var count = 1
    private var capacity: Int
    /// The tape index of the innermost open container, or 0.
    private(set) var container = 0
    private var depth = 0
    /// The number of members of the largest object.
    private(set) var mostMembers = 0

    /// Creates a parser at the first byte. The caller frees the tape.
    init(_ start: UnsafePointer<UInt8>, count: Int, maximumDepth: Int) {
        self.start = start
        end = start + count
        at = start
        self.maximumDepth = maximumDepth
        capacity = count / 8 + 16
        tape = .allocate(capacity: capacity)
        tape.initialize(to: JSONTapeEntry(.null, offset: 0))
    }

    /// Parses the whole text.
    mutating func run() throws {
        if at[0] == 0xEF, at[1] == 0xBB, at[2] == 0xBF { at += 3 }
        while true {
            if try value() { continue }
            if try !finishContainers() { break }
        }
        if skipSpace() != 0 || at != end { throw failure("the end of the text") }
    }

    /// Reads a scalar or an empty container, or opens a container. Returns whether it opened one.
    @inline(__always)
    private mutating func value() throws -> Bool {
        let byte = skipSpace()
        switch byte {
        case UInt8(ascii: "\""):
            let (begin, length, isEscaped) = try string()
            append(JSONTapeEntry(.string, offset: begin, length: length, flags: isEscaped ? .escaped : []))
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            try number()
        case UInt8(ascii: "{"):
            try open(.object)
            if skipSpace() == UInt8(ascii: "}") {
                close()
                return false
            }
            try name()
            return true
        case UInt8(ascii: "["):
            try open(.array)
            if skipSpace() == UInt8(ascii: "]") {
                close()
                return false
            }
            return true
        default:
            try literal(byte)
        }
        return false
    }

    /// Reads the syntax after a value: closes containers up to a comma. Returns whether another value follows.
    @inline(__always)
    private mutating func finishContainers() throws -> Bool {
        while container != 0 {
            tape[container].length &+= 1
            let isObject = tape[container].kind == .object
            let byte = skipSpace()
            if byte == UInt8(ascii: ",") {
                at += 1
                if isObject { try name() }
                return true
            }
            guard byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                throw failure(isObject ? "',' or '}'" : "',' or ']'")
            }
            close()
        }
        return false
    }

    @inline(__always)
    private mutating func name() throws {
        guard skipSpace() == UInt8(ascii: "\"") else { throw failure("a name in quotes") }
        let (begin, length, isEscaped) = try string()
        append(JSONTapeEntry(.name, offset: begin, length: length, flags: isEscaped ? .escaped : []))
        if isEscaped { tape[container].flags.insert(.escapedNames) }
        guard skipSpace() == UInt8(ascii: ":") else { throw failure("':'") }
        at += 1
    }

    private mutating func open(_ kind: JSONTapeEntry.Kind) throws {
        guard depth < maximumDepth else { throw failure("at most \(maximumDepth) levels of arrays and objects") }
        depth += 1
        let parent = UInt32(truncatingIfNeeded: container)
        container = count
        append(JSONTapeEntry(kind, offset: at - start, next: parent))
        at += 1
    }

    private mutating func close() {
        let opened = tape + container
        let parent = Int(opened.pointee.next)
        opened.pointee.next = UInt32(truncatingIfNeeded: count)
        if opened.pointee.kind == .object {
            mostMembers = max(mostMembers, Int(opened.pointee.length))
            opened.pointee.members = UInt16(clamping: opened.pointee.length)
            opened.pointee.length = UInt32(truncatingIfNeeded: container + 1)
        }
        container = parent
        depth -= 1
        at += 1
    }

    private mutating func literal(_ byte: UInt8) throws {
        let word = UnsafeRawPointer(at).loadUnaligned(as: UInt32.self).littleEndian
        switch (byte, word, at[4]) {
        case (UInt8(ascii: "t"), 0x6575_7274, _): append(JSONTapeEntry(.true, offset: at - start))
        case (UInt8(ascii: "n"), 0x6C6C_756E, _): append(JSONTapeEntry(.null, offset: at - start))
        case (UInt8(ascii: "f"), 0x736C_6166, UInt8(ascii: "e")):
            append(JSONTapeEntry(.false, offset: at - start))
            at += 1
        default: throw failure("a value")
        }
        at += 4
    }

    @inline(__always)
    mutating func append(_ entry: JSONTapeEntry) {
        if count == capacity { grow() }
        (tape + count).initialize(to: entry)
        count += 1
    }

    @inline(never)
    private mutating func grow() {
        let larger = UnsafeMutablePointer<JSONTapeEntry>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: tape, count: count)
        tape.deallocate()
        tape = larger
        capacity *= 2
    }

    /// Skips white space. Returns the byte after it, which is 0 at the end of the text.
    @inline(__always)
    mutating func skipSpace() -> UInt8 {
        let byte = at.pointee
        return byte > 0x20 ? byte : skipSpaces()
    }

    private mutating func skipSpaces() -> UInt8 {
        while true {
            switch at.pointee {
            case 0x20:
                at += 1
                while UnsafeRawPointer(at).loadUnaligned(as: UInt64.self) == 0x2020_2020_2020_2020 { at += 8 }
            case 0x0A, 0x0D, 0x09: at += 1
            case let byte: return byte
            }
        }
    }

    @inline(never)
    func failure(_ expected: String, at address: UnsafePointer<UInt8>? = nil) -> Failure {
        Failure(offset: (address ?? at) - start, expected: expected)
    }
}

extension JSONParser {
    /// Checks a string and moves past it. Returns the offset and length of its contents.
    @inline(__always)
    mutating func string() throws -> (offset: Int, length: Int, isEscaped: Bool) {
        let begin = at + 1
        var address = begin
        var isEscaped = false
        while true {
            let offset = Self.offsetOfSpecial(UnsafeRawPointer(address).loadUnaligned(as: SIMD16<UInt8>.self))
            address += offset
            if offset == 16 { continue }
            if address.pointee == UInt8(ascii: "\"") { break }
            if address.pointee == UInt8(ascii: "\\") { isEscaped = true }
            address = try checked(at: address)
        }
        at = address + 1
        return (begin - start, address - begin, isEscaped)
    }

    /// Returns the offset of the first byte that is a quote, a backslash, a control character or not ASCII, or 16.
    ///
    /// Each operand is a vector, because the compiler has no instruction for a vector and a single byte.
    @inline(__always)
    private static func offsetOfSpecial(_ bytes: SIMD16<UInt8>) -> Int {
        let quote = SIMD16<UInt8>(repeating: UInt8(ascii: "\""))
        let backslash = SIMD16<UInt8>(repeating: UInt8(ascii: "\\"))
        // A control character or a byte outside ASCII is less than a space as a signed number.
        let space = SIMD16<Int8>(repeating: 0x20)
        let specials = (bytes .== quote) .| (bytes .== backslash) .| (SIMD16<Int8>(truncatingIfNeeded: bytes) .< space)
        let words = unsafeBitCast(specials, to: SIMD2<UInt64>.self)
        let first = words[0].littleEndian
        return first == 0 ? 8 + words[1].littleEndian.trailingZeroBitCount >> 3 : first.trailingZeroBitCount >> 3
    }

    /// Checks an escape or characters outside ASCII. Returns the address after them.
    private func checked(at begin: UnsafePointer<UInt8>) throws -> UnsafePointer<UInt8> {
        var address = begin
        if address.pointee == UInt8(ascii: "\\") { return try escape(at: address) }
        guard address.pointee >= 0x80 else {
            throw failure(address == end ? "'\"'" : "no control character in a string", at: address)
        }
        repeat {
            let length = UTF8Sequence.length(address)
            guard length > 0 else { throw failure("valid UTF-8", at: address) }
            address += length
        } while address.pointee >= 0x80
        return address
    }

    private func escape(at address: UnsafePointer<UInt8>) throws -> UnsafePointer<UInt8> {
        switch address[1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return address + 2
        case UInt8(ascii: "u"):
            let unit = try hexadecimal(at: address + 2)
            if unit & 0xF800 != 0xD800 { return address + 6 }
            guard unit < 0xDC00, address[6] == UInt8(ascii: "\\"), address[7] == UInt8(ascii: "u"),
                try hexadecimal(at: address + 8) & 0xFC00 == 0xDC00
            else { throw failure("a pair of surrogates", at: address) }
            return address + 12
        default: throw failure("an escape sequence", at: address)
        }
    }

    private func hexadecimal(at address: UnsafePointer<UInt8>) throws -> UInt32 {
        var unit: UInt32 = 0
        for index in 0..<4 {
            let digit = JSONStringText.hexadecimal(address[index])
            guard digit < 16 else { throw failure("four hexadecimal digits", at: address + index) }
            unit = unit << 4 | digit
        }
        return unit
    }

    /// Checks a number, appends its entry and moves past it.
    @inline(__always)
    mutating func number() throws {
        let begin = at
        var address = at
        var flags: JSONTapeEntry.Flags = []
        if address.pointee == UInt8(ascii: "-") { address += 1 }
        if address.pointee == UInt8(ascii: "0") { address += 1 } else { address = try digits(at: address) }
        if address.pointee == UInt8(ascii: ".") {
            flags = .fraction
            address = try digits(at: address + 1)
        }
        if address.pointee | 0x20 == UInt8(ascii: "e") {
            flags = .fraction
            address += 1
            if address.pointee == UInt8(ascii: "+") || address.pointee == UInt8(ascii: "-") { address += 1 }
            address = try digits(at: address)
        }
        at = address
        append(JSONTapeEntry(.number, offset: begin - start, length: address - begin, flags: flags))
    }

    /// Returns the address after the digits, or throws without a digit.
    @inline(__always)
    private func digits(at begin: UnsafePointer<UInt8>) throws -> UnsafePointer<UInt8> {
        var address = begin
        while address.pointee &- UInt8(ascii: "0") < 10 { address += 1 }
        guard address != begin else { throw failure("a digit", at: begin) }
        return address
    }
}

/// Validates UTF-8 sequences of characters outside ASCII.
enum UTF8Sequence {
    /// Returns the length of a sequence that begins with a byte of at least 0x80, or 0 when it is invalid.
    ///
    /// It reads no byte after the first invalid one, so the zero after the text stops it.
    @inline(__always)
    static func length(_ address: UnsafePointer<UInt8>) -> Int {
        let first = address.pointee
        switch first {
        case 0xC2...0xDF:
            return isContinuation(address[1]) ? 2 : 0
        case 0xE0...0xEF:
            let second = address[1]
            guard isContinuation(second), isContinuation(address[2]) else { return 0 }
            // Rejects overlong forms and surrogates.
            if first == 0xE0 && second < 0xA0 || first == 0xED && second > 0x9F { return 0 }
            return 3
        case 0xF0...0xF4:
            let second = address[1]
            guard isContinuation(second), isContinuation(address[2]), isContinuation(address[3]) else { return 0 }
            // Rejects overlong forms and code points above U+10FFFF.
            if first == 0xF0 && second < 0x90 || first == 0xF4 && second > 0x8F { return 0 }
            return 4
        default:
            return 0
        }
    }

    @inline(__always)
    private static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }
}
