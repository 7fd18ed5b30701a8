/// A set of ASCII bytes in two words. A lookup is one shift, where `CharacterSet` needs a call.
@frozen
public struct ASCIISet: Hashable, Sendable {
    @usableFromInline var low: UInt64 = 0
    @usableFromInline var high: UInt64 = 0

    package init(_ characters: String) {
        for byte in characters.utf8 { insert(byte) }
    }

    private mutating func insert(_ byte: UInt8) {
        if byte < 64 {
            low |= 1 << UInt64(byte)
        } else if byte < 128 {
            high |= 1 << UInt64(byte - 64)
        }
    }

    /// Returns whether the set contains a byte. Always false for 128 and above.
    @inlinable
    @inline(__always)
    public func contains(_ byte: UInt8) -> Bool {
        (byte & 64 == 0 ? low : high) &>> UInt64(byte) & 1 != 0 && byte < 128
    }

    package func intersection(_ other: ASCIISet) -> ASCIISet {
        var result = self
        result.low &= other.low
        result.high &= other.high
        return result
    }

    package func union(_ other: ASCIISet) -> ASCIISet {
        var result = self
        result.low |= other.low
        result.high |= other.high
        return result
    }

    package static let alphanumerics = ASCIISet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
}
