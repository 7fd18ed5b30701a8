import Foundation

/// The settings of one encoding call, in the form that its writers need, and the cached properties of types.
final class OutputSettings {
    enum Layout { case dense, foundation, python }

    let dateStrategy: FastJSONEncoder.DateEncodingStrategy
    let dataStrategy: FastJSONEncoder.DataEncodingStrategy
    let floatStrategy: FastJSONEncoder.NonConformingFloatEncodingStrategy
    let userInfo: [CodingUserInfoKey: any Sendable]
    private let keyStrategy: FastJSONEncoder.KeyEncodingStrategy
    let layout: Layout
    let escapesSlashes: Bool
    let sortsNames: Bool
    let convertsKeys: Bool
    let maximumDepth: Int
    private let typeInfos = TypeTable<OutputTypeInfo>()
    /// The types of the keyed containers, by the type of their keys.
    let containerTypes = TypeTable<any KeyedOutput.Type>()
    /// Whether a container exceeds the maximum depth. Creating one cannot throw, so ``OutputWriter/finished(_:)`` does.
    var isTooDeep = false
    /// The error for a container that was requested too late. ``OutputWriter/finished(_:)`` throws it.
    var misuse: EncodingError?
    /// The writers of nested values. They form reference cycles until ``OutputWriter/end()``.
    var writers: [OutputWriter] = []
    private var snakeCased: [String: String] = [:]

    init(_ encoder: FastJSONEncoder) {
        dateStrategy = encoder.dateEncodingStrategy
        dataStrategy = encoder.dataEncodingStrategy
        floatStrategy = encoder.nonConformingFloatEncodingStrategy
        userInfo = encoder.userInfo
        keyStrategy = encoder.keyEncodingStrategy
        let formatting = encoder.outputFormatting
        layout = formatting.contains(.indented) ? .python : formatting.contains(.prettyPrinted) ? .foundation : .dense
        escapesSlashes = !formatting.contains(.withoutEscapingSlashes)
        sortsNames = formatting.contains(.sortedKeys)
        if case .useDefaultKeys = encoder.keyEncodingStrategy { convertsKeys = false } else { convertsKeys = true }
        // Sums and small multiples of it do not overflow.
        maximumDepth = min(max(0, encoder.maximumDepth), .max / 8)
    }

    deinit {
        typeInfos.deallocate()
        containerTypes.deallocate()
    }

    /// Returns the properties of a type. They are cached, because the casts cost more than the writing.
    @inline(__always)
    func typeInfo<Value: Encodable>(of type: Value.Type) -> OutputTypeInfo {
        typeInfos.property(of: type) { OutputTypeInfo(type, settings: self) }
    }

    /// Sorts names by UTF-8 or in the order of `String`.
    ///
    /// It is never inlined, because the compiler would copy the library's sort for each closure.
    @inline(never)
    static func sort(_ names: inout [(name: String, index: Int)], byUTF8: Bool) {
        guard names.count > 1 else { return }
        if byUTF8 {
            names.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        } else {
            names.sort { $0.name < $1.name }
        }
    }

    /// Returns the name of a member after the key strategy.
    func name(of key: any CodingKey, at path: @autoclosure () -> [any CodingKey]) -> String {
        switch keyStrategy {
        case .useDefaultKeys: return key.stringValue
        case .convertToSnakeCase:
            let name = key.stringValue
            if let known = snakeCased[name] { return known }
            let converted = name.lowercasedWords(separator: "_")
            snakeCased[name] = converted
            return converted
        case .custom(let convert): return convert(path() + [key]).stringValue
        }
    }
}

/// The kind of a type, which selects the function that writes its values.
enum OutputKind: UInt8 {
    /// A value that its `encode(to:)` writes.
    case other
    /// An array or a dictionary.
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

    var isScalar: Bool { rawValue >= OutputKind.string.rawValue }

    /// Creates the kind of a type that the encoder knows. Nil for any other type.
    init?(_ type: Any.Type, settings: OutputSettings) {
        guard let kind = Self.scalar(type) ?? Self.array(type) else { return nil }
        self = kind
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

    private static func array(_ type: Any.Type) -> OutputKind? {
        if type == [String].self { return .strings }
        if type == [Int].self { return .integers }
        return type == [Double].self ? .doubles : nil
    }
}

/// The properties of a type that determine how its values are written.
struct OutputTypeInfo {
    let kind: OutputKind
    /// The type as a direct value, for ``OutputKind/direct`` and ``OutputKind/optional``.
    let direct: (any DirectValue.Type)?

    init(_ type: Any.Type, settings: OutputSettings) {
        let known = OutputKind(type, settings: settings)
        // A cast costs more than writing a value.
        direct = known == nil ? type as? any DirectValue.Type : nil
        kind = known ?? direct.map { $0.isOptional ? .optional : .direct } ?? .other
    }
}
