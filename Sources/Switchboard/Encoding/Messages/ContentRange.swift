import SwitchboardText

/// The position of a partial body in the whole body: the field `Content-Range` ([RFC 9110
/// §14.4](https://www.rfc-editor.org/rfc/rfc9110#section-14.4)).
public struct ContentRange: Sendable, Hashable, CustomStringConvertible {
    /// The bytes, counted from 0, including the last one. Nil for `bytes */1234`, which means that the range was
    /// unavailable.
    public var bytes: ClosedRange<Int64>?
    /// The size of the whole body in bytes, or nil when it is unknown.
    public var size: Int64?

    /// Creates a range without checking it.
    public init(_ bytes: ClosedRange<Int64>?, of size: Int64?) {
        self.bytes = bytes
        self.size = size
    }

    /// Parses a field's value. Nil for an invalid value: a unit other than bytes, a last byte before the first or
    /// beyond the size, or neither range nor size.
    public init?(_ value: String) {
        let words = value.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, String(words[0]).equalsIgnoringCase("bytes") else { return nil }
        let sides = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard sides.count == 2 else { return nil }
        if sides[1] != "*" {
            guard let size = Int64(digits: sides[1]) else { return nil }
            self.size = size
        }
        if sides[0] == "*" {
            guard size != nil else { return nil }
            return
        }
        let ends = sides[0].split(separator: "-", omittingEmptySubsequences: false).map { Int64(digits: $0) }
        guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last, last < size ?? .max else {
            return nil
        }
        bytes = first...last
    }

    /// The field's value.
    public var description: String {
        "bytes \(bytes.map { "\($0.lowerBound)-\($0.upperBound)" } ?? "*")/\(size.map(String.init) ?? "*")"
    }
}

extension Int64 {
    /// Reads digits without a sign. Nil for any other text and for a number that is too large.
    package init?(digits text: some StringProtocol) {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { return nil }
        self.init(String(text))
    }
}
