/// A text to search for secrets.
///
/// A search reads the characters for which escapes of JSON and of markup stand: `\/`, `\u0026` and `&#x2F;` are `/`, `&`
/// and `/`. The text around its replacements keeps its escapes.
struct SearchedText {
    private(set) var bytes: [UInt8] = []
    /// The index in the written text, with its escapes, of each of `bytes` and of their end. Empty without escapes.
    private var origins: [Int] = []
    /// The replacements in the written text. Empty without escapes.
    private var masks = Replacements()

    private init(written: [UInt8]) {
        bytes = written
        origins = Array(0...written.count)
    }

    init(_ text: String) {
        let written = Array(text.utf8)
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
        bytes += written[copied...]
        if copied > 0 { origins += copied...written.count }
    }

    /// Returns the text with the secrets masked that a search finds.
    ///
    /// The search also reads the text as it is written, because an escaped character may belong to a secret, but ends a
    /// value when it is read: the `<` in `X-Api-Key: ab\u003ccd`.
    static func masking(_ text: String, by search: (SearchedText) -> SearchedText) -> String {
        let read = SearchedText(text)
        let searched = search(read)
        guard !read.origins.isEmpty else { return String(decoding: searched.bytes, as: UTF8.self) }
        let written = Array(text.utf8)
        let found = search(SearchedText(written: written)).masks.found + searched.masks.found
        // Of ranges with the same start, the longest is first. The sort is stable, so the last of equal ranges applies.
        let sorted = found.reversed().sorted {
            ($0.range.lowerBound, $1.range.upperBound) < ($1.range.lowerBound, $0.range.upperBound)
        }
        var result: [UInt8] = []
        var copied = 0
        var last: Range<Int>?
        for (range, mask) in sorted where range != last {
            if range.lowerBound >= copied {
                result += written[copied..<range.lowerBound]
                result += mask
            }
            copied = max(copied, range.upperBound)
            last = range
        }
        return String(decoding: result + written[copied...], as: UTF8.self)
    }

    /// Returns the text with all replacements. A range that starts inside an earlier one is ignored.
    func replacing(_ replacements: Replacements) -> SearchedText {
        guard !replacements.found.isEmpty else { return self }
        var result = self
        (result.bytes, result.origins) = ([], [])
        result.bytes.reserveCapacity(bytes.count)
        var copied = 0
        // The sort is stable, so the first of two equal ranges applies.
        for (range, text) in replacements.found.sorted(by: { $0.range.lowerBound < $1.range.lowerBound })
        where range.lowerBound >= copied {
            result.bytes += bytes[copied..<range.lowerBound]
            result.bytes += text
            if !origins.isEmpty {
                let origin = origins[range.lowerBound]..<origins[range.upperBound]
                result.origins += origins[copied..<range.lowerBound]
                result.origins += repeatElement(origin.lowerBound, count: text.count)
                // A part of an earlier mask has no range of its own.
                if range.isEmpty || !origin.isEmpty { result.masks.add(origin, text) }
            }
            copied = range.upperBound
        }
        result.bytes += bytes[copied...]
        if !origins.isEmpty { result.origins += origins[copied...] }
        return result
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

extension String {
    /// The text with the characters for which its escapes of JSON and of markup stand, as a search for secrets reads it.
    package var withoutEscapes: String { String(decoding: SearchedText(self).bytes, as: UTF8.self) }
}

extension [UInt8] {
    /// Returns the character for which an escape of JSON stands, and the index after it: `\/`, `\u0026`, or `\\u0026` in
    /// JSON within JSON. A quote has the backslashes of its depth. Nil without an escape, and for the escape of a
    /// control character below U+0020 or of a backslash.
    fileprivate func jsonEscape(at start: Int) -> (text: [UInt8], end: Int)? {
        let letter = self[start...].firstIndex { $0 != .backslash } ?? count
        if letter < count, self[letter] == .slash { return ([.slash], letter + 1) }
        guard letter < count, self[letter] == UInt8(ascii: "u") else { return nil }
        let digits = self[letter...].dropFirst().prefix(4).compactMap(\.hexValue)
        let unit = digits.reduce(0 as UInt16) { $0 << 4 | UInt16($1) }
        guard digits.count == 4, unit >= 0x20, unit != UInt8.backslash else { return nil }
        let run = letter - start
        // The backslashes of the escape: one in JSON, two in JSON within JSON. Others precede it.
        let own = 1 << run.trailingZeroBitCount
        let rest = unit == UInt8.quote ? run + own - 1 : run - own
        // A half of a surrogate pair becomes U+FFFD.
        let character = String(decoding: [unit], as: UTF16.self)
        return ([UInt8](repeating: .backslash, count: rest) + character.utf8, letter + 5)
    }

    /// Returns the character for which a numeric reference of markup stands, and the index after it: `&#x2F;`, `&#47;`.
    /// Nil for quotes and brackets, which delimit nothing in markup when they are written so.
    fileprivate func characterReference(at ampersand: Int) -> (text: [UInt8], end: Int)? {
        let reference = self[ampersand...].prefix(10)
        guard reference.starts(with: "&#".utf8), let end = reference.firstIndex(of: .semicolon) else { return nil }
        let digits = String(decoding: self[(ampersand + 2)..<end], as: UTF8.self).lowercased()
        guard let code = digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits),
            let scalar = Unicode.Scalar(code), !scalar.isASCII || ASCIISet.referenced.contains(UInt8(code))
        else { return nil }
        return (Array(String(scalar).utf8), end + 1)
    }
}

extension ASCIISet {
    fileprivate static let referenced = unreserved.union(ASCIISet("!$*+,;=:@/?#%"))
}
