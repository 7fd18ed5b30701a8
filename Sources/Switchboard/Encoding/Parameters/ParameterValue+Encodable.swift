import Foundation
import SwitchboardJSON
import SwitchboardText

extension Parameters: Encodable {
    /// Encodes an object. Of repeated names only the last value is written.
    public func encode(to encoder: any Encoder) throws {
        try ParameterValue.object(self).encode(to: encoder)
    }

    /// The elements to encode, without absent ones. Of repeated names only the last stays, because parsers treat
    /// repeated names differently ([RFC 8259 §4](https://www.rfc-editor.org/rfc/rfc8259#section-4)).
    fileprivate var withoutDuplicates: [Element] {
        let present = elements.filter { $0.value != .absent }
        guard Set(present.lazy.map(\.name)).count < present.count else { return present }
        var seen: Set<String> = []
        return present.reversed().filter { seen.insert($0.name).inserted }.reversed()
    }
}

extension ParameterValue: Encodable {
    /// Encodes the value. In an object, only the last value of a repeated name is written.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .array(let values):
            var container = encoder.unkeyedContainer()
            for value in values { try container.encode(value) }
        case .object(let members):
            var container = encoder.container(keyedBy: JSONPathKey.self)
            for member in members.withoutDuplicates {
                try container.encode(member.value, forKey: JSONPathKey(stringValue: member.name))
            }
        case .invalid(let error): throw error
        default:
            var container = encoder.singleValueContainer()
            switch self {
            case .bool(let value): try container.encode(value)
            case .string(let value): try container.encode(value)
            case .date(let value): try container.encode(value)
            case .data(let value): try container.encode(value)
            case .number(let text):
                if try FastJSONEncoder.write(number: text, to: encoder) { return }
                guard text.isJSONNumber else {
                    throw NetworkError(.encodingFailed, reason: "\(text.quotedForMessage) is not a JSON number")
                }
                if let integer = Int64(text) {
                    try container.encode(integer)
                } else if let integer = UInt64(text) {
                    try container.encode(integer)
                } else if let double = Double(text), let number = Decimal(string: text), !number.isNaN,
                    Decimal(string: "\(double)") != number
                {
                    // A `JSONEncoder` writes every digit of a `Decimal`.
                    try container.encode(number)
                } else {
                    try container.encode(Double(text))
                }
            default: try container.encodeNil()
            }
        }
    }
}
