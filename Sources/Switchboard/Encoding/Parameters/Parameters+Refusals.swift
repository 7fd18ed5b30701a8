import Foundation

extension JSONBody {
    /// Unavailable: `JSONBody(try Parameters(dictionary))`.
    @available(*, unavailable, message: "convert the value first: `JSONBody(try Parameters(dictionary))`")
    @_disfavoredOverload
    public init(_ value: Any?) {
        self.init(ParameterValue.null)
    }
}

extension FormBody {
    /// Unavailable: `FormBody(try Parameters(dictionary))`.
    @available(*, unavailable, message: "convert the value first: `FormBody(try Parameters(dictionary))`")
    @_disfavoredOverload
    public init(_ value: Any?, encoder: URLEncodedFormEncoder = URLEncodedFormEncoder()) {
        self.init(Parameters(), encoder: encoder)
    }
}
