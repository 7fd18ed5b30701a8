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

extension ASCIISet {
    /// The unreserved characters ([RFC 3986 §2.3](https://www.rfc-editor.org/rfc/rfc3986#section-2.3)).
    package static let unreserved = alphanumerics.union(ASCIISet("-._~"))
    /// The characters of a path: `pchar` and the slash ([RFC 3986
    /// §3.3](https://www.rfc-editor.org/rfc/rfc3986#section-3.3)).
    package static let path = unreserved.union(ASCIISet("!$&'()*+,;=:@/"))
    /// The characters of a query: `pchar`, `/` and `?` ([RFC 3986
    /// §3.4](https://www.rfc-editor.org/rfc/rfc3986#section-3.4)).
    package static let query = path.union(ASCIISet("?"))
    /// The characters of a token: `tchar` ([RFC 9110 §5.6.2](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2)).
    @usableFromInline package static let token = alphanumerics.union(ASCIISet("!#$%&'*+-.^_`|~"))
    @usableFromInline package static let hexDigits = ASCIISet("0123456789ABCDEFabcdef")
}

extension String {
    /// Whether the bytes form a token.
    package var isHTTPToken: Bool {
        var text = self
        return text.withUTF8 { $0.isHTTPToken }
    }
}

extension Sequence<UInt8> {
    /// Whether the bytes form a `token` ([RFC 9110 §5.6.2](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2)): not
    /// empty, and without blanks, separators and control bytes.
    @inlinable package var isHTTPToken: Bool {
        let allowed = ASCIISet.token
        var isEmpty = true
        for byte in self {
            guard allowed.contains(byte) else { return false }
            isEmpty = false
        }
        return !isEmpty
    }
}
