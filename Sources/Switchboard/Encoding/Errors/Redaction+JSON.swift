import Foundation

extension Redaction {
    /// A body's text with the values of secret names replaced: JSON members, form pairs, XML elements, and the queries
    /// of URLs wherever they stand.
    ///
    /// The text need not be whole or valid; what looks like a member with a secret name is replaced all the same.
    public func text(_ text: String) -> String {
        guard !isNone else { return text }
        if text.first(where: { !$0.isWhitespace }) == "<" { return pairs(in: elements(in: text)) }
        // What comes first tells the two apart: `{"a":"b=c"}`, also behind a byte-order mark or a guard, and `a=b"c`.
        return switch text.utf8.first(where: { $0 == UInt8(ascii: "\"") || $0 == .equals }) {
        case UInt8(ascii: "\""): pairs(in: json(text))
        case .equals: text.utf8.contains(.space) ? pairs(in: text) : pairs(in: form(text))
        default: text
        }
    }

    /// Text with the values of `name=value` replaced for secret names, as they stand in URLs amid prose, markup and
    /// JSON, and those of header lines: `Authorization: Bearer …`.
    func pairs(in text: String) -> String {
        guard !isNone else { return text }
        let text = lines(in: text)
        guard text.utf8.contains(.equals) else { return text }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            result.append(bytes[index])
            index += 1
            guard result.last == .equals else { continue }
            let name = result.dropLast().reversed().prefix { ASCIISet.pairName.contains($0) }.reversed()
            guard !name.isEmpty, isSecret(parameter: String(decoding: name, as: UTF8.self)) else { continue }
            let end = bytes[index...].firstIndex { ASCIISet.pairEnd.contains($0) } ?? bytes.count
            guard end > index else { continue }  // nothing, or a mask that is there already
            result += mask.utf8
            index = end
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Text with the values of header fields replaced, as they stand in prose, to the end of their line.
    private func lines(in text: String) -> String {
        guard text.contains(": ") else { return text }
        var pieces = text.components(separatedBy: ": ")
        for index in pieces.indices.dropFirst() {
            let name = pieces[index - 1].utf8.reversed().prefix { ASCIISet.fieldName.contains($0) }.reversed()
            let field = String(decoding: name, as: UTF8.self)
            // A name of one word that only ends like a secret's is prose: `bad token: it is too old`.
            guard isSecret(header: field), isListed(header: field) || field.contains("-") else { continue }
            let end = pieces[index].firstIndex { $0.isNewline || "\"'<>,;)}".contains($0) } ?? pieces[index].endIndex
            guard end > pieces[index].startIndex, !pieces[index].hasPrefix(mask) else { continue }
            pieces[index].replaceSubrange(..<end, with: mask)
        }
        return pieces.joined(separator: ": ")
    }

    /// Markup with the content of elements with a secret name replaced.
    private func elements(in text: String) -> String {
        var result = ""
        for (index, piece) in text.split(separator: "<", omittingEmptySubsequences: false).enumerated() {
            if index > 0 { result += "<" }
            let tag = piece.prefix { $0 != ">" }
            let name = tag.prefix { !$0.isWhitespace }.split(separator: ":").last ?? ""
            guard index > 0, tag.endIndex < piece.endIndex, !tag.hasPrefix("/"), isSecret(member: String(name)) else {
                result += piece
                continue
            }
            result += tag + ">" + mask
        }
        return result
    }

    private func json(_ text: String) -> String {
        var scanner = JSONScanner(bytes: Array(text.utf8))
        var result: [UInt8] = []
        while let byte = scanner.peek {
            guard byte == UInt8(ascii: "\"") else {
                result.append(byte)
                scanner.position += 1
                continue
            }
            let literal = scanner.string()
            result += literal
            let name = String(decoding: literal.dropFirst().dropLast(), as: UTF8.self)
            guard isSecret(member: name), let colon = scanner.colon() else { continue }
            result += colon
            scanner.skipValue()
            result += "\"\(mask)\"".utf8
        }
        return String(decoding: result, as: UTF8.self)
    }
}

extension ASCIISet {
    fileprivate static let fieldName = alphanumerics.union(ASCIISet("-_"))
    fileprivate static let pairName = alphanumerics.union(ASCIISet("-_.[]%"))
    fileprivate static let pairEnd = ASCIISet("&\"'<> \t\r\n;,)}]\\")
}

/// Steps over JSON text that may be cut short or wrong anywhere.
private struct JSONScanner {
    let bytes: [UInt8]
    var position = 0

    var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    /// The string literal here, quotes included.
    mutating func string() -> ArraySlice<UInt8> {
        let start = position
        position += 1
        while let byte = peek, byte != UInt8(ascii: "\"") {
            position += byte == UInt8(ascii: "\\") ? 2 : 1
        }
        position = min(position + 1, bytes.count)
        return bytes[start..<position]
    }

    /// The colon here with the blanks around it, or nil when the literal before was no name.
    mutating func colon() -> ArraySlice<UInt8>? {
        let start = position
        skipBlanks()
        guard peek == UInt8(ascii: ":") else {
            position = start
            return nil
        }
        position += 1
        skipBlanks()
        return bytes[start..<position]
    }

    mutating func skipValue() {
        var depth = 0
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                _ = string()
                if depth == 0 { return }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return }
                depth -= 1
                if depth == 0 {
                    position += 1
                    return
                }
            case UInt8(ascii: ","):
                if depth == 0 { return }
            default:
                break
            }
            position += 1
        }
    }

    private mutating func skipBlanks() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
    }
}
