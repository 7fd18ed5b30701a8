import Foundation
import SwitchboardJSON
import SwitchboardText

extension ParameterValue {
    /// Converts a value of any type. `path` is the location in the parameters for an error's text: `user[tags]`, and
    /// `depth` the number of values that contain this one.
    init(any value: Any, at path: String, depth: Int = 0) {
        if let value = Self.common(value) {
            self = value
        } else {
            do {
                self = try ParameterValue(other: value, at: path, depth: depth)
            } catch {
                self = .invalid(.encoding(error))
            }
        }
    }

    /// Converts strings and integers without a cast, which would cost more than the rest of the conversion.
    private static func common<Value>(_ value: Value) -> ParameterValue? {
        if Value.self == String.self { return .string(unsafeBitCast(value, to: String.self)) }
        if Value.self == Int.self { return .number(unsafeBitCast(value, to: Int.self)) }
        return nil
    }

    private init(other value: Any, at path: String, depth: Int) throws {
        guard depth <= EncodingNode.maximumDepth else {
            throw NetworkError(
                .encodingFailed,
                reason: "\(EncodingFailure.subject(at: path)) is within more than \(EncodingNode.maximumDepth) others")
        }
        if depth > 16, StackSpace.isExhausted { throw EncodingNode.exceedsStack }
        if let scalar = try Self.scalar(value, at: path) {
            self = scalar
        } else if let optional = value as? any OptionalValue {
            // Unwraps an optional inside an existential, whose description would be sent otherwise.
            self = optional.wrappedAny.map { ParameterValue(any: $0, at: path, depth: depth + 1) } ?? .null
        } else if let value = value as? ParameterValue {
            self = value
        } else if let parameters = value as? Parameters {
            self = .object(parameters)
        } else if let raw = value as? any RawRepresentable {
            self = try Self.raw(raw, at: path, depth: depth)
        } else if let array = value as? [Any] {
            self = .array(array.map { ParameterValue(any: $0, at: path + "[]", depth: depth + 1) })
        } else if let dictionary = value as? [String: Any] {
            self = .object(Parameters(sorting: dictionary, depth: depth + 1) { "\(path)[\($0)]" })
        } else if let encodable = value as? any Encodable {
            self = try Self.encoded(encodable, at: path)
        } else {
            throw NetworkError(
                .encodingFailed,
                reason:
                    "\(EncodingFailure.subject(at: path)) is a \(type(of: value)), which is neither a scalar, a date, "
                    + "data, an array or dictionary of these, nor Encodable; "
                    + "a type of the main actor must be nonisolated")
        }
    }

    /// Converts a value by its `encode(to:)`, or by its raw value if it has none. The synthesized one writes an object
    /// with the raw value, or for an enum one with an object for its case.
    private static func raw(
        _ value: any RawRepresentable, at path: String, depth: Int
    ) throws -> ParameterValue {
        if let encodable = value as? any Encodable {
            let own = try encoded(encodable, at: path)
            guard case .object(let members) = own, let member = members.first, members.count == 1 else { return own }
            let mirror = Mirror(reflecting: value)
            let isCase =
                mirror.displayStyle == .enum
                && (member.value == .object(Parameters()) || mirror.children.first?.label == member.name)
            guard member.name == "rawValue" || isCase else { return own }
        }
        return ParameterValue(any: value.rawAny, at: path, depth: depth + 1)
    }

    private static func encoded(_ value: any Encodable, at path: String) throws -> ParameterValue {
        do {
            return try ParameterValue(encoding: value)
        } catch {
            throw NetworkError(.encodingFailed, reason: EncodingFailure.describe(error, at: path), underlying: error)
        }
    }

    private static func scalar(_ value: Any, at path: String) throws -> ParameterValue? {
        if type(of: value) == AnyHashable.self, let hashable = value as? AnyHashable {
            return try scalar(hashable.base, at: path)
        }
        // Checked first, because an NSNumber casts to any number type, and a true NSNumber to 1.
        if type(of: value) is NSNumber.Type, let number = value as? NSNumber {
            return try Self.number(number, at: path)
        }
        // On Linux, a cast to a class converts all nested arrays and dictionaries to objects first.
        if type(of: value) is NSNull.Type { return .null }
        switch value {
        case let value as String: return .string(value)
        case let value as Int: return .number(value)
        case let value as Bool: return .bool(value)
        case let value as Double: return try finite(value, number(finite: value), at: path)
        case let value as Float: return try finite(value, number(finite: value), at: path)
        case let value as any BinaryInteger: return .number(value)
        case let value as Substring: return .string(String(value))
        case let value as Character: return .string(String(value))
        case let value as Date: return .date(value)
        case let value as Data: return .data(value)
        case let value as URL: return .string(value.absoluteString)
        case let value as UUID: return .string(value.uuidString)
        case let value as Decimal: return try finite(value, number(finite: value), at: path)
        default: return nil
        }
    }

    private static func finite(_ value: Any, _ number: ParameterValue?, at path: String) throws -> ParameterValue {
        if let number { return number }
        throw NetworkError(
            .encodingFailed, reason: "\(EncodingFailure.subject(at: path)) is \(value), which is not a finite number")
    }

    /// Converts an `NSNumber`. Foundation has one object for true and one for false, and only those become Booleans.
    private static func number(_ value: NSNumber, at path: String) throws -> ParameterValue {
        if value === NSNumber(value: value.boolValue) { return .bool(value.boolValue) }
        if let decimal = (value as? NSDecimalNumber)?.decimalValue {
            return try finite(decimal, number(finite: decimal), at: path)
        }
        if let integer = Int64(exactly: value) { return .number(integer) }
        if let integer = UInt64(exactly: value) { return .number(integer) }
        return try finite(value.doubleValue, number(finite: value.doubleValue), at: path)
    }
}

protocol OptionalValue: ExpressibleByNilLiteral {
    var wrappedAny: Any? { get }
}

extension Optional: OptionalValue {
    var wrappedAny: Any? { map { $0 as Any } }
}

extension RawRepresentable {
    fileprivate var rawAny: Any { rawValue }
}
