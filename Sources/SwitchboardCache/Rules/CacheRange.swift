import Switchboard
import Foundation

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
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
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

/// The bytes of an incomplete response that are stored ([RFC 9111
/// §3.3](https://www.rfc-editor.org/rfc/rfc9111#section-3.3)).
struct CacheParts: Sendable, Hashable {
    /// The most separate ranges of one response.
    static let limit = 8

    /// The stored bytes: in their order, with gaps between them, none of them empty.
    let ranges: [Range<Int>]
    /// The size of the whole. Nil when it is not known.
    let size: Int?

    /// Creates parts. Nil for ranges that are empty, out of order, without a gap between them, or beyond the size.
    init?(_ ranges: [Range<Int>], of size: Int?) {
        guard let first = ranges.first, let last = ranges.last, ranges.count <= Self.limit, first.lowerBound >= 0,
            ranges.allSatisfy({ !$0.isEmpty }), last.upperBound <= size ?? .max,
            zip(ranges, ranges.dropFirst()).allSatisfy({ $0.upperBound < $1.lowerBound })
        else { return nil }
        self.ranges = ranges
        self.size = size
    }

    /// The parts of a body that is still arriving, which are replaced at its end.
    static let unknown = CacheParts([0..<1], of: nil)

    /// Whether no byte is missing.
    var isWhole: Bool { size.map { ranges == [0..<$0] } ?? false }

    /// The number of stored bytes at the start of the whole, without a gap.
    var prefix: Int { ranges.first.flatMap { $0.lowerBound == 0 ? $0.upperBound : nil } ?? 0 }

    /// The `Range` that asks for the bytes after ``prefix``. Nil when the whole is needed, or nothing is missing there.
    var rest: String? { prefix > 0 && prefix < size ?? .max ? "bytes=\(prefix)-" : nil }

    /// Returns the range of bytes in the stored body. Nil unless one stored range contains them all.
    func storedRange(of wanted: Range<Int>) -> Range<Int>? {
        var start = 0
        for range in ranges {
            if range.lowerBound <= wanted.lowerBound, wanted.upperBound <= range.upperBound {
                let first = start + wanted.lowerBound - range.lowerBound
                return first..<(first + wanted.count)
            }
            start += range.count
        }
        return nil
    }

    /// The `Range` that asks for all missing bytes. Nil when it would ask for the whole or when the missing bytes are
    /// not known.
    var missing: String? {
        guard let first = ranges.first, let last = ranges.last else { return nil }
        let start = first.lowerBound == 0 ? first.upperBound : 0
        if size == nil || size != last.upperBound { return start == 0 ? nil : "bytes=\(start)-" }
        return start < last.lowerBound ? "bytes=\(start)-\(last.lowerBound - 1)" : nil
    }
}

extension CacheParts {
    /// The numbers for a file: the size or -1, then the bounds of each range.
    var numbers: [Int] { [size ?? -1] + ranges.flatMap { [$0.lowerBound, $0.upperBound] } }

    /// Reads the numbers of a file. Nil unless they describe a body of this length.
    init?(numbers: [Int], bodyLength: Int) {
        guard let size = numbers.first, size >= -1, numbers.count % 2 == 1 else { return nil }
        var ranges: [Range<Int>] = []
        var length = 0
        for index in stride(from: 1, to: numbers.count, by: 2) {
            guard numbers[index] >= 0, numbers[index] < numbers[index + 1] else { return nil }
            ranges.append(numbers[index]..<numbers[index + 1])
            let (sum, isTooLarge) = length.addingReportingOverflow(ranges[ranges.count - 1].count)
            guard !isTooLarge else { return nil }
            length = sum
        }
        guard length == bodyLength else { return nil }
        self.init(ranges, of: size < 0 ? nil : size)
    }
}
