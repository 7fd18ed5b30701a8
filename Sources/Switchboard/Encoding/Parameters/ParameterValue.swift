import Foundation
import SwitchboardText

/// The value of a parameter: whatever JSON and forms can say.
///
/// A literal is one, and ``init(_:)`` makes one of a variable. Arrays and objects hold variables as they are:
///
/// ```swift
/// let order: ParameterValue = ["id": id, "note": nil, "items": [["sku": "a", "count": 1], "gift"]]
/// JSONBody(order)
/// ```
public enum ParameterValue: Sendable, Equatable {
    /// `null` in JSON; a form decides by its ``URLEncodedFormEncoder/NilEncoding``.
    case null
    /// A nil property of an `Encodable` type. JSON leaves it out; a form treats it as ``null``.
    case absent
    /// A Boolean.
    case bool(Bool)
    /// A number as JSON writes it. Text that is no JSON number is refused when it is written.
    case number(String)
    /// Text.
    case string(String)
    /// A date; the encoder decides its form.
    case date(Date)
    /// Data; the encoder decides its form.
    case data(Data)
    /// An array.
    case array([ParameterValue])
    /// An object, its members in order.
    case object(Parameters)
    /// The error of a value that cannot be encoded. Writing it throws the error.
    indirect case invalid(NetworkError)

    /// Converts any `Encodable` value. A value whose encoding throws becomes ``invalid(_:)``.
    public init(_ value: some Encodable) {
        self = ParameterValue(any: value, at: "")
    }

    /// The value of any `Encodable`, members in the order in which the type encodes them and those of a dictionary by
    /// name.
    init(encoding value: any Encodable) throws {
        let node = EncodingNode()
        try node.encode(value, at: [])
        self = try node.finished()
    }

    static func number(_ value: Int) -> ParameterValue {
        .number(value.description)  // the fast way; `String(value)` is the generic one
    }

    static func number(_ value: some BinaryInteger) -> ParameterValue {
        .number(String(value))
    }

    /// Nil for an infinity or a NaN, which neither form nor JSON can write.
    static func number<Value: BinaryFloatingPoint & LosslessStringConvertible>(finite value: Value) -> ParameterValue? {
        guard value.isFinite else { return nil }
        let text = String(value)
        return .number(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
    }

    package var isAbsent: Bool {
        if case .absent = self { true } else { false }
    }

    /// Whether a text is a number of JSON ([RFC 8259 §6](https://www.rfc-editor.org/rfc/rfc8259#section-6)).
    static func isNumber(_ text: String) -> Bool {
        enum Part { case start, minus, zero, integer, point, fraction, exponent, sign, power }
        var part = Part.start
        for byte in text.utf8 {
            switch (part, byte) {
            case (.start, UInt8(ascii: "-")): part = .minus
            case (.start, UInt8(ascii: "0")), (.minus, UInt8(ascii: "0")): part = .zero
            case (.start, 0x30...0x39), (.minus, 0x30...0x39), (.integer, 0x30...0x39): part = .integer
            case (.zero, UInt8(ascii: ".")), (.integer, UInt8(ascii: ".")): part = .point
            case (.point, 0x30...0x39), (.fraction, 0x30...0x39): part = .fraction
            case (.zero, 0x45), (.zero, 0x65), (.integer, 0x45), (.integer, 0x65), (.fraction, 0x45), (.fraction, 0x65):
                part = .exponent
            case (.exponent, UInt8(ascii: "+")), (.exponent, UInt8(ascii: "-")): part = .sign
            case (.exponent, 0x30...0x39), (.sign, 0x30...0x39), (.power, 0x30...0x39): part = .power
            default: return false
            }
        }
        return part == .zero || part == .integer || part == .fraction || part == .power
    }

    static func notNumber(_ text: String) -> NetworkError {
        NetworkError(.encodingFailed, reason: "\(text.quotedForMessage) is not a JSON number")
    }

    /// The error of the first value in it that cannot be encoded.
    var fault: NetworkError? {
        switch self {
        case .invalid(let error): error
        case .array(let values): values.lazy.compactMap(\.fault).first
        case .object(let members): members.fault
        default: nil
        }
    }
}
