extension Redaction {
    /// A body's text with the values of secret names replaced: JSON members and form pairs.
    ///
    /// The text need not be whole or valid; what looks like a member with a secret name is replaced all the same.
    /// Markup stays as it is.
    public func text(_ text: String) -> String {
        guard !parameterNames.isEmpty || !memberNames.isEmpty, text.first(where: { !$0.isWhitespace }) != "<" else {
            return text
        }
        // What comes first tells the two apart: `{"a":"b=c"}`, also behind a byte-order mark or a guard, and `a=b"c`.
        return switch text.utf8.first(where: { $0 == UInt8(ascii: "\"") || $0 == .equals }) {
        case UInt8(ascii: "\""): json(text)
        case .equals: form(text)
        default: text
        }
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
            let name = String(decoding: literal.dropFirst().dropLast(), as: UTF8.self).lowercased()
            guard memberNames.contains(name), let colon = scanner.colon() else { continue }
            result += colon
            scanner.skipValue()
            result += "\"\(mask)\"".utf8
        }
        return String(decoding: result, as: UTF8.self)
    }
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
