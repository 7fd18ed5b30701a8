/// A set of ASCII bytes as two words: membership is one shift, where `CharacterSet` takes a call.
package struct ASCIISet: Hashable, Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

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

    @inline(__always)
    package func contains(_ byte: UInt8) -> Bool {
        if byte < 64 { return low & (1 << UInt64(byte)) != 0 }
        if byte < 128 { return high & (1 << UInt64(byte - 64)) != 0 }
        return false
    }

    package func union(_ other: ASCIISet) -> ASCIISet {
        var result = self
        result.low |= other.low
        result.high |= other.high
        return result
    }

    package static let alphanumerics = ASCIISet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
    /// [RFC 3986 §2.3](https://www.rfc-editor.org/rfc/rfc3986#section-2.3)
    package static let unreserved = alphanumerics.union(ASCIISet("-._~"))
    /// What may stand in a path: `pchar` and the slash ([RFC 3986
    /// §3.3](https://www.rfc-editor.org/rfc/rfc3986#section-3.3)).
    static let path = unreserved.union(ASCIISet("!$&'()*+,;=:@/"))
    /// What may stand in a query: `pchar`, `/` and `?` ([RFC 3986
    /// §3.4](https://www.rfc-editor.org/rfc/rfc3986#section-3.4)).
    static let query = path.union(ASCIISet("?"))
    /// `tchar` of [RFC 9110 §5.6.2](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2).
    package static let token = alphanumerics.union(ASCIISet("!#$%&'*+-.^_`|~"))
    static let hexDigits = ASCIISet("0123456789ABCDEFabcdef")
}

extension Sequence<UInt8> {
    /// Whether the bytes are a `token` of [RFC 9110 §5.6.2](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2): not
    /// empty, no blank, no separator, no control byte.
    package var isHTTPToken: Bool {
        let allowed = ASCIISet.token
        var isEmpty = true
        for byte in self {
            guard allowed.contains(byte) else { return false }
            isEmpty = false
        }
        return !isEmpty
    }
}

extension Collection<UInt8> {
    /// Compares with ASCII text in lower case, without case.
    package func equalsLowercase(_ text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount && starts(withLowercase: text)
    }

    /// Whether it begins with ASCII text, given in lower case, without case.
    package func starts(withLowercase text: StaticString) -> Bool {
        text.withUTF8Buffer { prefix(text.utf8CodeUnitCount).lazy.map(\.lowercased).elementsEqual($0) }
    }
}
