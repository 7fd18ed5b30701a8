/// A text to search for secrets.
///
/// A search reads the characters for which escapes of JSON and of markup stand: `\/`, `\u0026` and `&#x2F;` are `/`, `&`
/// and `/`. The text around its replacements keeps its escapes.
struct SearchedText {
    /// The text that a search reads.
    private(set) var bytes: [UInt8] = []
    /// The text with its escapes. Empty if it has none.
    private var written: [UInt8] = []
    /// The index in `written` of each of `bytes` and of their end. Empty without escapes.
    private var origins: [Int] = []

    private init() {}

    init(_ text: String) {
        written = Array(text.utf8)
        var (copied, index) = (0, 0)
        while let mark = written[index...].firstIndex(where: { $0 == .backslash || $0 == .ampersand }) {
            let isJSON = written[mark] == .backslash
            guard let (text, end) = isJSON ? written.jsonEscape(at: mark) : written.characterReference(at: mark) else {
                index = isJSON ? written[mark...].firstIndex { $0 != .backslash } ?? written.count : mark + 1
                continue
            }
            bytes += written[copied..<mark]
            bytes += text
            origins += copied..<mark
            origins += repeatElement(mark, count: text.count)
            (copied, index) = (end, end)
        }
        guard copied > 0 else {
            (bytes, written) = (written, [])
            return
        }
        bytes += written[copied...]
        origins += copied...written.count
    }

    /// The text with its escapes.
    var text: String { String(decoding: origins.isEmpty ? bytes : written, as: UTF8.self) }

    /// Returns the text with all replacements. A range that starts inside an earlier one is ignored.
    func replacing(_ replacements: Replacements) -> SearchedText {
        guard !replacements.found.isEmpty else { return self }
        var result = SearchedText()
        result.bytes.reserveCapacity(bytes.count)
        var copied = 0
        // The sort is stable, so the first of two equal ranges applies.
        for (range, text) in replacements.found.sorted(by: { $0.range.lowerBound < $1.range.lowerBound })
        where range.lowerBound >= copied {
            result.append(self, copied..<range.lowerBound)
            result.bytes += text
            if !origins.isEmpty {
                result.origins += result.written.count..<(result.written.count + text.count)
                result.written += text
            }
            copied = range.upperBound
        }
        result.append(self, copied..<bytes.count)
        if !origins.isEmpty { result.origins.append(result.written.count) }
        return result
    }

    private mutating func append(_ other: SearchedText, _ range: Range<Int>) {
        bytes += other.bytes[range]
        guard !other.origins.isEmpty else { return }
        let (start, end) = (other.origins[range.lowerBound], other.origins[range.upperBound])
        let shift = written.count - start
        origins += other.origins[range].map { $0 + shift }
        written += other.written[start..<end]
    }
}

/// A list of ranges of a text and their replacements.
struct Replacements {
    fileprivate var found: [(range: Range<Int>, text: [UInt8])] = []

    /// The end of the last replacement, or 0 without any.
    var end: Int { found.last?.range.upperBound ?? 0 }

    mutating func add(_ range: Range<Int>, _ text: some Sequence<UInt8>) {
        found.append((range, Array(text)))
    }
}

extension [UInt8] {
    /// Returns the character for which an escape of JSON stands, and the index after it: `\/`, `\u0026`, or `\\u0026` in
    /// JSON within JSON. A quote has the backslashes of its depth. Nil without an escape of a printable character.
    fileprivate func jsonEscape(at start: Int) -> (text: [UInt8], end: Int)? {
        let letter = self[start...].firstIndex { $0 != .backslash } ?? count
        if letter < count, self[letter] == .slash { return ([.slash], letter + 1) }
        guard letter + 4 < count, self[letter...].starts(with: "u00".utf8), let high = self[letter + 3].hexValue,
            let low = self[letter + 4].hexValue
        else { return nil }
        let byte = high << 4 | low
        guard byte >= .space, byte < 0x7F, byte != .backslash else { return nil }
        let run = letter - start
        // The backslashes of the escape: one in JSON, two in JSON within JSON. Others precede it.
        let own = 1 << run.trailingZeroBitCount
        let rest = byte == .quote ? run + own - 1 : run - own
        return ([UInt8](repeating: .backslash, count: rest) + [byte], letter + 5)
    }

    /// Returns the character for which a numeric reference of markup stands, and the index after it: `&#x2F;`, `&#47;`.
    /// Nil for quotes and brackets, which delimit nothing in markup when they are written so.
    fileprivate func characterReference(at ampersand: Int) -> (text: [UInt8], end: Int)? {
        let reference = self[ampersand...].prefix(8)
        guard reference.starts(with: "&#".utf8), let end = reference.firstIndex(of: .semicolon) else { return nil }
        let digits = String(decoding: self[(ampersand + 2)..<end], as: UTF8.self).lowercased()
        guard let byte = digits.hasPrefix("x") ? UInt8(digits.dropFirst(), radix: 16) : UInt8(digits),
            ASCIISet.referenced.contains(byte)
        else { return nil }
        return ([byte], end + 1)
    }
}

extension ASCIISet {
    fileprivate static let referenced = unreserved.union(ASCIISet("!$*+,;=:@/?#%"))
}
