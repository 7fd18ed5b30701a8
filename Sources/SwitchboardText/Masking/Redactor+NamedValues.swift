import Foundation

extension Redactor {
    /// Redacts the values of objects that name a secret, as in HAR files: `{"name":"password","value":"…"}`. The
    /// members may have any order, and the JSON may itself be inside a JSON string.
    func namedValues(in text: SearchedText, _ quote: UInt8) -> SearchedText {
        var reader = NamedValueReader(redactor: self, bytes: text.bytes, quote: quote)
        reader.read(reader.bytes.indices, 0)
        return text.replacing(reader.replacements)
    }
}

/// The part that a member has in an object that names a secret.
package enum NamedValueMember {
    case name, value, other

    package init(_ text: String) {
        switch text.lowercased() {
        case "name", "key", "id", "property", "field", "param", "parameter", "header": self = .name
        case "value", "values", "content": self = .value
        default: self = .other
        }
    }
}

private struct NamedValueReader {
    /// An open object or list.
    private struct Frame {
        let start: Int
        var member = NamedValueMember.other
        var hasName = false
        /// Whether the name in the object is a secret's.
        var isSecret = false
        var values: [Range<Int>] = []
    }

    let redactor: Redactor
    let bytes: [UInt8]
    let quote: UInt8
    private(set) var replacements = Replacements()

    init(redactor: Redactor, bytes: [UInt8], quote: UInt8) {
        (self.redactor, self.bytes, self.quote) = (redactor, bytes, quote)
    }

    /// Reads text whose strings have this depth.
    mutating func read(_ range: Range<Int>, _ depth: Int) {
        var frames = [Frame(start: range.lowerBound)]
        var index = range.lowerBound
        // The previous byte, except for spaces and backslashes.
        var before = UInt8.comma
        while index < range.upperBound {
            let byte = bytes[index]
            index += 1
            if byte == .backslash || byte.isSpace && byte != .lineFeed { continue }
            switch byte {
            case quote where bytes.quoteDepth(at: index - 1) == depth && ASCIISet.beforeString.contains(before):
                let start = index - 1 << depth
                let content = readString(from: index, to: range.upperBound, depth)
                index = min(range.upperBound, content.upperBound + 1 << depth)
                if let colon = bytes[index..<range.upperBound].first(where: { !$0.isSpace }), colon == .colon {
                    frames[frames.count - 1].member = NamedValueMember(bytes[content].memberName(depth))
                } else {
                    record(start..<index, content, depth, in: &frames[frames.count - 1])
                }
            case .leftBrace, .leftBracket: frames.append(Frame(start: index - 1))
            case .rightBrace, .rightBracket:
                guard frames.count > 1, let frame = frames.popLast() else { break }
                finish(frame, depth)
                record(frame.start..<index, nil, depth, in: &frames[frames.count - 1])
            case .comma: frames[frames.count - 1].member = .other
            default:
                guard before == .colon, byte != quote, byte != .lineFeed else { break }
                let end = bytes[index..<range.upperBound].firstIndex { ASCIISet.scalarEnd.contains($0) }
                let start = index - 1
                index = end ?? range.upperBound
                record(start..<index, nil, depth, in: &frames[frames.count - 1])
            }
            before = byte
        }
        // The text was truncated.
        while let frame = frames.popLast() {
            finish(frame, depth, isCut: bytes.indices.contains(frame.start) && bytes[frame.start] == .leftBrace)
            if !frames.isEmpty { record(frame.start..<range.upperBound, nil, depth, in: &frames[frames.count - 1]) }
        }
    }

    /// Returns the content of the string at `start`.
    private func readString(from start: Int, to limit: Int, _ depth: Int) -> Range<Int> {
        var index = start
        while let mark = bytes[index..<limit].firstIndex(of: quote) {
            if bytes.quoteDepth(at: mark) <= depth { return start..<Swift.max(start, mark - (1 << depth - 1)) }
            index = mark + 1
        }
        return start..<limit
    }

    /// Records the value of the last member.
    private mutating func record(_ value: Range<Int>, _ content: Range<Int>?, _ depth: Int, in frame: inout Frame) {
        defer { frame.member = .other }
        if frame.member == .value { frame.values.append(value) }
        guard let content else { return }
        if frame.member == .name {
            let name = bytes[content].memberName(depth)
            frame.hasName = frame.hasName || content.upperBound < value.upperBound
            frame.isSecret = frame.isSecret || redactor.isSecret(member: name) || redactor.isSecret(header: name)
        }
        if depth < 3, bytes[content].contains(.backslash) { read(content, depth + 1) }
    }

    private mutating func finish(_ frame: Frame, _ depth: Int, isCut: Bool = false) {
        guard frame.isSecret || isCut && !frame.hasName else { return }
        for value in frame.values { redactor.hide(value, of: bytes, quote, depth, in: &replacements) }
    }
}

extension ASCIISet {
    fileprivate static let beforeString = ASCIISet("{[,:(\n")
    fileprivate static let scalarEnd = ASCIISet(",}]\"' \t\r\n")
}
