import Foundation

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

    /// The `Range` that asks for the bytes behind ``prefix``. Nil when the whole is needed, or nothing is missing there.
    var rest: String? { prefix > 0 && prefix < size ?? .max ? "bytes=\(prefix)-" : nil }

    /// Returns the place of bytes in the stored body. Nil unless one range contains them all.
    func place(of wanted: Range<Int>) -> Range<Int>? {
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
