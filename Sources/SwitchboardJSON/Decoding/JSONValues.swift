import Foundation

/// Reads the values of a text of any shape in one pass, without a type to decode and without recursion.
///
/// A value is an index, and the values have the order of the text. Between two members of an object, the index of a name
/// precedes that of its value.
package struct JSONValues {
    package enum Kind {
        case null, boolean, number, string, array, object
    }

    /// The index of the top-level value.
    package static var root: Int { JSONDocument.root }

    private let document: JSONDocument

    /// Parses a text.
    ///
    /// - Throws: `DecodingError` for invalid JSON, for more than 512 levels and for more than 4 GB.
    package init(_ text: some ContiguousBytes) throws {
        document = try text.withUnsafeBytes { try JSONDocument($0, decoder: FastJSONDecoder()) }
    }

    package func kind(at index: Int) -> Kind {
        switch document.tape[index].kind {
        case .null: .null
        case .false, .true: .boolean
        case .number: .number
        case .string, .name: .string
        case .array: .array
        case .object: .object
        }
    }

    /// Returns the index after a value and everything in it. The first name or element of a container has the index
    /// after the container's own.
    package func after(_ index: Int) -> Int { document.after(index) }

    /// The number of values and names.
    package var count: Int { document.after(JSONDocument.root) - 1 }

    /// Returns whether a number is an integer: it has no exponent, and no digit but 0 after its point.
    package func isInteger(at index: Int) -> Bool {
        guard document.tape[index].flags.contains(.fraction) else { return true }
        let text = document.text(of: index)
        guard let point = text.firstIndex(of: UInt8(ascii: ".")) else { return false }
        return text[(point + 1)...].allSatisfy { $0 == UInt8(ascii: "0") }
    }

    /// Passes the bytes of a string or a name to the body, without escapes.
    package func withText<Result>(at index: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        guard document.tape[index].flags.contains(.escaped) else { return body(document.text(of: index)) }
        var text = document.rawName(at: index)
        return text.withUTF8(body)
    }

    package func string(at index: Int) -> String { document.rawName(at: index) }

    /// Returns whether a text is a date and time with a time zone.
    package static func isDateTime(_ text: UnsafeBufferPointer<UInt8>) -> Bool { ISO8601Text.date(text) != nil }

    /// Replaces values at some indices, and adds members at the start of some objects.
    ///
    /// - Parameters:
    ///   - values: The JSON text of each new value, by index.
    ///   - members: The JSON text of each new member, name included, by the index of its object.
    /// - Returns: The text without white space.
    package func replacing(_ values: [Int: String], adding members: [Int: [String]]) -> Data {
        var output: [UInt8] = []
        output.reserveCapacity(document.size)
        var open: [(end: Int, isObject: Bool)] = []
        var isFirst = true
        var index = JSONDocument.root
        let end = document.after(index)
        while true {
            while let container = open.last, container.end == index {
                output.append(container.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"))
                open.removeLast()
                isFirst = false
            }
            guard index < end else { return Data(output) }
            let entry = document.tape[index]
            let isMember = open.last?.isObject ?? false
            if !isFirst, entry.kind == .name || !isMember { output.append(UInt8(ascii: ",")) }
            isFirst = false
            if let value = values[index] {
                output += value.utf8
                index = document.after(index)
                continue
            }
            switch entry.kind {
            case .name: output += [UInt8(ascii: "\"")] + document.text(of: index) + "\":".utf8
            case .string: output += [UInt8(ascii: "\"")] + document.text(of: index) + "\"".utf8
            case .number: output += document.text(of: index)
            case .null: output += "null".utf8
            case .true: output += "true".utf8
            case .false: output += "false".utf8
            case .array, .object:
                open.append((document.after(index), entry.kind == .object))
                output.append(entry.kind == .object ? UInt8(ascii: "{") : UInt8(ascii: "["))
                let added = members[index] ?? []
                output += added.joined(separator: ",").utf8
                isFirst = added.isEmpty
            }
            index += 1
        }
    }
}
