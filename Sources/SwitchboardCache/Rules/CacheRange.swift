import Foundation
import Switchboard
import SwitchboardText

/// The bytes that a request asks for: a `Range` with one range of bytes ([RFC 9110
/// §14.1.2](https://www.rfc-editor.org/rfc/rfc9110#section-14.1.2)).
enum CacheRange: Sendable, Hashable {
    /// The bytes from the first on, through the last one or to the end.
    case from(Int, through: Int?)
    /// The last bytes, as many as the number.
    case last(Int)

    /// Reads the field of a request. Nil without the field, and for a request that is not a GET, several ranges, a unit
    /// other than bytes, or an invalid value.
    init?(_ request: NetworkRequest) {
        guard request.headers.contains("Range"), request.method == .get else { return nil }
        let values = request.headers.values(for: "Range")
        guard values.count == 1 else { return nil }
        self.init(values[0])
    }

    /// Reads a field's value. A last byte or a length that is too large for an integer means the end.
    init?(_ field: String) {
        let sides = field.split(separator: "=", omittingEmptySubsequences: false)
        guard sides.count == 2, sides[0].lowercased() == "bytes" else { return nil }
        let ends = sides[1].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        if ends[0].isEmpty {
            guard let length = Self.number(ends[1]) else { return nil }
            self = .last(length)
            return
        }
        guard let first = Self.number(ends[0]), first < .max else { return nil }
        guard !ends[1].isEmpty else {
            self = .from(first, through: nil)
            return
        }
        guard let last = Self.number(ends[1]), first <= last else { return nil }
        self = .from(first, through: last)
    }

    /// Reads digits. The largest integer for a number that is too large, nil for other text.
    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { return nil }
        return Int(text) ?? .max
    }

    /// Returns the bytes of a whole with this size. Nil when the whole contains none of them.
    func bytes(of size: Int) -> Range<Int>? {
        switch self {
        case .from(let first, let last):
            guard first < size else { return nil }
            return first..<(min(last ?? .max, size - 1) + 1)
        case .last(let length):
            guard length > 0, size > 0 else { return nil }
            return max(0, size - length)..<size
        }
    }

    /// Returns whether an answer with these bytes, of a whole with this size or an unknown one, begins where this range
    /// begins and does not go beyond it.
    func allows(_ bytes: Range<Int>, of size: Int?) -> Bool {
        if let size {
            guard let wanted = self.bytes(of: size) else { return false }
            return bytes.lowerBound == wanted.lowerBound && bytes.upperBound <= wanted.upperBound
        }
        guard case .from(let first, let last) = self else { return false }
        return bytes.lowerBound == first && bytes.upperBound - 1 <= last ?? .max
    }
}

/// The stored bytes of an incomplete response ([RFC 9111
/// §3.3](https://www.rfc-editor.org/rfc/rfc9111#section-3.3)).
struct CachePart: Sendable, Hashable {
    let range: Range<Int>
    /// The size of the whole. Nil when it is not known.
    let size: Int?

    /// Creates a part. Nil for an empty range and for one beyond the size.
    init?(_ range: Range<Int>, of size: Int?) {
        guard !range.isEmpty, range.lowerBound >= 0, range.upperBound <= size ?? .max else { return nil }
        (self.range, self.size) = (range, size)
    }

    /// The part of a body that is still arriving, which is replaced at its end.
    static let unknown = CachePart(0..<1, of: nil)

    /// Whether no byte is missing.
    var isWhole: Bool { size.map { range == 0..<$0 } ?? false }

    /// The number of stored bytes at the start of the whole.
    var prefix: Int { range.lowerBound == 0 ? range.upperBound : 0 }

    /// The `Range` that asks for the bytes after ``prefix``. Nil when the whole is needed, or nothing is missing there.
    var rest: String? { prefix > 0 && prefix < size ?? .max ? "bytes=\(prefix)-" : nil }

    /// The `Range` that asks for all missing bytes. Nil when it would ask for the whole.
    var missing: String? { size == range.upperBound ? "bytes=0-\(range.lowerBound - 1)" : rest }

    /// Returns the range of bytes in the stored body. Nil unless all of them are stored.
    func storedRange(of wanted: Range<Int>) -> Range<Int>? {
        guard range.lowerBound <= wanted.lowerBound, wanted.upperBound <= range.upperBound else { return nil }
        let first = wanted.lowerBound - range.lowerBound
        return first..<(first + wanted.count)
    }

    /// The numbers for a file: the size or -1, then the bounds.
    var numbers: [Int] { [size ?? -1, range.lowerBound, range.upperBound] }

    /// Reads the numbers of a file. Nil unless they describe a body of this length.
    init?(numbers: [Int], bodyLength: Int) {
        guard numbers.count == 3, numbers[0] >= -1, numbers[1] >= 0, numbers[1] < numbers[2],
            numbers[2] - numbers[1] == bodyLength
        else { return nil }
        self.init(numbers[1]..<numbers[2], of: numbers[0] < 0 ? nil : numbers[0])
    }
}
