/// Checks a text in pieces, as its bytes arrive ([RFC 3629 §4](https://www.rfc-editor.org/rfc/rfc3629#section-4)).
struct UTF8Check {
    /// The number of continuation bytes that are missing.
    private var missing = 0
    /// The range of the next continuation byte, which excludes overlong forms, surrogates and values above U+10FFFF.
    private var allowed: ClosedRange<UInt8> = 0x80...0xBF

    /// Whether the bytes so far end with a whole character.
    var isComplete: Bool { missing == 0 }

    /// Returns false if the bytes cannot continue the text.
    mutating func accept(_ bytes: some Sequence<UInt8>) -> Bool {
        for byte in bytes {
            if missing > 0 {
                guard allowed.contains(byte) else { return false }
                missing -= 1
                allowed = 0x80...0xBF
            } else if byte >= 0x80 {
                switch byte {
                case 0xC2...0xDF: (missing, allowed) = (1, 0x80...0xBF)
                case 0xE0: (missing, allowed) = (2, 0xA0...0xBF)
                case 0xED: (missing, allowed) = (2, 0x80...0x9F)
                case 0xE1...0xEF: (missing, allowed) = (2, 0x80...0xBF)
                case 0xF0: (missing, allowed) = (3, 0x90...0xBF)
                case 0xF1...0xF3: (missing, allowed) = (3, 0x80...0xBF)
                case 0xF4: (missing, allowed) = (3, 0x80...0x8F)
                default: return false
                }
            }
        }
        return true
    }
}
