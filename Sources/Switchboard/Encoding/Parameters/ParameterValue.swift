import Foundation

/// The value of a parameter: any value that JSON and forms can express.
///
/// A literal is a value, and ``init(_:)`` converts a variable. Array and dictionary literals may contain variables:
///
/// ```swift
/// let order: ParameterValue = [
///     "id": 7, "note": nil,
///     "items": [["sku": "a", "count": 1], "gift"],
/// ]
/// let body = JSONBody(order)
/// ```
public enum ParameterValue: Sendable, Equatable {
    /// `null` in JSON. In a form, its ``URLEncodedFormEncoder/NilEncoding`` applies.
    case null
    /// A nil property of an `Encodable` type. JSON omits it, and a form treats it as ``null``.
    case absent
    /// A Boolean.
    case bool(Bool)
    /// A number in JSON notation. Text that is not a JSON number makes JSON encoding fail.
    case number(String)
    /// Text.
    case string(String)
    /// A date. The encoder determines its format.
    case date(Date)
    /// Data. The encoder determines its format.
    case data(Data)
    /// An array.
    case array([ParameterValue])
    /// An object with ordered members.
    case object(Parameters)
    /// The error of a value that cannot be encoded. Encoding it throws this error.
    indirect case invalid(NetworkError)

    /// Creates a value from any `Encodable`. A value whose encoding throws becomes ``invalid(_:)``.
    public init(_ value: some Encodable) {
        self = ParameterValue(any: value, at: "")
    }

    /// Creates a value from any `Encodable`. Members keep the order in which the type encodes them; those of a
    /// dictionary are sorted by name.
    init(encoding value: any Encodable) throws {
        let node = EncodingNode()
        try node.encode(value, at: [])
        self = try node.finished()
    }

    static func number(_ value: Int) -> ParameterValue {
        .number(String(value))  // faster than `value.description` and the generic function
    }

    static func number(_ value: some BinaryInteger) -> ParameterValue {
        .number(String(value))
    }

    /// Returns nil for an infinity or NaN, which neither forms nor JSON can express.
    static func number<Value: BinaryFloatingPoint & LosslessStringConvertible>(finite value: Value) -> ParameterValue? {
        guard value.isFinite else { return nil }
        let text = String(value)
        return .number(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
    }

    static func number(finite value: Decimal) -> ParameterValue? {
        value.isNaN ? nil : .number(value.description)
    }

    /// Returns the error of the first contained value that cannot be encoded.
    func fault(depth: Int) -> NetworkError? {
        guard depth <= EncodingNode.maximumDepth + 1 else { return EncodingNode.tooDeep }
        switch self {
        case .invalid(let error): return error
        case .object(let members): return members.fault(depth: depth + 1)
        case .array(let values):
            for value in values {
                if let fault = value.fault(depth: depth + 1) { return fault }
            }
            return nil
        default: return nil
        }
    }
}
