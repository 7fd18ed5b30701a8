import Foundation

extension ParameterValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral {
    /// Creates ``null``.
    public init(nilLiteral: ()) {
        self = .null
    }

    /// Creates a Boolean.
    public init(booleanLiteral value: Bool) {
        self = .bool(value)
    }

    /// Creates a number.
    public init(integerLiteral value: Int) {
        self = .number(value)
    }
}

extension ParameterValue: ExpressibleByFloatLiteral, ExpressibleByStringInterpolation {
    /// Creates a number.
    public init(floatLiteral value: Double) {
        self = ParameterValue(any: value, at: "")
    }

    /// Creates text.
    public init(stringLiteral value: String) {
        self = .string(value)
    }
}

extension ParameterValue: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// Creates an array of literals and variables.
    public init(arrayLiteral elements: Any?...) {
        self = .array(elements.map { ParameterValue(any: $0 as Any, at: "[]") })
    }

    /// Creates an object of literals and variables, in the order written.
    public init(dictionaryLiteral elements: (String, Any?)...) {
        self = .object(Parameters(untyped: elements))
    }
}
