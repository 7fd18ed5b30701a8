import Foundation

/// Writes parameters into the body as a form, with `Content-Type: application/x-www-form-urlencoded; charset=utf-8`
/// unless the request sets that field.
public struct FormParameterEncoder: ParameterEncoder {
    /// The encoder of names and values.
    public var form: URLEncodedFormEncoder

    /// Creates an encoder. The default form has ``URLEncodedFormEncoder``'s defaults.
    public init(_ form: URLEncodedFormEncoder = URLEncodedFormEncoder()) {
        self.form = form
    }

    /// Replaces the request's body with the form.
    ///
    /// - Throws: ``NetworkError/Code/encodingFailed``, which names the parameter that cannot be written.
    public func encode(_ parameters: Parameters, into request: inout NetworkRequest) throws(NetworkError) {
        request.body = DataBody(Data(try form.encode(parameters).utf8), contentType: FormBody.contentType)
    }
}
