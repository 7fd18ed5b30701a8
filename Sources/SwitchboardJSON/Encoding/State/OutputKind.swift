import Foundation

/// The way in which the values of a type are written.
enum OutputKind: UInt8 {
    /// A value that its `encode(to:)` writes.
    case other
    /// A dictionary that its `encode(to:)` writes. Its members are then sorted, because dictionaries have no order.
    case dictionary
    /// An array, or a dictionary with `String` keys.
    case direct
    /// An optional, written as its wrapped value or null.
    case optional
    /// A date or data that the closure of its strategy encodes.
    case customDate, customData
    /// Arrays that are written without a container.
    case strings, integers, doubles
    /// Values without members.
    case string, bool, double, float, date, data, url, decimal, uuid
    case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64

    /// Whether the value has no members.
    var isScalar: Bool { rawValue >= OutputKind.string.rawValue }

    init<Value: Encodable>(_ type: Value.Type, settings: OutputSettings) {
        self = Self.scalar(type) ?? Self.other(type)
        if self == .date, case .custom = settings.dateStrategy { self = .customDate }
        if self == .data {
            switch settings.dataStrategy {
            case .base64: break
            case .deferredToData: self = .other
            case .custom: self = .customData
            }
        }
    }

    private static func scalar(_ type: Any.Type) -> OutputKind? {
        if let integer = integer(type) { return integer }
        if type == String.self { return .string }
        if type == Bool.self { return .bool }
        if type == Double.self { return .double }
        if type == Float.self { return .float }
        if type == Date.self { return .date }
        if type == Data.self { return .data }
        if type == URL.self { return .url }
        if type == Decimal.self { return .decimal }
        return type == UUID.self ? .uuid : nil
    }

    private static func integer(_ type: Any.Type) -> OutputKind? {
        if type == Int.self { return .int }
        if type == Int8.self { return .int8 }
        if type == Int16.self { return .int16 }
        if type == Int32.self { return .int32 }
        if type == Int64.self { return .int64 }
        if type == UInt.self { return .uint }
        if type == UInt8.self { return .uint8 }
        if type == UInt16.self { return .uint16 }
        if type == UInt32.self { return .uint32 }
        return type == UInt64.self ? .uint64 : nil
    }

    private static func other(_ type: Any.Type) -> OutputKind {
        if type == [String].self { return .strings }
        if type == [Int].self { return .integers }
        if type == [Double].self { return .doubles }
        // Most types need only one cast. A cast costs more than writing a value.
        guard let container = type as? any StandardContainer.Type else { return .other }
        guard type is any DirectValue.Type else { return container.isDictionary ? .dictionary : .other }
        return container.isOptional ? .optional : .direct
    }
}
