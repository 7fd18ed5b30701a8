import Foundation

/// A JSON value, to look for secrets in it and to compare it with another.
package enum JSONTree: Hashable, Sendable {
    case null
    case bool(Bool)
    case number(Decimal)
    /// A number beyond the range of `Decimal`.
    case double(Double)
    case string(String)
    case array([JSONTree])
    case object([String: JSONTree])

    /// The object or list that these bytes are; nil when they are neither.
    package init?(_ data: Data) {
        let first = data.first { $0 != 0x20 && !(0x09...0x0D ~= $0) }
        guard first == UInt8(ascii: "{") || first == UInt8(ascii: "["),
            let value = JSONTree(fragment: data)
        else { return nil }
        self = value
    }

    /// The JSON value of any kind that these bytes are; nil when they are none.
    package init?(fragment data: Data) {
        guard let value = try? JSONDecoder().decode(JSONTree.self, from: data) else { return nil }
        self = value
    }
}

extension JSONTree: Decodable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([String: JSONTree].self) {
            self = .object(value)
        } else if let value = try? container.decode([JSONTree].self) {
            self = .array(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Decimal.self) {
            self = .number(value)
        } else {
            self = .double(try container.decode(Double.self))
        }
    }
}
