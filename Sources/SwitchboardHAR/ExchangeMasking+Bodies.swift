import Foundation
import Switchboard
import SwitchboardJSON
import SwitchboardText

extension ExchangeMasking {
    /// The depth to which nested `multipart` bodies are read. A deeper body becomes one mask.
    private static let maximumDepth = 8

    /// Returns a body with the values of secret names replaced: fields of forms, members of JSON, parts of `multipart`.
    /// Text keeps its encoding. Bytes that are not text stay unchanged.
    package mutating func masked(body data: Data, type: String, depth: Int = 0) -> Data {
        guard !data.isEmpty, !redaction.isEmpty else { return data }
        if let boundary = type.multipartBoundary {
            guard depth < Self.maximumDepth else { return Data(redaction.mask.utf8) }
            return masked(multipart: data, boundary: boundary, depth: depth)
        }
        return data.encodings(ofType: type).reduce(data) { data, encoding in
            let length = data.wholeLength(in: encoding)
            guard let text = data.prefix(length).text(in: encoding) else { return data }
            let masked = masked(text: text, type: type).data(using: encoding) ?? Data(redaction.mask.utf8)
            return masked + data.dropFirst(length)
        }
    }

    private mutating func masked(text: String, type: String) -> String {
        if type.isForm { return mask(text) { [redaction] in redaction.form($0) } }
        guard let tree = JSONTree(Data(text.utf8), keepsRepeats: true) else {
            // A masked value without quotes hides from `mask` what the lines of JSON have.
            for line in text.pieces(between: .lineFeed) {
                guard let brace = line.utf8.firstIndex(of: .leftBrace) else { continue }
                if let tree = JSONTree(Data(line.utf8[brace...]), keepsRepeats: true) { add(tree) }
            }
            return mask(text) { [redaction] in redaction.text($0) }
        }
        add(tree)
        return redaction.text(text)
    }

    /// Stores the secrets of a JSON value, in a loop, because a server determines how deep it nests. Within an object with
    /// a secret's name, a word such as the `Bearer` of a `token_type` is masked only there, except one named `value`.
    private mutating func add(_ tree: JSONTree) {
        var rest = [(tree: tree, isSecret: false, isNamed: false)]
        while let (tree, isSecret, isNamed) = rest.popLast() {
            switch tree {
            case .string(let text) where isNamed || isSecret && text.mayBeCredential: add(text)
            case .number(let number) where isSecret: add("\(number)")
            case .string(let text):
                // A text may contain JSON, from servers that echo a body.
                if let inner = JSONTree(Data(text.utf8), keepsRepeats: true) { rest.append((inner, false, false)) }
                // Stores the secrets of URLs, markup and other formats within a text.
                _ = mask(text) { [redaction] in redaction.text($0) }
            case .array(let values): rest += values.map { ($0, isSecret, isNamed) }
            case .object(let members):
                let hasName = members.contains { namesSecret($0.text, $1) }
                rest += members.map { name, value in
                    let isOwn = redaction.isSecret(
                        member: name.text, before: value.isNonnegativeNumber ? UInt8(ascii: "0") : nil)
                    let isNamed = isOwn || (hasName || isSecret) && NamedValueMember(name.text) == .value
                    return (value, isSecret || isNamed, isNamed)
                }
            case .null, .bool, .number, .double: break
            }
        }
    }

    /// Returns whether a member names a secret, as in `{"name":"password","value":"…"}`. A repeated member has an array.
    private func namesSecret(_ name: String, _ value: JSONTree) -> Bool {
        guard NamedValueMember(name) == .name else { return false }
        let values = if case .array(let repeats) = value { repeats } else { [value] }
        return values.contains {
            guard case .string(let text) = $0 else { return false }
            return redaction.isSecret(member: text) || redaction.isSecret(header: text)
        }
    }

    /// Masks `multipart/form-data` (RFC 7578) and similar types: each part by its name, or by its type.
    private mutating func masked(multipart data: Data, boundary: String, depth: Int) -> Data {
        let delimiter = Data("--\(boundary)".utf8)
        // A delimiter begins its line (RFC 2046 §5.1.1).
        var parts = data.pieces(around: delimiter).reduce(into: [Data]()) { parts, piece in
            let endsLine = parts.last.map { $0.isEmpty ? parts.count == 1 : $0.last == .lineFeed } ?? true
            if endsLine { parts.append(piece) } else { parts[parts.count - 1] += delimiter + piece }
        }
        for index in parts.indices {
            let part = parts[index]
            // Some senders end lines with LF alone.
            let ends = ["\n\r\n", "\n\n"].compactMap { part.range(of: Data($0.utf8)) }
            guard index > 0, let head = ends.min(by: { $0.lowerBound < $1.lowerBound }) else {
                // The text around the parts, and a body without parts.
                let lineEnd = part.lineEnd
                parts[index] = masked(body: Data(part.dropLast(lineEnd.count)), type: "", depth: depth + 1) + lineEnd
                continue
            }
            let lineEnd = part[head.upperBound...].lineEnd
            let content = Data(part[head.upperBound..<(part.endIndex - lineEnd.count)])
            var fields: [Data] = []
            for line in part[..<head.lowerBound].split(separator: .lineFeed) {
                // A line that begins with a blank continues the field.
                if line.first?.isBlank == true, !fields.isEmpty {
                    fields[fields.count - 1].append(line)
                } else {
                    fields.append(Data(line))
                }
            }
            func field(_ name: StaticString) -> String {
                let line = fields.first { $0.starts(withLowercase: name) } ?? Data()
                return String(decoding: line.filter { $0 != .carriageReturn }.trimmedOfBlanks, as: UTF8.self)
            }
            let masked: Data
            if field("content-disposition:").dispositionNames.contains(where: redaction.isSecret(parameter:)) {
                for encoding in content.encodings(ofType: "text/plain") { content.text(in: encoding).map { add($0) } }
                masked = Data(redaction.mask.utf8)
            } else {
                let type = String(decoding: field("content-type:").utf8.dropFirst(13), as: UTF8.self)
                masked = self.masked(body: content, type: type, depth: depth + 1)
            }
            parts[index] = part[..<head.upperBound] + masked + lineEnd
        }
        return Data(parts.joined(separator: delimiter))
    }
}

extension String {
    /// Whether the text is no common word: it has a digit or twelve bytes.
    fileprivate var mayBeCredential: Bool { utf8.count >= 12 || utf8.contains(where: \.isDigit) }
}

extension JSONTree {
    fileprivate var isNonnegativeNumber: Bool {
        switch self {
        case .number(let number): number >= 0
        case .double(let number): number >= 0
        default: false
        }
    }
}

extension Data {
    /// The line end at the end: CRLF, LF or nothing.
    fileprivate var lineEnd: Data { suffix(suffix(2) == Data("\r\n".utf8) ? 2 : last == .lineFeed ? 1 : 0) }

    /// Returns the parts before, between and after the occurrences of `separator`.
    package func pieces(around separator: Data) -> [Data] {
        guard !separator.isEmpty else { return [self] }
        var pieces: [Data] = []
        var start = startIndex
        while let range = self[start...].firstRange(ofBytes: separator) {
            pieces.append(Data(self[start..<range.lowerBound]))
            start = range.upperBound
        }
        pieces.append(Data(self[start...]))
        return pieces
    }
}
