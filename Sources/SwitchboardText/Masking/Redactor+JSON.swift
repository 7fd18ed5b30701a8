import Foundation

extension Redactor {
    /// Redacts the values after `"name":` for secret names: in JSON members, in JSON inside a JSON string, and with
    /// apostrophes, `=>` or `=`, as some languages print them. `true`, `false`, `null` and messages without quotes are no
    /// secrets.
    ///
    /// The search does not pair opening and closing quotes, so truncated or invalid text cannot hide a name.
    func members(in text: SearchedText, _ quote: UInt8) -> SearchedText {
        let bytes = text.bytes
        var replacements = Replacements()
        // The index after the last quote of each depth: `"`, `\"`, `\\\"`.
        var opened = Array(repeating: -1, count: 8)
        var index = 0
        while let mark = bytes[index...].firstIndex(of: quote) {
            index = mark + 1
            let depth = bytes.quoteDepth(at: mark)
            guard depth < opened.count else { continue }
            for deeper in opened.indices where deeper > depth { opened[deeper] = -1 }
            let start = opened[depth]
            opened[depth] = index
            let delimiter = 1 << depth  // the quote and its backslashes
            guard start >= 0, index - delimiter >= start,
                let value = bytes.valueStart(after: start - delimiter..<index),
                isSecret(member: bytes[start..<index - delimiter].memberName(depth), before: bytes[value])
            else { continue }
            let end = bytes.endOfValue(from: value, depth, quote)
            let first = bytes[value..<end].first { $0 != .backslash }
            if first == .quote || first == .apostrophe || !NonSecretText.isMessage(bytes[value..<end]) {
                hide(value..<end, of: bytes, quote, depth, in: &replacements)
            }
            index = end
            opened[depth] = -1
        }
        return text.replacing(replacements)
    }

    /// Replaces a value by the mask as a string of this depth, except for a literal. A string keeps its quotes, which
    /// may be escapes: `\u0022`.
    func hide(_ value: Range<Int>, of bytes: [UInt8], _ quote: UInt8, _ depth: Int, in replacements: inout Replacements)
    {
        let text = bytes[value]
        guard !NonSecretText.isLiteral(text) else { return }
        let mark = Array(repeating: UInt8.backslash, count: 1 << depth - 1) + [quote]
        if text.count >= 2 * mark.count, text.starts(with: mark), text.suffix(mark.count).elementsEqual(mark) {
            replacements.add(value.lowerBound + mark.count..<value.upperBound - mark.count, mask.utf8)
        } else {
            replacements.add(value, mark + mask.utf8 + mark)
        }
    }
}

extension ArraySlice<UInt8> {
    /// Returns the unescaped name of a string at this depth: `pass\u0077ord` becomes `password`.
    func memberName(_ depth: Int) -> String {
        var name = String(decoding: self, as: UTF8.self)
        for _ in 0...depth where name.utf8.contains(.backslash) { name = name.unescapedFromJSON }
        return name
    }
}

extension [UInt8] {
    /// Returns the nesting depth of the string whose quote is at `index`. Each level of JSON inside JSON turns `n`
    /// backslashes before a quote into `2n + 1`.
    func quoteDepth(at index: Int) -> Int { (~backslashes(before: index)).trailingZeroBitCount }

    func backslashes(before index: Int) -> Int { self[..<index].reversed().prefix { $0 == .backslash }.count }

    /// Returns the start of the value after a name in quotes: after a colon or an equals sign or, as in Ruby and PHP, `=>`. A
    /// bracket may precede them, as in `["name"]=>` and `AnyHashable("name"):`. Nil without a value.
    fileprivate func valueStart(after name: Range<Int>) -> Int? {
        guard var index = self[name.upperBound...].firstIndex(where: { !$0.isSpace }) else { return nil }
        let isSubscript = self[index] == .rightBracket
        let isWrapped =
            self[index] == UInt8(ascii: ")") && self[..<name.lowerBound].suffix(12).elementsEqual("AnyHashable(".utf8)
        if isSubscript || isWrapped {
            guard let next = self[(index + 1)...].firstIndex(where: { !$0.isSpace }) else { return nil }
            index = next
        }
        if self[index] == .equals {
            let next = index + 1 < count ? self[index + 1] : .space
            if next == .equals { return nil }  // a comparison
            if next == .greaterThan { index += 1 }
        } else if self[index] != .colon || isSubscript {
            return nil
        }
        return self[(index + 1)...].firstIndex { !$0.isSpace }
    }

    /// Returns the end of the value at `start`, in text whose strings have this depth. `quote` is the quote of its
    /// name. If that is an apostrophe, a string may have either quote.
    fileprivate func endOfValue(from start: Int, _ depth: Int, _ quote: UInt8) -> Int {
        let first = self[start...].firstIndex { $0 != .backslash }.map { self[$0] }
        let hasApostrophes = first == .apostrophe || quote == .apostrophe && first != .quote
        let hasQuotes = first != .apostrophe
        var (index, nesting) = (start, 0)
        var string: UInt8?
        while index < count {
            let byte = self[index]
            index += 1
            if byte == .quote || byte == .apostrophe && hasApostrophes {
                let other = quoteDepth(at: index - 1)
                // The enclosing string ends here.
                if other < depth { return index - 1 - backslashes(before: index - 1) }
                guard other == depth, byte == .apostrophe || hasQuotes, string == nil || string == byte else {
                    continue
                }
                let mark = index - 1 << depth
                // Within a value such as `it's old`, an apostrophe is a letter. A quote is one, or ends the text around it.
                let next = index < count ? self[index] : .lineFeed
                if quote == .apostrophe, string == nil, nesting == 0, !canBeginString(after: start..<mark, next) {
                    if byte == .quote, ASCIISet.afterText.contains(next) { return mark }
                    continue
                }
                string = string == nil ? byte : nil
                if string == nil, nesting == 0 { return index }
            }
            guard string == nil else { continue }
            switch byte {
            case .leftBrace, .leftBracket, UInt8(ascii: "("): nesting += 1
            // `string(7) "…"`: the value continues.
            case UInt8(ascii: ")"): nesting = Swift.max(0, nesting - 1)
            case .rightBrace, .rightBracket:
                nesting -= 1
                if nesting <= 0 { return nesting < 0 ? index - 1 : index }
            case .comma, .lineFeed: if nesting == 0 { return index - 1 }
            default: break
            }
        }
        return count
    }

    /// Returns whether a string may begin after these bytes of its value: after none, after a blank, a colon or an equals
    /// sign, unless the text around the value ends there, and after the letters of Python's `b"…"` and `rb"…"`.
    fileprivate func canBeginString(after value: Range<Int>, _ next: UInt8) -> Bool {
        let text = self[value]
        guard let last = text.last, !ASCIISet.beforeString.contains(last) else {
            return text.isEmpty || next == .space || !ASCIISet.afterText.contains(next)
        }
        return text.count <= 2 && text.allSatisfy(ASCIISet.stringPrefix.contains)
    }
}

extension ASCIISet {
    fileprivate static let beforeString = ASCIISet(" \t:=")
    fileprivate static let stringPrefix = ASCIISet("bBfFrRuU@")
}

extension String {
    /// The text with JSON escapes replaced once. Invalid escapes stay.
    fileprivate var unescapedFromJSON: String {
        var result: [UInt16] = []
        var units = Array(utf16)[...]
        while let unit = units.popFirst() {
            guard unit == 0x5C, let letter = units.popFirst() else {
                result.append(unit)
                continue
            }
            if letter == 0x75, units.count >= 4,
                let value = UInt16(String(decoding: units.prefix(4), as: UTF16.self), radix: 16)
            {
                result.append(value)
                units = units.dropFirst(4)
            } else {
                result.append(letter)
            }
        }
        return String(decoding: result, as: UTF16.self)
    }
}
