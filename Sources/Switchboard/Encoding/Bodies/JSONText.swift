import Foundation
import SwitchboardText

/// Writes an ``ParameterValue`` as JSON ([RFC 8259](https://www.rfc-editor.org/rfc/rfc8259)), members in their order.
///
/// Foundation's writers give members in an order that changes from run to run unless they are sorted.
package struct JSONText {
    private let sortsKeys: Bool
    private let isPretty: Bool
    private let dateEncoding: DateEncoding

    package init(sortsKeys: Bool = false, isPretty: Bool = false, dateEncoding: DateEncoding = .iso8601) {
        self.sortsKeys = sortsKeys
        self.isPretty = isPretty
        self.dateEncoding = dateEncoding
    }

    package func data(_ value: ParameterValue) throws -> Data {
        var buffer: [UInt8] = []
        try append(value, depth: 0, to: &buffer)
        return Data(buffer)
    }

    private func append(_ value: ParameterValue, depth: Int, to buffer: inout [UInt8]) throws {
        guard depth <= EncodingNode.maximumDepth + 1 else { throw EncodingNode.tooDeep }
        switch value {
        case .null, .absent: buffer += "null".utf8
        case .bool(let value): buffer += (value ? "true" : "false").utf8
        case .number(let text):
            guard ParameterValue.isNumber(text) else { throw ParameterValue.notNumber(text) }
            buffer += text.utf8
        case .invalid(let error): throw error
        case .string(let text): append(text, to: &buffer)
        case .date(let date): try append(dateEncoding.value(date), depth: depth, to: &buffer)
        case .data(let data): append(data.base64EncodedString(), to: &buffer)
        case .array(let values):
            try appendList("[", "]", values, depth: depth, to: &buffer) { value, buffer in
                try append(value, depth: depth + 1, to: &buffer)
            }
        case .object(let members):
            try appendList("{", "}", kept(members), depth: depth, to: &buffer) { member, buffer in
                append(member.name, to: &buffer)
                buffer += (isPretty ? ": " : ":").utf8
                try append(member.value, depth: depth + 1, to: &buffer)
            }
        }
    }

    /// Without what is absent; of repeated names the last one, because readers disagree about repeats (RFC 8259 §4).
    private func kept(_ members: Parameters) -> [Parameters.Element] {
        var kept = members.elements.filter { !$0.value.isAbsent }
        if Set(kept.lazy.map(\.name)).count < kept.count {
            var seen: Set<String> = []
            kept = kept.reversed().filter { seen.insert($0.name).inserted }.reversed()
        }
        return sortsKeys ? kept.sorted(byName: \.name) : kept
    }

    private func appendList<Element>(
        _ open: String, _ close: String, _ elements: [Element], depth: Int, to buffer: inout [UInt8],
        each: (Element, inout [UInt8]) throws -> Void
    ) rethrows {
        buffer += open.utf8
        for (index, element) in elements.enumerated() {
            if index > 0 { buffer += ",".utf8 }
            appendLineBreak(depth + 1, to: &buffer)
            try each(element, &buffer)
        }
        if !elements.isEmpty { appendLineBreak(depth, to: &buffer) }
        buffer += close.utf8
    }

    private func appendLineBreak(_ depth: Int, to buffer: inout [UInt8]) {
        if isPretty { buffer += ("\n" + String(repeating: "  ", count: depth)).utf8 }
    }

    private func append(_ text: String, to buffer: inout [UInt8]) {
        buffer.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): buffer += [UInt8(ascii: "\\"), byte]
            case 0x0A: buffer += "\\n".utf8
            case 0x0D: buffer += "\\r".utf8
            case 0x09: buffer += "\\t".utf8
            case 0..<0x20: buffer += ("\\u00" + byte.hexForMessage.dropFirst(2)).utf8
            default: buffer.append(byte)
            }
        }
        buffer.append(UInt8(ascii: "\""))
    }
}
