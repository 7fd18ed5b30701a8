import Foundation

/// What is found in a text to be replaced, and by what.
struct Places {
    private var found: [(range: Range<Int>, text: [UInt8])] = []

    /// Where the last one ends; 0 before the first.
    var end: Int { found.last?.range.upperBound ?? 0 }

    mutating func add(_ range: Range<Int>, _ text: some Sequence<UInt8>) {
        found.append((range, Array(text)))
    }

    /// The text with them replaced, from the first on; one that lies in another is replaced with that.
    func replaced(in text: String, _ bytes: [UInt8]) -> String {
        guard !found.isEmpty else { return text }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var copied = 0
        // The sort is stable.
        for (range, text) in found.sorted(by: { $0.range.lowerBound < $1.range.lowerBound })
        where range.lowerBound >= copied {
            result += bytes[copied..<range.lowerBound]
            result += text
            copied = range.upperBound
        }
        return String(decoding: result + bytes[copied...], as: UTF8.self)
    }
}
