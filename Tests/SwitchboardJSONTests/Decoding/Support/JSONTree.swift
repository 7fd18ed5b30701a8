import Foundation
import SwitchboardTestSupport

/// Any JSON value, decoded only through the public containers.
indirect enum JSONTree: Decodable, Equatable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSONTree])
    case object([String: JSONTree])

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let text = try? value.decode(String.self) {
            self = .string(text)
        } else if var array = try? decoder.unkeyedContainer() {
            var elements: [JSONTree] = []
            while !array.isAtEnd { elements.append(try array.decode(JSONTree.self)) }
            self = .array(elements)
        } else if let object = try? decoder.container(keyedBy: Name.self) {
            var members: [String: JSONTree] = [:]
            for key in object.allKeys { members[key.stringValue] = try object.decode(JSONTree.self, forKey: key) }
            self = .object(members)
        } else {
            self = .number(try value.decode(Double.self))
        }
    }

    struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

/// A value that decodes nothing, so that the decoder only checks the syntax.
struct AnyJSON: Decodable {
    init(from decoder: any Decoder) {}
}

/// Returns the seeds of a test, ``cases(_:)`` of them.
func seededCases(_ usual: Int) -> Range<UInt64> { 0..<UInt64(cases(usual)) }
