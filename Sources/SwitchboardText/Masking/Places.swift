import Foundation

/// A list of replacements in a text.
struct Places {
    private var found: [(range: Range<Int>, text: [UInt8])] = []

    /// The end of the last replacement, or 0 without any.
    var end: Int { found.last?.range.upperBound ?? 0 }

    mutating func add(_ range: Range<Int>, _ text: some Sequence<UInt8>) {
        found.append((range, Array(text)))
    }

    /// Returns the text with all replacements. A range that starts inside an earlier one is ignored.
    func replaced(in text: String, _ bytes: [UInt8]) -> String {
        guard !found.isEmpty else { return text }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var copied = 0
        // The sort is stable, so the first of two equal ranges applies.
        for (range, text) in found.sorted(by: { $0.range.lowerBound < $1.range.lowerBound })
        where range.lowerBound >= copied {
            result += bytes[copied..<range.lowerBound]
            result += text
            copied = range.upperBound
        }
        return String(decoding: result + bytes[copied...], as: UTF8.self)
    }
}
