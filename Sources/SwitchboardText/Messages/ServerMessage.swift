import Foundation

/// Finds a server's error message in a body of one of the common formats. It searches to a fixed depth.
package struct ServerMessage {
    /// The members of a JSON object to search, in this order.
    private let keys: [String]

    package init(keys: [String]) {
        self.keys = keys
    }

    /// Returns the message, cut after 1,000 characters. Nil if the body has none or is larger than 64 KiB.
    package func text(in body: Data) -> String? {
        // A larger body is no error message.
        guard body.count <= 65_536 else { return nil }
        let body = body.withoutMark
        switch body.first(where: { $0 > 0x20 }) {
        case .leftBrace: return jsonText(body).map(Self.redacted)
        case .lessThan: return XMLMessage(body: body).text.map(Self.redacted)
        default: return nil
        }
    }

    /// Returns a body of `text/plain` as a message, cut after 1,000 characters. Nil for another type, for more than
    /// 64 KiB, and for bytes that are no text.
    package func plainText(in body: Data, as contentType: String?) -> String? {
        guard contentType?.mediaType == "text/plain", body.count <= 65_536,
            let text = contentType?.charset.flatMap({ body.text(inCharset: $0) })
                ?? String(data: body.withoutMark, encoding: .utf8)
        else {
            return nil
        }
        let words = text.trimmingCharacters(in: .whitespacesAndNewlines)
        let isText = !words.utf8.contains { $0 < 0x20 && !(0x09...0x0D).contains($0) }
        return words.isEmpty || !isText ? nil : Self.redacted(words)
    }

    /// Returns the title of a body in HTML, cut after 1,000 characters. Nil if it has none within 64 KiB.
    package func title(of body: Data) -> String? {
        guard body.first(where: { $0 > 0x20 }) == .lessThan else { return nil }
        let page = String(decoding: body.prefix(65_536), as: UTF8.self)
        guard let start = page.range(of: "<title", options: .caseInsensitive)?.upperBound,
            let open = page.utf8[start...].firstIndex(of: .greaterThan),
            let end = page[open...].range(of: "</title", options: .caseInsensitive)?.lowerBound
        else { return nil }
        let words = XMLMessage.unescaped(String(page[page.utf8.index(after: open)..<end])).split(
            whereSeparator: \.isWhitespace)
        return words.isEmpty ? nil : Self.redacted(words.joined(separator: " "))
    }

    private static func redacted(_ text: String) -> String {
        let text = Redactor.standard.pairs(in: text)
        let scalars = text.unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: 1_000, limitedBy: scalars.endIndex),
            end < scalars.endIndex
        else { return text }
        return String(scalars[..<end]) + "…"
    }

    private func jsonText(_ body: Data) -> String? {
        guard let object = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any] else { return nil }
        let inner = object["error"] as? [String: Any] ?? [:]
        for key in keys {
            for value in [object[key], inner[key]] {
                guard let text = Self.text(of: value, isFields: key == "errors") else { continue }
                return key == "errors" ? text : Self.adding(object["errors"], to: text)
            }
        }
        return nil
    }

    /// Adds the texts by field that a message lacks, as Laravel sends them in the same object. Only the first hundred
    /// are added, because each one is searched in the whole message.
    private static func adding(_ errors: Any?, to text: String) -> String {
        guard let errors = errors as? [String: Any] else { return text }
        let bytes = Data(text.utf8)
        let missing = fields(errors).prefix(100).lazy.filter { bytes.firstRange(ofBytes: Data($0.utf8)) == nil }
        guard let more = joined(missing) else { return text }
        return text + (text.last?.isPunctuation == true ? " " : ": ") + more
    }

    /// Returns the text of a value. `["a", {"message": "b"}]` becomes `a; b`.
    private static func text(of value: Any?, isFields: Bool) -> String? {
        switch value {
        case let list as [Any]: joined(list.lazy.compactMap(item))
        case let object as [String: Any]: item(object) ?? (isFields ? joined(fields(object)) : nil)
        default: value.flatMap(item)
        }
    }

    /// Joins the first five texts.
    private static func joined(_ texts: some Sequence<String>) -> String? {
        let text = texts.prefix(5).joined(separator: "; ")
        return text.isEmpty ? nil : text
    }

    private static func item(_ value: Any) -> String? {
        if let text = value as? String { return text.isEmpty ? nil : text }
        guard let object = value as? [String: Any] else { return nil }
        let text = ["message", "msg", "detail", "description", "title"].lazy.compactMap { object[$0] as? String }
            .first { !$0.isEmpty }
        // The errors of FastAPI have a location: `["body", "email"]`.
        guard let text, let location = object["loc"] as? [Any] else { return text }
        // The description of deeply nested arrays could overflow the stack.
        let field = location.dropFirst().filter { $0 is String || $0 is Int }.map { "\($0)" }.joined(separator: ".")
        return field.isEmpty ? text : "\(field): \(text)"
    }

    /// Returns a text for each field. `{"email": ["is taken"]}` becomes `email is taken`. A text with a capital letter
    /// stays alone.
    private static func fields(_ object: [String: Any]) -> [String] {
        object.keys.sorted().flatMap { name in
            (object[name] as? [Any] ?? [object[name] as Any]).compactMap(item).map { text in
                text.first?.isUppercase == true || name == "base" ? text : "\(name) \(text)"
            }
        }
    }
}

/// Finds the message in an XML error of S3 and similar services, or in an XML problem ([RFC 9457, appendix
/// B](https://www.rfc-editor.org/rfc/rfc9457#appendix-B)).
private struct XMLMessage {
    let body: Data

    var text: String? {
        let names: [String]
        switch root {
        case "Error", "ErrorResponse": names = ["Message"]
        case "problem": names = ["detail", "title"]
        default: return nil
        }
        return names.lazy.compactMap(content).first { !$0.isEmpty }
    }

    /// The name of the first element, without its prefix.
    private var root: String? {
        var rest = body[...]
        while let start = rest.firstIndex(of: .lessThan) {
            rest = rest[(start + 1)...]
            let end = rest.starts(with: "!--".utf8) ? "-->" : rest.first == .questionMark ? "?>" : nil
            if let end {
                guard let found = rest.range(of: Data(end.utf8)) else { return nil }
                rest = rest[found.upperBound...]
                continue
            }
            let name = rest.prefix { $0 > 0x20 && $0 != .greaterThan && $0 != .slash }
            return name.split(separator: .colon).last.map { String(decoding: $0, as: UTF8.self) }
        }
        return nil
    }

    /// Returns the text of the first element with that name.
    private func content(_ name: String) -> String? {
        guard let start = body.range(of: Data("<\(name)>".utf8))?.upperBound else { return nil }
        let rest = body[start...]
        let isRaw = rest.starts(with: "<![CDATA[".utf8)
        guard let end = rest.range(of: Data((isRaw ? "]]>" : "<").utf8))?.lowerBound else { return nil }
        let text = String(decoding: isRaw ? rest[(start + 9)..<end] : rest[..<end], as: UTF8.self)
        return (isRaw ? text : Self.unescaped(text)).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    static func unescaped(_ text: String) -> String {
        let pieces = text.components(separatedBy: "&")
        return pieces.dropFirst().reduce(into: pieces[0]) { result, piece in
            let parts = piece.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let scalar = scalar(named: parts[0]) else { return result += "&" + piece }
            result.unicodeScalars.append(scalar)
            result += parts[1]
        }
    }

    private static func scalar(named name: Substring) -> Unicode.Scalar? {
        switch name {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard name.hasPrefix("#") else { return nil }
            let isHex = name.hasPrefix("#x")
            return UInt32(name.dropFirst(isHex ? 2 : 1), radix: isHex ? 16 : 10).flatMap(Unicode.Scalar.init)
        }
    }
}
