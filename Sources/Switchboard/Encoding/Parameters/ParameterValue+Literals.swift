import Foundation

extension ParameterValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral {
    /// Makes ``null``.
    public init(nilLiteral: ()) {
        self = .null
    }

    /// Makes a Boolean.
    public init(booleanLiteral value: Bool) {
        self = .bool(value)
    }

    /// Makes a number.
    public init(integerLiteral value: Int) {
        self = .number(value)
    }
}

extension ParameterValue: ExpressibleByFloatLiteral, ExpressibleByStringInterpolation {
    /// Makes a number.
    public init(floatLiteral value: Double) {
        self = ParameterValue(any: value, at: "")
    }

    /// Makes text.
    public init(stringLiteral value: String) {
        self = .string(value)
    }
}

extension ParameterValue: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// Makes an array of literals and variables.
    public init(arrayLiteral elements: Any?...) {
        self = .array(elements.map { ParameterValue(any: $0 as Any, at: "[]") })
    }

    /// Makes an object of literals and variables, in the order written.
    public init(dictionaryLiteral elements: (String, Any?)...) {
        self = .object(Parameters(untyped: elements))
    }
}
