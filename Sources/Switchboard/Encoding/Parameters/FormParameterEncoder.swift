import Foundation

/// Writes parameters into the body as a form, with `Content-Type: application/x-www-form-urlencoded; charset=utf-8`
/// unless the request has one.
public struct FormParameterEncoder: ParameterEncoder {
    /// How names and values are written.
    public var form: URLEncodedFormEncoder

    /// Makes an encoder; without an argument, with ``URLEncodedFormEncoder``'s defaults.
    public init(_ form: URLEncodedFormEncoder = URLEncodedFormEncoder()) {
        self.form = form
    }

    /// Sets the draft's body.
    ///
    /// - Throws: ``NetworkError/Code/encodingFailed``, naming the parameter that cannot be written.
    public func encode(_ parameters: Parameters, into draft: inout RequestDraft) throws(NetworkError) {
        let body = FormBody(parameters, encoder: form)
        do {
            draft.body = DataBody(try body.encode(), additionalHeaders: body.additionalHeaders)
        } catch {
            throw NetworkError.encoding(error)
        }
    }
}
