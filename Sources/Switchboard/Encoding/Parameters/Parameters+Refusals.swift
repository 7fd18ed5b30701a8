import Foundation

extension JSONBody {
    /// Rejects untyped values at compile time. Use `JSONBody(try Parameters(dictionary))`.
    @available(
        *, unavailable,
        message: "the value's type must be Encodable; for a [String: Any] write `JSONBody(try Parameters(dictionary))`"
    )
    @_disfavoredOverload
    public init(_ value: Any?) {
        self.init(ParameterValue.null)
    }
}

extension FormBody {
    /// Rejects untyped values at compile time. Use `FormBody(try Parameters(dictionary))`.
    @available(
        *, unavailable,
        message: "the value's type must be Encodable; for a [String: Any] write `FormBody(try Parameters(dictionary))`"
    )
    @_disfavoredOverload
    public init(_ value: Any?, encoder: URLEncodedFormEncoder = URLEncodedFormEncoder()) {
        self.init(Parameters(), encoder: encoder)
    }
}
