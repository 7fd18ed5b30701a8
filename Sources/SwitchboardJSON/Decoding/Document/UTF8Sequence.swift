/// Validates UTF-8 sequences of characters outside ASCII.
enum UTF8Sequence {
    /// Returns the length of a sequence that begins with a byte of at least 0x80, or 0 when it is invalid.
    ///
    /// It reads no byte after the first invalid one, so the zero after the text stops it.
    @inline(__always)
    static func length(_ place: UnsafePointer<UInt8>) -> Int {
        let first = place.pointee
        switch first {
        case 0xC2...0xDF:
            return isContinuation(place[1]) ? 2 : 0
        case 0xE0...0xEF:
            let second = place[1]
            guard isContinuation(second), isContinuation(place[2]) else { return 0 }
            // Rejects overlong forms and surrogates.
            if first == 0xE0 && second < 0xA0 || first == 0xED && second > 0x9F { return 0 }
            return 3
        case 0xF0...0xF4:
            let second = place[1]
            guard isContinuation(second), isContinuation(place[2]), isContinuation(place[3]) else { return 0 }
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
