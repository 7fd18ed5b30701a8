import Foundation

/// A JSON value of any shape.
package enum JSONTree: Sendable {
    case null
    case bool(Bool)
    case number(Decimal)
    /// A number beyond the range of `Decimal`.
    case double(Double)
    case string(String)
    case array([JSONTree])
    case object([JSONName: JSONTree])

    /// Creates the object or array in these bytes, or nil when they are neither.
    package init?(_ data: some ContiguousBytes, keepsRepeats: Bool = false) {
        self.init(fragment: data, keepsRepeats: keepsRepeats)
        switch self {
        case .array, .object: break
        default: return nil
        }
    }

    /// Creates the value in these bytes, or nil for invalid JSON and for more than 512 levels of nesting. Of members
    /// with the same name, the last one counts, or all in an array if `keepsRepeats` is true.
    package init?(fragment data: some ContiguousBytes, keepsRepeats: Bool = false) {
        let document = data.withUnsafeBytes { try? JSONDocument($0, decoder: FastJSONDecoder()) }
        guard let document else { return nil }
        self = document.tree(keepsRepeats: keepsRepeats)
    }
}

/// The name of a member, which equals only a name of the same bytes. Strings also equal another encoding of the same
/// character.
package struct JSONName: Hashable, Comparable, ExpressibleByStringLiteral, Sendable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    package init(stringLiteral text: String) {
        self.text = text
    }

    package static func == (one: JSONName, other: JSONName) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }

    package static func < (one: JSONName, other: JSONName) -> Bool {
        one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension JSONDocument {
    /// Returns the top-level value, built from the end of the tape, because recursion would overflow the stack of a
    /// small thread on deeply nested text.
    fileprivate func tree(keepsRepeats: Bool) -> JSONTree {
        // The values without a parent so far. The last one is the first in the text.
        var values: [JSONTree] = []
        for index in (JSONDocument.root..<after(JSONDocument.root)).reversed() {
            switch tape[index].kind {
            case .null: values.append(.null)
            case .true: values.append(.bool(true))
            case .false: values.append(.bool(false))
            case .string: values.append(.string(rawName(at: index)))
            case .number: values.append(number(at: index))
            case .name: break
            case .array:
                // An array, because a slice would share the buffer, so that removing would copy all values.
                let elements = Array(values.suffix(Int(tape[index].length)).reversed())
                values.removeLast(elements.count)
                values.append(.array(elements))
            case .object:
                var members: [JSONName: JSONTree] = [:]
                var earlier: [JSONName: [JSONTree]] = [:]
                var name = index + 1
                while name < Int(tape[index].next) {
                    let key = JSONName(rawName(at: name))
                    let replaced = members.updateValue(values.removeLast(), forKey: key)
                    if keepsRepeats, let replaced { earlier[key, default: []].append(replaced) }
                    name = after(name + 1)
                }
                for (key, values) in earlier { members[key] = members[key].map { .array(values + [$0]) } }
                values.append(.object(members))
            }
        }
        return values[0]
    }

    private func number(at index: Int) -> JSONTree {
        let text = String(decoding: text(of: index), as: UTF8.self)
        if let number = Decimal(string: text), !number.isNaN { return .number(number) }
        return .double(Double(text) ?? .nan)
    }
}

extension JSONTree: Equatable {
    /// Compares two values, texts byte by byte. It is a loop, because they may nest deep.
    package static func == (one: JSONTree, other: JSONTree) -> Bool {
        var pairs = [(one, other)]
        while let pair = pairs.popLast() {
            switch pair {
            case (.null, .null): continue
            case (.bool(let one), .bool(let other)) where one == other: continue
            case (.number(let one), .number(let other)) where one == other: continue
            case (.double(let one), .double(let other)) where one == other: continue
            case (.string(let one), .string(let other)) where one.utf8.elementsEqual(other.utf8): continue
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
