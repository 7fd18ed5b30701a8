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
