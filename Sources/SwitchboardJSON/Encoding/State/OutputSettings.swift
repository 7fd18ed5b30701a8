import Foundation

/// The settings of one encoding call, in the form that its writers need, and the cached routes of types.
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
    private let routes: UnsafeMutablePointer<OutputRoute>
    /// Whether a container exceeds the maximum depth. Creating one cannot throw, so ``OutputWriter/finished(_:)`` does.
    var isTooDeep = false
    /// The writers of nested values. They form reference cycles until ``OutputWriter/end()``.
    var writers: [OutputWriter] = []
    private var snakeCased: [String: String] = [:]

    private static let routeCount = 32

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
        maximumDepth = max(0, encoder.maximumDepth)
        routes = .allocate(capacity: Self.routeCount)
        routes.initialize(repeating: OutputRoute(), count: Self.routeCount)
    }

    deinit {
        routes.deallocate()
    }

    /// Returns the route for values of a type. A table caches 32 routes, because the casts cost more than the writing.
    @inline(__always)
    func route<Value: Encodable>(of type: Value.Type) -> OutputRoute {
        let identifier = ObjectIdentifier(type)
        let slot = routes + ((UInt(bitPattern: identifier) &>> 4 ^ UInt(bitPattern: identifier) &>> 9) & 31).asInt
        if slot.pointee.type == identifier { return slot.pointee }
        slot.pointee = OutputRoute(type, settings: self)
        return slot.pointee
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

extension UInt {
    fileprivate var asInt: Int { Int(bitPattern: self) }
}
