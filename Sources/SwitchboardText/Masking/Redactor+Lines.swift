import Foundation

extension Redactor {
    /// Redacts the values of secret names in header fields (also within prose), in YAML, and in the parts of
    /// `multipart/form-data`.
    func lines(in text: SearchedText) -> SearchedText {
        var reader = LineRedactor(redactor: self, bytes: text.bytes)
        reader.run()
        return text.replacing(reader.replacements)
    }
}

/// Redacts a text line by line.
private struct LineRedactor {
    private enum State {
        case normal
        /// The head of a part with a secret name.
        case partHead
        /// The content of a part with a secret name, which starts at this index.
        case part(Int)
        /// The lines after a secret key. Lines with a deeper indent belong to its value, and so does a list directly
        /// below the key.
        case value(indent: Int, isShown: Bool, isList: Bool)
    }

    let redactor: Redactor
    let bytes: [UInt8]
    private(set) var replacements = Replacements()
    private var state = State.normal
    /// The first bytes of each part.
    private var boundary: [UInt8] = Array("--".utf8)
    /// The number of open braces.
    private var braces = 0

    init(redactor: Redactor, bytes: [UInt8]) {
        (self.redactor, self.bytes) = (redactor, bytes)
    }

    mutating func run() {
        var start = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: .lineFeed).map { $0 + 1 } ?? bytes.count
            read(start..<end)
            start = end
        }
        if case .part(let start) = state { hide(start..<bytes.count) }
    }

    private mutating func read(_ line: Range<Int>) {
        let text = bytes[line]
        let indent = text.prefix { $0 == 0x20 || $0 == 0x09 }.count
        let isBlank = text.allSatisfy(\.isSpace)
        switch state {
        case .part(let start):
            guard text.starts(with: boundary) else { return }
            hide(start..<line.lowerBound, "\r\n")
        case .partHead:
            if isBlank { return state = .part(line.upperBound) }
            redactFields(in: line, indent)
            return state = .partHead
        case .value(let own, let isShown, let isList):
            if isBlank { return }
            let isItem =
                isList && text.dropFirst(indent).starts(with: "-".utf8)
                && text.dropFirst(indent + 1).first?.isSpace != false
            if indent > own || indent == own && isItem {
                if isShown { replacements.add(line, []) } else { hide(line, text.last == .lineFeed ? "\n" : "") }
                return state = .value(indent: own, isShown: true, isList: isList)
            }
        case .normal: break
        }
        state = .normal
        redactFields(in: line, indent)
    }

    private mutating func hide(_ range: Range<Int>, _ end: String = "") {
        replacements.add(range, Array(redactor.mask.utf8) + end.utf8)
    }

    /// Returns the end of a field whose value continues in indented lines.
    private func endOfFolded(_ line: Range<Int>) -> Int {
        var end = line.upperBound
        while end < bytes.count, bytes[end].isBlank {
            end = bytes[end...].firstIndex(of: .lineFeed).map { $0 + 1 } ?? bytes.count
        }
        return end
    }

    private mutating func redactFields(in line: Range<Int>, _ indent: Int) {
        let start = line.lowerBound + indent
        if bytes[line].starts(with: [0x2D, 0x2D]) { boundary = Array(bytes[line].prefix { !$0.isSpace }) }
        if bytes[start...].starts(withLowercase: "content-disposition:") {
            let end = indent == 0 ? endOfFolded(line) : line.upperBound
            let names = String(decoding: bytes[line.lowerBound..<end], as: UTF8.self).dispositionNames
            if names.contains(where: redactor.isSecret(parameter:)) { state = .partHead }
        }
        var key = start
        while key + 1 < line.upperBound, bytes[key] == UInt8(ascii: "-"), bytes[key + 1] == .space { key += 2 }
        // The end of the last redacted value.
        var rest = line.lowerBound
        var index = line.lowerBound
        while let colon = bytes[index..<line.upperBound].firstIndex(of: .colon) {
            for byte in bytes[index..<colon] { count(byte) }
            let blanks = bytes[index..<colon].reversed().prefix(while: \.isBlank).count
            let last = colon - blanks
            let name = bytes[index..<last].reversed().prefix { ASCIISet.fieldName.contains($0) }.count
            let first = last - name
            let isFirst = first == key
            index = colon + 1
            guard name > 0 else { continue }
            // The letter of an escape looks like a part of the name: `\nCookie: …`.
            let start = bytes.isLetterOfEscape(at: first) ? first + 1 : first
            let escaped = isFirst ? nil : bytes.escapedLine(beginningAt: start)
            // YAML allows blanks before a colon (YAML 1.2.2 §7.4.2). Within a line, such a colon belongs to a sentence.
            guard blanks == 0 || isFirst || escaped != nil else { continue }
            if bytes[start..<last].equalsLowercase("sec-websocket-protocol") {
                let end = bytes.endOfField(from: index, line.upperBound, escaped?.depth)
                let list = String(decoding: bytes[index..<end], as: UTF8.self)
                for (piece, masked) in zip(list.pieces(between: .comma), redactor.protocols(list)) {
                    let next = index + piece.utf8.count
                    if masked != piece { replacements.add(index..<next, masked.utf8) }
                    index = next + 1
                }
                (rest, index) = (end, end)
                continue
            }
            let inner = start > first ? value(of: start..<last, isFirst, line, rest, escaped) : nil
            guard let range = inner ?? value(of: first..<last, isFirst, line, rest, start > first ? nil : escaped)
            else { continue }
            if isFirst {
                state = .value(indent: key - line.lowerBound, isShown: !range.isEmpty, isList: range.isEmpty)
            }
            guard !range.isEmpty, !redactor.isMask(bytes, from: range.lowerBound, to: range.upperBound) else {
                continue
            }
            hide(range)
            (rest, index) = (range.upperBound, range.upperBound)
        }
        for byte in bytes[index..<line.upperBound] { count(byte) }
    }

    private mutating func count(_ byte: UInt8) {
        if byte == .leftBrace { braces += 1 }
        if byte == .rightBrace { braces = max(0, braces - 1) }
    }

    /// Returns the range of the value for a name before a colon. Nil if the name is not a secret's or the text is no
    /// field. The field may begin an escaped line.
    private func value(
        of name: Range<Int>, _ isFirst: Bool, _ line: Range<Int>, _ rest: Int, _ escaped: EscapedLine?
    ) -> Range<Int>? {
        let field = String(decoding: bytes[name], as: UTF8.self)
        let isHeader = redactor.isSecret(header: field)
        let isWord = !field.utf8.contains(UInt8(ascii: "-"))
        let isStructured = isHeader && redactor.isStructured(field)
        let beginsLine = isFirst || escaped != nil
        let before = bytes[rest..<name.lowerBound].last { !$0.isSpace }
        let isFlow = braces > 0 && (before == .leftBrace || before == .comma)
        let colon = bytes[name.upperBound...].firstIndex(of: .colon) ?? name.upperBound
        let start = bytes[(colon + 1)..<line.upperBound].firstIndex { !$0.isSpace } ?? line.upperBound
        guard
            isHeader && (!isWord || isStructured || beginsLine)
                || redactor.isSecret(member: field, before: start < bytes.count ? bytes[start] : nil)
        else { return nil }
        let isEnd = start == line.upperBound
        // The line of a head needs no space, and a quoted value does not either: `login(password:"…")`.
        let quoted = isEnd ? nil : bytes.quotedText(from: start)
        let isSpaced = isEnd || bytes[colon + 1].isSpace || escaped != nil && bytes[colon + 1] == .backslash
        guard isSpaced || isStructured || quoted != nil || beginsLine && isHeader && !isWord else { return nil }
        guard !isEnd else { return isFirst ? start..<start : nil }
        let isWhole = isFirst && isWord && !isStructured
        // A single word inside a line is prose: `bad token: it is too old`, `with token: …`.
        let isProse = isWord && !isFirst && !isFlow && !isStructured
        if isProse, NonSecretText.beginsMessage(bytes[start..<line.upperBound]) { return nil }
        if isWhole, NonSecretText.isMessage(bytes[start..<line.upperBound]) { return nil }
        // A field that begins its line is not within quotes or markup, and no other field follows it in its line.
        let isOwnLine = isFirst && isHeader
        if !isWhole, let quoted, !isOwnLine || bytes.isEnd(ofValueQuotedTo: quoted.upperBound) { return quoted }
        var endOfLine: Int {
            bytes[start..<line.upperBound].firstIndex { ASCIISet.lineEnd.contains($0) } ?? line.upperBound
        }
        let next = isWhole ? start : bytes.endOfBrackets(from: start, line.upperBound)
        if isStructured || escaped != nil {
            let end = isFirst ? endOfLine : bytes.endOfField(from: next, line.upperBound, escaped?.depth)
            guard let escaped, end == start || beginsBlock(start..<end) else { return start..<end }
            return start..<bytes.endOfBlock(after: end, line.upperBound, escaped)
        }
        if isProse { return start..<bytes.endOfWord(from: next, line.upperBound) }
        let end = isWhole || isOwnLine ? endOfLine : bytes.endOfList(from: next, line.upperBound)
        return start..<(isFirst && beginsBlock(start..<line.upperBound) ? start : end)
    }

    /// Whether the value is in the next lines: after `|` or `>`, a sign or a digit or both as in `|-2`, and a comment
    /// (YAML 1.2.2 §8.1.1).
    private func beginsBlock(_ value: Range<Int>) -> Bool {
        guard let first = bytes[value].first, first == UInt8(ascii: "|") || first == .greaterThan else { return false }
        let indicators = bytes[value].dropFirst().prefix { ASCIISet.blockIndicators.contains($0) }
        let isPair = indicators.count == 2 && indicators.first?.isDigit != indicators.last?.isDigit
        guard indicators.count < 2 || isPair else { return false }
        let rest = bytes[indicators.endIndex..<value.upperBound]
        guard let end = rest.firstIndex(where: { !$0.isSpace }) else { return true }
        return bytes[end] == UInt8(ascii: "#") && bytes[end - 1].isBlank
    }
}

/// A line of a text within a string of JSON.
struct EscapedLine {
    /// The depth of the string: 0 after `\n`, and 1 after `\\n` in JSON within JSON.
    let depth: Int
    /// The number of bytes before the first word.
    let indent: Int
}

extension Redactor {
    /// Returns whether the values of a field contain commas, semicolons and quotes.
    fileprivate func isStructured(_ name: String) -> Bool {
        ["authorization", "cookie", "cookie2", "dpop"].contains { name.lowercased().hasSuffix($0) }
    }
}

extension [UInt8] {
    /// Returns the end of a value in brackets, as Swift prints it: `Optional("…")`, `["…"]`. Without brackets, returns
    /// the index itself.
    fileprivate func endOfBrackets(from start: Int, _ limit: Int) -> Int {
        guard var index = self[start..<limit].firstIndex(where: { !ASCIISet.fieldName.contains($0) }) else {
            return start
        }
        var nesting = 0
        repeat {
            switch self[index] {
            case UInt8(ascii: "("), .leftBracket: nesting += 1
            case UInt8(ascii: ")"), .rightBracket: nesting -= 1
            default: if nesting == 0 { return start }
            }
            index += 1
        } while nesting > 0 && index < limit
        return nesting < 0 ? start : index
    }

    /// Returns whether only punctuation follows the closing quote of a quoted text in its line.
    fileprivate func isEnd(ofValueQuotedTo end: Int) -> Bool {
        guard let quote = self[end...].firstIndex(where: { $0 != .backslash }), self[quote] != .lineFeed else {
            return true
        }
        let next = self[(quote + 1)...].first { $0 == .lineFeed || !ASCIISet.afterText.contains($0) }
        return next == nil || next == .lineFeed
    }

    /// Returns the end of a word in prose, without punctuation after it. A field on the next escaped line is not a part
    /// of the word.
    fileprivate func endOfWord(from start: Int, _ limit: Int) -> Int {
        var end = self[start..<limit].firstIndex { ASCIISet.wordEnd.contains($0) } ?? limit
        var index = start
        while index < end, let colon = self[index..<end].firstIndex(of: .colon) {
            var name = colon - self[index..<colon].reversed().prefix { ASCIISet.fieldName.contains($0) }.count
            index = colon + 1
            while name > start, isLetterOfEscape(at: name) {
                end = Swift.max(start, name - backslashes(before: name))
                name = end - 1
            }
        }
        return self[start..<end].lastIndex { !ASCIISet.afterWord.contains($0) }.map { $0 + 1 } ?? start
    }

    /// Returns the end of a value that may contain commas and semicolons. It ends before a separator that another field
    /// follows.
    fileprivate func endOfList(from start: Int, _ limit: Int) -> Int {
        var index = start
        while index < limit, !ASCIISet.valueEnd.contains(self[index]) {
            if self[index] == .comma || self[index] == .semicolon {
                let next = self[(index + 1)..<limit].firstIndex { !$0.isBlank } ?? limit
                let end = self[next..<limit].firstIndex { !ASCIISet.fieldName.contains($0) } ?? limit
                let isPair = end > next && end < limit
                if isPair, self[end] == .colon || self[index] == .semicolon && self[end] == .equals { return index }
            }
            index += 1
        }
        return index
    }

    /// Returns the escaped line that begins at the index. Blanks and the marks of a list may precede it. An escaped tab,
    /// as between two columns, begins a line too. Nil within a line.
    func escapedLine(beginningAt start: Int) -> EscapedLine? {
        let letter = self[..<start].lastIndex { !$0.isBlank && $0 != UInt8(ascii: "-") }
        guard let letter, isLetterOfEscape(at: letter) else { return nil }
        return EscapedLine(depth: backslashes(before: letter).trailingZeroBitCount, indent: start - letter - 1)
    }

    /// Returns the end of the lines with a deeper indent after an escaped line, which form a block of YAML.
    fileprivate func endOfBlock(after line: Int, _ end: Int, _ escaped: EscapedLine) -> Int {
        let width = 1 << escaped.depth  // the backslashes of a line end
        var last = line
        while true {
            var index = last
            while index + width < end, self[index..<index + width].allSatisfy({ $0 == .backslash }),
                self[index + width] == UInt8(ascii: "n") || self[index + width] == UInt8(ascii: "r")
            {
                index += width + 1
            }
            let indent = self[index..<end].prefix(while: \.isBlank).count
            guard index > last, indent > escaped.indent else { return last }
            last = endOfField(from: index + indent, end, escaped.depth)
        }
    }

    /// Returns the end of a field: the end of the line, or of the text that contains the field. In an escaped line, the
    /// depth is that of its string. Escapes with more backslashes belong to the field.
    func endOfField(from start: Int, _ end: Int, _ depth: Int?) -> Int {
        var index = start
        while index < end {
            let run = self[index..<end].prefix { $0 == .backslash }.count
            index += run
            guard index < end else { break }
            let byte = self[index]
            switch byte {
            case .lineFeed, .carriageReturn: return index
            case .lessThan, .greaterThan:
                if depth == nil { return index }
            case UInt8(ascii: "n"), UInt8(ascii: "r"):
                if run > 0, run.trailingZeroBitCount <= depth ?? .max { return index - 1 << run.trailingZeroBitCount }
            case .quote, .apostrophe:
                guard (~run).trailingZeroBitCount <= depth ?? .max else { break }
                let next = index + 1 < end ? self[index + 1] : .lineFeed
                if self[start..<index - run].last == .equals, !ASCIISet.afterText.contains(next) {
                    // A quoted value inside the field. The padding of Base64 precedes the end of a text.
                    guard let close = self[(index + 1)..<end].firstIndex(of: byte) else { return end }
                    index = close
                } else if byte == .quote || !ASCIISet.alphanumerics.contains(next) {
                    return index - run
                }
            default: break
            }
            index += 1
        }
        return end
    }
}

extension ASCIISet {
    fileprivate static let fieldName = alphanumerics.union(ASCIISet("-_."))
    fileprivate static let valueEnd = ASCIISet("\r\n\"'<>)}")
    fileprivate static let wordEnd = ASCIISet(" \t\r\n\"'<>")
    fileprivate static let afterWord = ASCIISet(",;.)}]!?\\")
    static let afterText = ASCIISet(",}]): \r\n")
    fileprivate static let blockIndicators = ASCIISet("+-123456789")
}
