import Foundation
import SwitchboardJSON

extension ParameterValue: Decodable {
    /// Decodes a value of any kind. With `FastJSONDecoder`, members keep their order and numbers their text; with
    /// another decoder, numbers have the precision of its `Double`. Names are those that the decoder's key strategy
    /// returns.
    public init(from decoder: any Decoder) throws {
        switch FastJSONDecoder.kind(of: decoder) ?? Self.kind(of: decoder) {
        case .null: self = .null
        case .bool: self = .bool(try Bool(from: decoder))
        case .number(let text): self = .number(text)
        case .string: self = .string(try String(from: decoder))
        case .array:
            var container = try decoder.unkeyedContainer()
            var values: [ParameterValue] = []
            while !container.isAtEnd { values.append(try container.decode(ParameterValue.self)) }
            self = .array(values)
        case .object:
            let container = try decoder.container(keyedBy: JSONPathKey.self)
            var members = Parameters()
            for key in container.allKeys {
                members.add(key.stringValue, try container.decode(ParameterValue.self, forKey: key))
            }
            self = .object(members)
        }
    }

    private static func kind(of decoder: any Decoder) -> JSONKind {
        if (try? decoder.container(keyedBy: JSONPathKey.self)) != nil { return .object }
        if (try? decoder.unkeyedContainer()) != nil { return .array }
        guard let container = try? decoder.singleValueContainer(), !container.decodeNil() else { return .null }
        if (try? container.decode(Bool.self)) != nil { return .bool }
        if let integer = try? container.decode(Int64.self) { return .number(String(integer)) }
        if let integer = try? container.decode(UInt64.self) { return .number(String(integer)) }
        if let number = try? container.decode(Double.self),
            case .number(let text)? = ParameterValue.number(finite: number)
        {
            return .number(text)
        }
        return .string
    }
}

// The parts of a value, such as a response of an unknown shape.
extension ParameterValue {
    /// The member of that name. Nil if it does not exist, and for a value other than an object.
    public subscript(name: String) -> ParameterValue? {
        if case .object(let members) = self { members[name] as ParameterValue? } else { nil }
    }

    /// The element at an index. Nil outside of the array, and for a value other than an array.
    public subscript(index: Int) -> ParameterValue? {
        if case .array(let values) = self, values.indices.contains(index) { values[index] } else { nil }
    }

    /// The text of a ``string(_:)``, or nil.
    public var stringValue: String? { if case .string(let text) = self { text } else { nil } }
    /// The value of a ``bool(_:)``, or nil.
    public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// The value of a ``number(_:)``, or nil when it has a fraction or does not fit.
    public var intValue: Int? {
        guard case .number(let text) = self else { return nil }
        return Int(text) ?? (try? FastJSONDecoder().decode(Int.self, from: Data(text.utf8)))
    }
    /// The value of a ``number(_:)``, rounded to the nearest double, or nil.
    public var doubleValue: Double? { if case .number(let text) = self { Double(text) } else { nil } }
    /// The elements of an ``array(_:)``, or nil.
    public var arrayValue: [ParameterValue]? { if case .array(let values) = self { values } else { nil } }
    /// The members of an ``object(_:)``, or nil.
    public var objectValue: Parameters? { if case .object(let members) = self { members } else { nil } }
}
