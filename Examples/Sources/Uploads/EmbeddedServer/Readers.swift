import Foundation

// These parsers use nothing of Switchboard's encoders, so they check the bytes on the wire independently.

/// Reads an object of plain values.
nonisolated enum JSONReader {
    private enum Value: Decodable {
        case null, bool(Bool), number(Double), text(String)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let bool = try? container.decode(Bool.self) {
                self = .bool(bool)
            } else if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else {
                self = .text(try container.decode(String.self))
            }
        }

        var described: (kind: String, content: String) {
            switch self {
            case .null: ("null", "")
            case .bool(let bool): ("bool", bool ? "true" : "false")
            case .number(let number): ("number", Int(exactly: number).map { "\($0)" } ?? "\(number)")
            case .text(let text): ("text", text)
            }
        }
    }

    /// Returns the members sorted by name, because an object has no order. Nil if the body is not an object of plain
    /// values.
    static func items(of body: Data) -> [ReceiptRecord.Item]? {
        guard let members = try? JSONDecoder().decode([String: Value].self, from: body) else { return nil }
        return members.sorted { $0.key < $1.key }.map { name, value in
            .init(name: name, kind: value.described.kind, content: value.described.content)
        }
    }
}

/// Reads `a=1&b=2`.
nonisolated enum FormReader {
    static func items(of body: Data) -> [ReceiptRecord.Item]? {
        guard let text = String(data: body, encoding: .utf8) else { return nil }
        return text.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(unescaped)
            return .init(name: parts[0], kind: "text", content: parts.count > 1 ? parts[1] : "")
        }
    }

    private static func unescaped(_ text: Substring) -> String {
        let text = text.replacingOccurrences(of: "+", with: " ")
        return text.removingPercentEncoding ?? text
    }
}

/// Reads a multipart form: parts between boundaries, each with header fields.
nonisolated enum PartReader {
    static func items(of body: Data, contentType: String) -> [ReceiptRecord.Item]? {
        guard let boundary = parameter("boundary", of: contentType) else { return nil }
        // A line end before the first boundary makes it look like the others.
        var rest = (Data("\r\n".utf8) + body)[...]
        var pieces: [Data] = []
        let delimiter = Data("\r\n--\(boundary)".utf8)
        while let found = rest.range(of: delimiter) {
            pieces.append(rest[rest.startIndex..<found.lowerBound])
            rest = rest[found.upperBound...]
        }
        guard !pieces.isEmpty, rest.starts(with: Data("--".utf8)) else { return nil }
        let items = pieces.dropFirst().map(item)
        return items.contains { $0 == nil } ? nil : items.compactMap { $0 }
    }

    private static func item(of piece: Data) -> ReceiptRecord.Item? {
        guard piece.starts(with: Data("\r\n".utf8)), let end = piece.range(of: Data("\r\n\r\n".utf8)) else {
            return nil
        }
        let head = String(decoding: piece[piece.startIndex..<end.lowerBound], as: UTF8.self)
        let content = piece[end.upperBound...]
        var fields: [String: String] = [:]
        for line in head.components(separatedBy: "\r\n") where line.contains(":") {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            fields[parts[0].lowercased()] = parts[1]
        }
        guard let disposition = fields["content-disposition"], let name = parameter("name", of: disposition) else {
            return nil
        }
        guard let file = parameter("filename", of: disposition) else {
            return .init(name: name, kind: "text", content: String(decoding: content, as: UTF8.self))
        }
        return .file(name, name: file, type: fields["content-type"] ?? "no type", content)
    }

    /// Returns the value of a parameter as browsers write it, `; name="a %22b%22"`, or without quotation marks.
    private static func parameter(_ name: String, of field: String) -> String? {
        guard let start = field.range(of: "; \(name)=")?.upperBound else { return nil }
        let rest = field[start...]
        guard rest.first == "\"" else { return String(rest.prefix { $0 != ";" }) }
        let value = rest.dropFirst().prefix { $0 != "\"" }
        return value.replacingOccurrences(of: "%22", with: "\"").replacingOccurrences(of: "%0D", with: "\r")
            .replacingOccurrences(of: "%0A", with: "\n")
    }
}
