import Foundation

extension Redactor {
    /// Redacts the values of secret names in a body's text, in the formats that `Redaction` lists.
    package func text(_ text: String) -> String {
        guard !isEmpty else { return text }
        // The first of these characters distinguishes JSON, `{"a":"b=c"}`, from a form, `a=b"c`. A byte-order mark or a
        // prefix against JSON hijacking may precede JSON.
        let first = text.utf8.first { $0 == .quote || $0 == .equals || $0 == .lessThan }
        let isForm = first == .equals && !text.utf8.contains(.space)
        return SearchedText.masking(isForm ? form(text) : text) { text in
            prose(in: objects(in: privateKeys(in: text.bytes.contains(.lessThan) ? markup(in: text) : text)))
        }
    }

    /// Redacts the values of secret names in JSON, and in objects as some languages print them.
    private func objects(in text: SearchedText) -> SearchedText {
        var text = text
        for quote in [UInt8.quote, .apostrophe] where text.bytes.contains(quote) {
            if text.bytes.contains(.leftBrace) { text = namedValues(in: text, quote) }
            text = members(in: text, quote)
        }
        return text
    }

    /// The number of bytes after a limit that are also searched, because a name there may belong to a value before it.
    package static let margin = 4_096

    /// Returns the redacted beginning of a body. At most `limit` and ``margin`` bytes of it are read.
    ///
    /// A body above the limit is redacted twice, with and without the margin. The result ends where the two differ,
    /// because there the text after the limit changes the meaning of the text before it.
    package func beginning(of body: Data, limit: Int) -> String? {
        guard body.count > limit else { return Self.text(of: body, isCut: false).map(text) }
        guard let wide = Self.text(of: body.prefix(limit + Self.margin), isCut: body.count > limit + Self.margin),
            let narrow = Self.text(of: body.prefix(limit), isCut: true)
        else { return nil }
        let (one, other) = (text(narrow), text(wide))
        let same = zip(one.utf8, other.utf8).prefix { $0 == $1 }.count
        let end = Swift.min(same, limit)
        return (0...3).lazy.compactMap { String(one.utf8.prefix(Swift.max(0, end - $0))) }.first
    }

    /// Returns bytes as text. Nil for bytes that are not UTF-8 or contain a NUL. With `isCut`, the last character may be
    /// incomplete.
    private static func text(of bytes: Data, isCut: Bool) -> String? {
        guard !bytes.contains(0) else { return nil }
        return (0...(isCut ? 3 : 0)).lazy.compactMap { String(data: bytes.dropLast($0), encoding: .utf8) }.first
    }

    /// Redacts the values of secret names in prose, URLs and JSON. Unlike ``text(_:)`` it reads no markup and no forms.
    package func pairs(in text: String) -> String {
        guard !isEmpty else { return text }
        return SearchedText.masking(text) { text in
            let text = privateKeys(in: text)
            let hasObjects = text.bytes.contains { $0 == .leftBrace || $0 == .leftBracket }
            return prose(in: hasObjects ? objects(in: text) : text)
        }
    }

    private func prose(in text: SearchedText) -> SearchedText {
        let text = escapedPairs(in: tokens(in: text.bytes.contains(.colon) ? users(in: lines(in: text)) : text))
        let bytes = text.bytes
        guard bytes.contains(.equals) else { return text }
        var replacements = Replacements()
        var index = 0
        while let equals = bytes[index...].firstIndex(of: .equals) {
            index = equals + 1
            let match = bytes.findName(before: equals, from: replacements.end)
            var name = String(decoding: bytes[match.name], as: UTF8.self).decodedName
            // A setting has spaces around the equals sign, or an arrow: `password = …`, `:password=>…`. There, a key or a
            // code is rarely a secret.
            let isArrow = match.isWord && index < bytes.count && bytes[index] == .greaterThan
            if isArrow { index += 1 }
            let start = match.isWord ? bytes[index...].firstIndex { !$0.isBlank } ?? bytes.count : index
            let isSetting = isArrow || start > index || match.name.upperBound < equals
            let names = isSetting ? memberNames : parameterNames
            let isAfterEscape = bytes.isLetterOfEscape(at: match.name.lowerBound)
            if isAfterEscape, !isSecret(parameter: name, among: names) { name.removeFirst() }
            guard !name.isEmpty, isSecret(parameter: name, among: names),
                !isSetting || start < bytes.count && bytes[start] != .equals
            else { continue }
            index = start
            let ends = isSetting && match.isFirst ? ASCIISet.lineEnd : .pairEnd
            var end = bytes[index...].firstIndex { ends.contains($0) } ?? bytes.count
            let line = match.name.lowerBound + (isAfterEscape ? 1 : 0)
            if isSetting, let escaped = bytes.escapedLine(beginningAt: line) {
                end = bytes.endOfField(from: index, bytes.count, escaped.depth)
            }
            if let quoted = bytes.quotedText(from: index) {
                // As in an attribute, where a key or a code is rarely a secret.
                guard isSecret(parameter: name, among: memberNames) else { continue }
                (index, end) = (quoted.lowerBound, quoted.upperBound)
            }
            // The secret follows the name of its scheme.
            if end < bytes.count, bytes[end] == .space, Self.isScheme(bytes[index..<end]) {
                let value = end + 1
                let isMasked = !mask.isEmpty && bytes[value...].starts(with: mask.utf8)
                let next = bytes[value...].firstIndex(where: ASCIISet.pairEnd.contains) ?? bytes.count
                end = isMasked ? value + mask.utf8.count : next
            }
            // An empty value, or an existing mask.
            guard end > index, !isMask(bytes, from: index, to: end) else { continue }
            replacements.add(index..<end, mask.utf8)
            index = end
        }
        return text.replacing(replacements)
    }

    /// Redacts the values of secret names in URLs that are escaped within a text: `next=%2Fcb%3Ftoken%3D…`.
    private func escapedPairs(in text: SearchedText) -> SearchedText {
        let bytes = text.bytes
        guard bytes.contains(.percent) else { return text }
        var replacements = Replacements()
        var (index, floor) = (0, 0)
        while let percent = bytes[index...].firstIndex(of: .percent) {
            index = percent + 1
            guard let escape = bytes.escape(at: percent), escape.byte == .equals else { continue }
            let written = bytes[floor..<percent].reversed().prefix(while: ASCIISet.pairName.contains).reversed()
            let names = String(decoding: written, as: UTF8.self).decodedName
            (index, floor) = (escape.end, escape.end)
            // An escaped equals sign may also belong to a value.
            let name = names.utf8.reversed().prefix { $0 != .ampersand && $0 != .questionMark }.reversed()
            guard name.allSatisfy(ASCIISet.pairName.contains),
                isSecret(parameter: String(decoding: name, as: UTF8.self))
            else { continue }
            let end =
                bytes[index...].indices.first {
                    ASCIISet.pairEnd.contains(bytes[$0])
                        || bytes[$0] == .percent && bytes.escape(at: $0)?.byte == .ampersand
                } ?? bytes.count
            guard end > index, !isMask(bytes, from: index, to: end) else { continue }
            replacements.add(index..<end, mask.utf8)
            (index, floor) = (end, end)
        }
        return text.replacing(replacements)
    }

    private static func isScheme(_ word: ArraySlice<UInt8>) -> Bool {
        word.count < 10
            && ["bearer", "basic", "digest", "token"].contains(String(decoding: word, as: UTF8.self).lowercased())
    }

    /// Returns whether a value is exactly the mask. The mask may contain characters that end a value.
    func isMask(_ bytes: [UInt8], from start: Int, to end: Int) -> Bool {
        end - start <= mask.utf8.count && bytes[start...].starts(with: mask.utf8)
    }

    /// Redacts credentials that are recognizable without a name.
    func tokens(in text: String) -> String {
        let canHaveTokens = text.utf8.contains { $0 == UInt8(ascii: "J") || $0.isBlank || $0 == .percent }
        return canHaveTokens ? SearchedText.masking(text, by: { tokens(in: privateKeys(in: $0)) }) : text
    }

    private func tokens(in text: SearchedText) -> SearchedText {
        matchesWords ? credentials(in: webTokens(in: text)) : text
    }

    /// Redacts private keys in PEM ([RFC 7468](https://www.rfc-editor.org/rfc/rfc7468)), from `-----BEGIN` to the end of
    /// the line `-----END`. Without that line, a key ends before the first character that no line of PEM has.
    private func privateKeys(in text: SearchedText) -> SearchedText {
        let bytes = text.bytes
        guard matchesWords else { return text }
        var replacements = Replacements()
        var index = 0
        while let start = bytes[index...].firstIndex(of: UInt8(ascii: "-")) {
            index = start + 1
            guard let content = bytes.endOfKeyMark("-----BEGIN", at: start) else { continue }
            var (last, end) = (content, nil as Int?)
            while end == nil, last < bytes.count, bytes[last] != .quote,
                !bytes[last...].starts(with: "-----BEGIN".utf8)
            {
                end = bytes.endOfKeyMark("-----END", at: last)
                last += 1
            }
            index = end ?? bytes[content..<last].firstIndex { !ASCIISet.keyLine.contains($0) } ?? last
            // The backslashes of a quote in JSON within JSON.
            if end == nil, index < bytes.count, bytes[index] == .quote { index -= bytes.backslashes(before: index) }
            if index > content { replacements.add(start..<index, mask.utf8) }
        }
        return text.replacing(replacements)
    }

    /// Redacts JSON Web Tokens ([RFC 7519](https://www.rfc-editor.org/rfc/rfc7519)): `eyJ` is `{"` in Base64.
    private func webTokens(in text: SearchedText) -> SearchedText {
        let bytes = text.bytes
        guard bytes.contains(UInt8(ascii: "J")) else { return text }
        var replacements = Replacements()
        var index = 0
        while index < bytes.count {
            guard bytes[index...].starts(with: "eyJ".utf8) else {
                index += 1
                continue
            }
            let start = index
            index = bytes[start...].firstIndex { !ASCIISet.base64URL.contains($0) } ?? bytes.count
            // The shortest header, `{"alg":"none"}`, has 19 digits.
            guard index < bytes.count, bytes[index] == .dot, index - start >= 16 else { continue }
            index = bytes[index...].firstIndex { !ASCIISet.base64URL.contains($0) && $0 != .dot } ?? bytes.count
            replacements.add(start..<index, mask.utf8)
        }
        return text.replacing(replacements)
    }

    /// Redacts what follows `Bearer` and `Basic` in prose and can be no word of it: 12 characters with a digit, or after
    /// `Basic` the Base64 form of `user:password`.
    private func credentials(in text: SearchedText) -> SearchedText {
        let bytes = text.bytes
        guard bytes.contains(where: \.isBlank) else { return text }
        var replacements = Replacements()
        var index = 0
        while let blank = bytes[index...].firstIndex(where: \.isBlank) {
            let word = bytes[index..<blank]
            var scheme = word.lastIndex { !ASCIISet.alphanumerics.contains($0) }.map { word[($0 + 1)...] } ?? word
            if bytes.isLetterOfEscape(at: scheme.startIndex) { scheme.removeFirst() }
            index = bytes[blank...].firstIndex { !$0.isBlank && $0 != .quote && $0 != .apostrophe } ?? bytes.count
            let isBasic = scheme.equalsLowercase("basic")
            guard isBasic || scheme.equalsLowercase("bearer") else { continue }
            let start = index
            index = bytes[start...].firstIndex { !ASCIISet.token68.contains($0) } ?? bytes.count
            // A full stop ends a sentence. An equals sign within the word belongs to a parameter of a challenge.
            var secret = bytes[start..<index]
            while secret.last == .dot { secret.removeLast() }
            let padding = secret.firstIndex(of: .equals) ?? secret.endIndex
            guard secret[padding...].allSatisfy({ $0 == .equals }),
                secret.count >= 12 && secret.contains(where: \.isDigit)
                    || isBasic && Self.isUserAndPassword(secret[..<padding])
            else { continue }
            replacements.add(secret.startIndex..<secret.endIndex, mask.utf8)
        }
        return text.replacing(replacements)
    }

    /// Returns whether Base64 digits stand for a printable text with a colon after its first character ([RFC 7617
    /// §2](https://www.rfc-editor.org/rfc/rfc7617#section-2)).
    private static func isUserAndPassword(_ digits: ArraySlice<UInt8>) -> Bool {
        let padding = Array(repeating: UInt8.equals, count: (4 - digits.count % 4) % 4)
        guard let text = Data(base64Encoded: Data(digits + padding)) else { return false }
        return text.dropFirst().contains(.colon) && text.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }

    /// Redacts the user information before the hosts of URLs: `https://me:…@host`.
    private func users(in text: SearchedText) -> SearchedText {
        let bytes = text.bytes
        guard bytes.contains(UInt8(ascii: "@")) else { return text }
        var replacements = Replacements()
        var index = 2
        while index < bytes.count {
            guard bytes[index] == .slash, bytes[index - 1] == .slash, bytes[index - 2] == .colon else {
                index += 1
                continue
            }
            let start = index + 1
            index = bytes[start...].firstIndex { ASCIISet.authorityEnd.contains($0) } ?? bytes.count
            guard let at = bytes[start..<index].lastIndex(of: UInt8(ascii: "@")), at > start else { continue }
            replacements.add(start..<at, mask.utf8)
        }
        return text.replacing(replacements)
    }
}

extension String {
    /// The name with its escapes replaced, at most three times: `%2574oken` becomes `token`.
    var decodedName: String {
        var name = self
        for _ in 0..<3 where name.utf8.contains(.percent) { name = name.percentDecoded }
        return name
    }
}

extension ASCIISet {
    /// The characters of a label of PEM, in a form too.
    fileprivate static let keyLabel = ASCIISet("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 +%")
    /// The characters of the lines of PEM, of their escapes, and of fields such as `Proc-Type: 4,ENCRYPTED`.
    fileprivate static let keyLine = alphanumerics.union(ASCIISet("+/= \t\r\n\\%-:,"))
    fileprivate static let base64URL = alphanumerics.union(ASCIISet("-_"))
    /// The characters of `token68` ([RFC 9110 §11.2](https://www.rfc-editor.org/rfc/rfc9110#section-11.2)).
    fileprivate static let token68 = unreserved.union(ASCIISet("+/="))
    fileprivate static let pairName = alphanumerics.union(ASCIISet("-_.[]%"))
    fileprivate static let pairEnd = ASCIISet("&\"'<> \t\r\n;,)}]\\")
    static let lineEnd = ASCIISet("\r\n")
    fileprivate static let escapes = ASCIISet("nrt")
    fileprivate static let authorityEnd = ASCIISet("/?#\"'<> \t\r\n\\")
}

extension [UInt8] {
    /// Returns the range of the name before an `=`, whether spaces may follow the `=`, and whether the name is the
    /// first word of its line.
    fileprivate func findName(before equals: Int, from floor: Int) -> (name: Range<Int>, isWord: Bool, isFirst: Bool) {
        var end = equals
        while end > floor, self[end - 1].isBlank { end -= 1 }
        let start = self[floor..<end].lastIndex { !ASCIISet.pairName.contains($0) }.map { $0 + 1 } ?? floor
        // In a query, directly after `?` or `&`, a space ends the value.
        let isWord = start == floor || !ASCIISet("?&;#/").contains(self[start - 1])
        let before = self[..<start].last { !$0.isBlank } ?? .lineFeed
        return (start..<end, isWord, before == .lineFeed)
    }
}

extension [UInt8] {
    /// Returns the byte that an escape at a percent sign stands for, and the escape's end: `%3D`, or `%253D` within an
    /// escaped text. Nil if no escape is there.
    fileprivate func escape(at percent: Int) -> (byte: UInt8, end: Int)? {
        var start = percent + 1
        while start + 2 < count, self[start] == UInt8(ascii: "2"), self[start + 1] == UInt8(ascii: "5"),
            self[start + 2].hexValue != nil
        {
            start += 2
        }
        guard start + 1 < count, let high = self[start].hexValue, let low = self[start + 1].hexValue else { return nil }
        return (high << 4 | low, start + 2)
    }

    /// Returns the end of the first or the last line of a private key in PEM. Nil for any other text.
    fileprivate func endOfKeyMark(_ mark: String, at start: Int) -> Int? {
        guard self[start...].starts(with: mark.utf8) else { return nil }
        let label = self[(start + mark.utf8.count)...].prefix(80).prefix(while: ASCIISet.keyLabel.contains)
        let name = String(decoding: label.filter { 0x41...0x5A ~= $0 }, as: UTF8.self)
        let end = label.endIndex
        guard name.hasSuffix("PRIVATEKEY") || name.hasSuffix("PRIVATEKEYBLOCK"), self[end...].starts(with: "-----".utf8)
        else { return nil }
        return end + 5
    }

    /// Returns whether the byte may belong to an escape before a name: `\nCookie: …`, `\npwd=…`, `\nBearer …`.
    func isLetterOfEscape(at index: Int) -> Bool {
        index > 0 && self[index - 1] == .backslash && ASCIISet.escapes.contains(self[index])
    }

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
