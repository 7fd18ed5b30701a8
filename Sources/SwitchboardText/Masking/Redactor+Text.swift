import Foundation

extension Redactor {
    /// Redacts the values of secret names in a body's text.
    ///
    /// The text may contain JSON members, also inside a JSON string, form pairs, elements and attributes of markup,
    /// header fields, lines of YAML, parts of `multipart/form-data`, and queries of URLs anywhere. It may be incomplete
    /// or invalid: anything that looks like a member with a secret name is redacted.
    package func text(_ text: String) -> String {
        guard !isNone else { return text }
        var text = text
        // The first of these characters distinguishes JSON from a form: `{"a":"b=c"}`, also after a byte-order mark or
        // a guard, and `a=b"c`.
        let first = text.utf8.first { $0 == .quote || $0 == .equals || $0 == .lessThan }
        if first == .equals, !text.utf8.contains(.space) { text = form(text) }
        if text.utf8.contains(.lessThan) { text = markup(in: text) }
        for quote in [UInt8.quote, .apostrophe] where text.utf8.contains(quote) {
            if text.utf8.contains(.leftBrace) { text = namedValues(in: text, quote) }
            text = members(in: text, quote)
        }
        return pairs(in: text)
    }

    /// Redacts the values of secret names in prose, markup and JSON: `name=value` pairs of URLs, header lines such as
    /// `Authorization: Bearer …`, and user information before the host of a URL.
    package func pairs(in text: String) -> String {
        guard !isNone else { return text }
        let text = text.utf8.contains(.colon) ? users(in: lines(in: text)) : text
        guard text.utf8.contains(.equals) else { return text }
        let bytes = Array(text.utf8)
        var places = Places()
        var index = 0
        while let equals = bytes[index...].firstIndex(of: .equals) {
            index = equals + 1
            let place = bytes.namePlace(before: equals, from: places.end)
            let name = String(decoding: bytes[place.name], as: UTF8.self)
            // A setting has spaces around the equals sign: `password = …`. There, a key or a code is rarely a secret.
            let start = place.isWord ? bytes[index...].firstIndex { !$0.isBlank } ?? bytes.count : index
            let isSetting = start > index || place.name.upperBound < equals
            guard !name.isEmpty,
                isSetting ? isSecret(parameter: name, among: memberNames) : isSecret(parameter: name),
                !isSetting || start < bytes.count && bytes[start] != .equals
            else { continue }
            index = start
            let ends = isSetting && place.isFirst ? ASCIISet.lineEnd : .pairEnd
            var end = bytes[index...].firstIndex { ends.contains($0) } ?? bytes.count
            if let quoted = bytes.quotedText(from: index) {
                // As in an attribute, where a key or a code is rarely a secret.
                guard isSecret(parameter: name, among: memberNames) else { continue }
                (index, end) = (quoted.lowerBound, quoted.upperBound)
            }
            // An empty value, or an existing mask.
            guard end > index, !isMask(bytes, from: index, to: end) else { continue }
            places.add(index..<end, mask.utf8)
            index = end
        }
        return places.replaced(in: text, bytes)
    }

    /// Returns whether a value is exactly the mask. The mask may contain characters that end a value.
    func isMask(_ bytes: [UInt8], from start: Int, to end: Int) -> Bool {
        end - start <= mask.utf8.count && bytes[start...].starts(with: mask.utf8)
    }

    /// Redacts the user information before the hosts of URLs: `https://me:…@host`.
    private func users(in text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "@")) else { return text }
        let bytes = Array(text.utf8)
        var places = Places()
        var index = 2
        while index < bytes.count {
            guard bytes[index] == .slash, bytes[index - 1] == .slash, bytes[index - 2] == .colon else {
                index += 1
                continue
            }
            let start = index + 1
            index = bytes[start...].firstIndex { ASCIISet.authorityEnd.contains($0) } ?? bytes.count
            guard let at = bytes[start..<index].lastIndex(of: UInt8(ascii: "@")), at > start else { continue }
            places.add(start..<at, mask.utf8)
        }
        return places.replaced(in: text, bytes)
    }
}

extension ASCIISet {
    fileprivate static let pairName = alphanumerics.union(ASCIISet("-_.[]%"))
    fileprivate static let pairEnd = ASCIISet("&\"'<> \t\r\n;,)}]\\")
    fileprivate static let lineEnd = ASCIISet("\r\n")
    fileprivate static let authorityEnd = ASCIISet("/?#\"'<> \t\r\n\\")
}

extension [UInt8] {
    /// Returns the range of the name before an `=`, whether spaces may follow the `=`, and whether the name is the
    /// first word of its line.
    fileprivate func namePlace(before equals: Int, from floor: Int) -> (name: Range<Int>, isWord: Bool, isFirst: Bool) {
        var end = equals
        while end > floor, self[end - 1].isBlank { end -= 1 }
        let start = self[floor..<end].lastIndex { !ASCIISet.pairName.contains($0) }.map { $0 + 1 } ?? floor
        // In a query, directly after `?` or `&`, a space ends the value.
        let isWord = start == floor || !ASCIISet("?&;#/").contains(self[start - 1])
        let before = self[..<start].last { !$0.isBlank } ?? .lineFeed
        return (start..<end, isWord, before == .lineFeed)
    }
}

extension UInt8 {
    /// Whether the byte is a blank or ends a line.
    var isSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
}

extension [UInt8] {
    /// Returns the text between the quote at `start`, which may follow backslashes, and the next quote of the same
    /// depth, or the end of the line. Nil if no quote is there.
    func quotedText(from start: Int) -> Range<Int>? {
        let quote = self[start...].firstIndex { $0 != .backslash } ?? count
        guard quote < count, self[quote] == .quote || self[quote] == .apostrophe else { return nil }
        var index = quote + 1
        while index < count, self[index] != .lineFeed {
            let run = self[index] == self[quote] ? backslashes(before: index) : .max
            if run <= quote - start { return quote + 1..<index - run }
            index += 1
        }
        return quote + 1..<index
    }
}
