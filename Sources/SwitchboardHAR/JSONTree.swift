import Foundation
import Switchboard

/// A JSON value, to search for secrets and to compare.
package enum JSONTree: Sendable {
    case null
    case bool(Bool)
    case number(Decimal)
    /// A number beyond the range of `Decimal`.
    case double(Double)
    case string(String)
    case array([JSONTree])
    case object([String: JSONTree])

    /// Creates the object or list in these bytes, or nil when they are neither.
    package init?(_ data: Data) {
        let first = data.first { $0 != 0x20 && !(0x09...0x0D ~= $0) }
        guard first == UInt8(ascii: "{") || first == UInt8(ascii: "["),
            let value = JSONTree(fragment: data)
        else { return nil }
        self = value
    }

    /// Creates the JSON value of any kind in these bytes, or nil for invalid JSON.
    package init?(fragment data: Data) {
        var reader = JSONReader(Array(data))
        guard data.exactText != nil, let value = reader.value() else { return nil }
        self = value
    }
}

extension JSONTree: Equatable {
    /// Compares two values in a loop, because they may nest deep.
    package static func == (one: JSONTree, other: JSONTree) -> Bool {
        var pairs = [(one, other)]
        while let pair = pairs.popLast() {
            switch pair {
            case (.null, .null): continue
            case (.bool(let one), .bool(let other)) where one == other: continue
            case (.number(let one), .number(let other)) where one == other: continue
            case (.double(let one), .double(let other)) where one == other: continue
            case (.string(let one), .string(let other)) where one == other: continue
            case (.array(let one), .array(let other)) where one.count == other.count: pairs += zip(one, other)
            case (.object(let one), .object(let other)) where one.count == other.count:
                for (name, value) in one {
                    guard let same = other[name] else { return false }
                    pairs.append((value, same))
                }
            default: return false
            }
        }
        return true
    }
}

/// Reads JSON text ([RFC 8259](https://www.rfc-editor.org/rfc/rfc8259)) in a loop. A recursive reader would overflow
/// the stack of a small thread on deeply nested text.
struct JSONReader {
    /// The limit of nested lists and objects, as in Foundation's readers.
    static let maximumDepth = 512

    /// A list or an object whose end was not read yet.
    private struct Open {
        var isObject = false
        var values: [JSONTree] = []
        var members: [String: JSONTree] = [:]
        var name = ""
    }

    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Reads the whole text as one value. Returns nil for invalid JSON.
    mutating func value() -> JSONTree? {
        var open: [Open] = []
        while true {
            skipBlanks()
            let value: JSONTree
            if take("{") {
                guard open.count < Self.maximumDepth else { return nil }
                open.append(Open(isObject: true))
                skipBlanks()
                if !take("}") {
                    guard readName(into: &open) else { return nil }
                    continue
                }
                value = .object([:])
                open.removeLast()
            } else if take("[") {
                guard open.count < Self.maximumDepth else { return nil }
                open.append(Open())
                skipBlanks()
                if !take("]") { continue }
                value = .array([])
                open.removeLast()
            } else {
                guard let scalar = scalar() else { return nil }
                value = scalar
            }
            guard let whole = close(value, &open) else { return nil }
            if case .whole(let value) = whole { return value }
        }
    }

    private enum Step {
        case next
        case whole(JSONTree)
    }

    /// Adds a value to its list or object, and closes those that end after it. Returns nil for invalid JSON.
    private mutating func close(_ value: JSONTree, _ open: inout [Open]) -> Step? {
        var value = value
        while !open.isEmpty {
            skipBlanks()
            let last = open.count - 1
            if open[last].isObject {
                open[last].members[open[last].name] = value
                if takeComma(before: "}") { return readName(into: &open) ? .next : nil }
                guard take("}") else { return nil }
                value = .object(open.removeLast().members)
            } else {
                open[last].values.append(value)
                if takeComma(before: "]") { return .next }
                guard take("]") else { return nil }
                value = .array(open.removeLast().values)
            }
        }
        skipBlanks()
        return position == bytes.count ? .whole(value) : nil
    }

    private mutating func readName(into open: inout [Open]) -> Bool {
        skipBlanks()
        guard take("\""), let name = string() else { return false }
        skipBlanks()
        open[open.count - 1].name = name
        return take(":")
    }

    // MARK: Scalars

    private mutating func scalar() -> JSONTree? {
        if take("\"") { return string().map(JSONTree.string) }
        if take("true") { return .bool(true) }
        if take("false") { return .bool(false) }
        if take("null") { return .null }
        return number()
    }

    private mutating func number() -> JSONTree? {
        let start = position
        _ = take("-")
        guard take("0") || takeDigits() else { return nil }
        if take("."), !takeDigits() { return nil }
        if take("e") || take("E") {
            _ = take("+") || take("-")
            guard takeDigits() else { return nil }
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if let number = Decimal(string: text), !number.isNaN { return .number(number) }
        return Double(text).map(JSONTree.double)
    }

    /// Reads the text after a quote, up to the next one.
    private mutating func string() -> String? {
        var text: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let scalar = escaped() else { return nil }
                text += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
            case 0..<0x20: return nil
            default: text.append(byte)
            }
        }
        return nil
    }

    private mutating func escaped() -> Unicode.Scalar? {
        guard position < bytes.count else { return nil }
        let byte = bytes[position]
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            guard let unit = unit() else { return nil }
            guard UTF16.isLeadSurrogate(unit) else { return Unicode.Scalar(unit) ?? "\u{FFFD}" }
            guard take("\\u"), let second = self.unit(), UTF16.isTrailSurrogate(second) else { return nil }
            return Unicode.Scalar(0x1_0000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(second) - 0xDC00))
        default: return nil
        }
    }

    private mutating func unit() -> UInt16? {
        guard position + 4 <= bytes.count else { return nil }
        let digits = bytes[position..<position + 4]
        guard digits.allSatisfy({ Unicode.Scalar($0).properties.isASCIIHexDigit }) else { return nil }
        position += 4
        return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    // MARK: Bytes

    private mutating func take(_ text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        guard position + length <= bytes.count else { return false }
        for index in 0..<length where bytes[position + index] != text.utf8Start[index] { return false }
        position += length
        return true
    }

    /// Reads a comma. Returns false when `end` follows: a trailing comma is accepted, as in Foundation's readers.
    private mutating func takeComma(before end: Unicode.Scalar) -> Bool {
        guard take(",") else { return false }
        skipBlanks()
        return position >= bytes.count || bytes[position] != UInt8(ascii: end)
    }

    private mutating func takeDigits() -> Bool {
        let start = position
        while position < bytes.count, 0x30...0x39 ~= bytes[position] { position += 1 }
        return position > start
    }

    private mutating func skipBlanks() {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
    }
}
