import Foundation

extension Redactor {
    /// Redacts markup: the content of elements and the values of attributes with a secret name, and the values in
    /// `<input name="token" value="…">`, `<string name="token">…</string>` and `<key>token</key><string>…</string>`.
    func markup(in text: SearchedText) -> SearchedText {
        let bytes = text.bytes
        let isMarkup = bytes.first { !$0.isSpace } == .lessThan
        var closings: MarkupTag.Closings?
        // The end of the comment or CDATA section that contains the tag.
        var section = 0
        // True after an element that names a secret.
        var isAfterName = false
        var replacements = Replacements()
        func hide(_ range: Range<Int>) {
            if !range.isEmpty { replacements.add(range, mask.utf8) }
        }
        var index = 0
        while let start = bytes[index...].firstIndex(of: .lessThan) {
            index = start + 1
            if start >= section, let end = MarkupTag.endOfSection(in: bytes, at: start) { section = end }
            guard let tag = MarkupTag(bytes, at: start) else { continue }
            index = tag.end
            let isNamed = tag.attributes.contains {
                MarkupTag.naming.contains($0.name.lowercased())
                    && isSecret(member: String(decoding: bytes[$0.value], as: UTF8.self))
            }
            for attribute in tag.attributes
            where isSecret(member: attribute.name) || isNamed && MarkupTag.valued.contains(attribute.name.lowercased())
            {
                hide(attribute.value)
            }
            let name = tag.name.lowercased()
            let isValue = isAfterName && (MarkupTag.valued.contains(name) || MarkupTag.typed.contains(name))
            isAfterName = tag.hasContent && MarkupTag.naming.contains(name) && isSecret(member: tag.text(in: bytes))
            guard tag.hasContent else { continue }
            let isInside = start < section
            let limit = isInside ? section : bytes.count
            guard isValue || isSecret(member: tag.name) else {
                let hasValue = tag.attributes.contains { MarkupTag.valued.contains($0.name.lowercased()) }
                guard isNamed, !hasValue else { continue }
                if let end = tag.endOfText(in: bytes, upTo: limit, isInside: isInside, isMarkup) {
                    hide(tag.end..<end)
                    index = end
                }
                continue
            }
            let endTags = closings ?? MarkupTag.closings(in: bytes)
            closings = endTags
            let last = (isInside ? endTags.inside : endTags.outside)[name]
            if let last, last >= tag.end {
                // A `<` in an attribute's value may look like the end tag.
                let end =
                    isInside
                    ? endTags.matches[start].flatMap { $0 < tag.end ? nil : $0 }
                    : MarkupTag.end(of: tag, in: bytes, upTo: last)
                index = end ?? (isInside ? Swift.max(section, tag.end) : last)
            } else if isMarkup {
                index = Swift.max(limit, tag.end)  // the text is truncated
            } else {
                continue
            }
            hide(tag.end..<index)
        }
        return text.replacing(replacements)
    }
}

/// A start tag, which may be truncated.
private struct MarkupTag {
    static let naming: Set<String> = ["name", "id", "key", "property"]
    static let valued: Set<String> = ["value", "content"]
    /// The elements of property lists that may contain a secret.
    static let typed: Set<String> = ["string", "data", "integer", "array", "dict"]

    /// The name without a namespace prefix.
    var name = ""
    var attributes: [(name: String, value: Range<Int>)] = []
    /// The index after the tag.
    var end: Int
    /// Whether the tag is complete and an end tag may follow.
    var hasContent = false

    /// Parses a start tag. Nil if the text at `start` is not one.
    init?(_ bytes: [UInt8], at start: Int) {
        end = start + 1
        name = Self.name(in: bytes, from: &end)
        guard !name.isEmpty else { return nil }
        while end < bytes.count, bytes[end] != .lessThan {
            let byte = bytes[end]
            if byte == .greaterThan {
                hasContent = bytes[end - 1] != .slash
                end += 1
                return
            }
            let attribute = Self.name(in: bytes, from: &end)
            guard !attribute.isEmpty else {
                end += 1
                continue
            }
            var value = end
            while value < bytes.count, bytes[value].isSpace { value += 1 }
            guard value < bytes.count, bytes[value] == .equals else { continue }
            repeat { value += 1 } while value < bytes.count && bytes[value].isSpace
            end = value
            guard value < bytes.count else { return }
            // Markup inside a JSON string.
            if bytes[value] == .backslash, let quoted = bytes.quotedText(from: value) {
                attributes.append((attribute, quoted))
                end = quoted.upperBound
                continue
            }
            let quote = bytes[value]
            guard quote == .quote || quote == .apostrophe else {
                while end < bytes.count, !bytes[end].isSpace, bytes[end] != .greaterThan, bytes[end] != .lessThan {
                    end += 1
                }
                attributes.append((attribute, value..<end))
                continue
            }
            let close = bytes[(value + 1)...].firstIndex(of: quote)
            attributes.append((attribute, value + 1..<(close ?? bytes.count)))
            // An attribute without a closing quote must not hide the next tag.
            end = close.map { $0 + 1 } ?? value + 1
        }
    }

    /// Returns the text up to the next tag, at most 256 bytes.
    func text(in bytes: [UInt8]) -> String {
        let text = bytes[end...].prefix(256).prefix { $0 != .lessThan }
        return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Returns the end of the content if it is a text without elements, which may be truncated. Nil otherwise. The end of
    /// a section ends the text of a tag inside it, so that each section is searched once.
    func endOfText(in bytes: [UInt8], upTo limit: Int, isInside: Bool, _ isMarkup: Bool) -> Int? {
        let limit = Swift.max(limit, end)
        var index = end
        while let start = bytes[index..<limit].firstIndex(of: .lessThan) {
            guard !isInside, let section = Self.endOfSection(in: bytes, at: start) else {
                let isElement = start + 1 < bytes.count && ASCIISet.tagName.contains(bytes[start + 1])
                return isElement ? nil : start
            }
            index = section
        }
        return isInside || isMarkup ? limit : nil
    }

    private static func name(in bytes: [UInt8], from index: inout Int) -> String {
        let start = index
        while index < bytes.count, ASCIISet.tagName.contains(bytes[index]) { index += 1 }
        let local = bytes[start..<index].lastIndex(of: .colon).map { $0 + 1 } ?? start
        return String(decoding: bytes[(local == index ? start : local)..<index], as: UTF8.self)
    }

    /// The start of the last end tag of each name. End tags in comments and CDATA sections are separate, because outside
    /// they are text.
    struct Closings {
        var outside: [String: Int] = [:]
        var inside: [String: Int] = [:]
        /// The matching end tag of each start tag in a section, by their starts. It may be in a later section.
        var matches: [Int: Int] = [:]
    }

    static func closings(in bytes: [UInt8]) -> Closings {
        var closings = Closings()
        var open: [String: [Int]] = [:]
        var (index, section) = (0, 0)
        while let start = bytes[index...].firstIndex(of: .lessThan) {
            index = start + 1
            if start >= section, let end = endOfSection(in: bytes, at: start) { section = end }
            let (isInside, isEnd) = (start < section, index < bytes.count && bytes[index] == .slash)
            guard isInside || isEnd else { continue }
            if isEnd { index += 1 }
            let name = name(in: bytes, from: &index).lowercased()
            if !isEnd {
                open[name, default: []].append(start)
            } else if isInside {
                closings.inside[name] = start
                if let opening = open[name]?.popLast() { closings.matches[opening] = start }
            } else {
                closings.outside[name] = start
            }
        }
        return closings
    }

    /// Returns the index after the comment or CDATA section at `start`, or nil if none starts there.
    static func endOfSection(in bytes: [UInt8], at start: Int) -> Int? {
        for (opening, closing) in [("<![CDATA[", "]]>"), ("<!--", "-->")]
        where bytes[start...].starts(with: opening.utf8) {
            var index = start + opening.utf8.count
            while index < bytes.count, !bytes[index...].starts(with: closing.utf8) { index += 1 }
            return Swift.min(index + closing.utf8.count, bytes.count)
        }
        return nil
    }

    /// Returns the start of the matching end tag of a tag outside of sections, or nil. `last` is that of the last end tag
    /// with this name. The caller continues there, so each byte is read once.
    static func end(of tag: MarkupTag, in bytes: [UInt8], upTo last: Int) -> Int? {
        var (index, depth) = (tag.end, 1)
        while let start = bytes[index...].firstIndex(of: .lessThan), start <= last {
            index = start + 1
            if let section = endOfSection(in: bytes, at: start) {
                index = section
                continue
            }
            let isEnd = index < bytes.count && bytes[index] == .slash
            if isEnd { index += 1 }
            guard name(in: bytes, from: &index).equalsIgnoringCase(tag.name) else { continue }
            depth += isEnd ? -1 : 1
            if depth == 0 { return start }
        }
        return nil
    }
}

extension ASCIISet {
    fileprivate static let tagName = alphanumerics.union(ASCIISet("-_.:"))
}
