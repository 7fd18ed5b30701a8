import Foundation

/// The encoders for the body parameters and the URL parameters of a task.
///
/// URL parameters always go into the query, whatever the encoding of the body. The two are independent, and either may
/// be nil.
public struct ParameterEncoding: Sendable {
    /// Shared storage, because every task has an encoding, and few differ.
    private final class Encoders: Sendable {
        let body: any ParameterEncoder
        let url: URLParameterEncoder

        init(_ body: any ParameterEncoder, _ url: URLParameterEncoder) {
            self.body = body
            self.url = url
        }
    }

    private let encoders: Encoders

    var bodyEncoder: any ParameterEncoder { encoders.body }
    var urlEncoder: URLParameterEncoder { encoders.url }

    func append(_ parameters: Parameters, to query: inout [UInt8]) throws(NetworkError) {
        try encoders.url.form.append(parameters, to: &query)
    }

    /// No body. Body parameters, if any, precede the URL parameters in the query.
    public static let urlEncoding = ParameterEncoding.custom(URLParameterEncoder())
    /// Body parameters as a JSON object.
    public static let jsonEncoding = ParameterEncoding.custom(JSONParameterEncoder())
    /// An alias of ``jsonEncoding``, for designs where URL and JSON encoding were separate choices.
    public static let urlAndJsonEncoding = jsonEncoding
    /// Body parameters as a form.
    public static let formEncoding = ParameterEncoding.custom(FormParameterEncoder())

    /// Returns ``urlEncoding`` with other rules: `.urlEncoding(URLEncodedFormEncoder(arrayEncoding: .noBrackets))`.
    public static func urlEncoding(_ query: URLEncodedFormEncoder) -> ParameterEncoding {
        .custom(URLParameterEncoder(query), query: query)
    }

    /// Returns ``jsonEncoding`` with other rules: `.jsonEncoding(sortsKeys: true)`. `query` writes the URL parameters.
    public static func jsonEncoding(
        sortsKeys: Bool = false, isPretty: Bool = false, query: URLEncodedFormEncoder = URLEncodedFormEncoder()
    ) -> ParameterEncoding {
        .custom(JSONParameterEncoder(sortsKeys: sortsKeys, isPretty: isPretty), query: query)
    }

    /// Returns ``formEncoding`` with other rules, which apply to body and query.
    public static func formEncoding(_ form: URLEncodedFormEncoder) -> ParameterEncoding {
        .custom(FormParameterEncoder(form), query: form)
    }

    /// Returns an encoding with a body encoder of the app. `query` writes the URL parameters.
    public static func custom(
        _ bodyEncoder: any ParameterEncoder, query: URLEncodedFormEncoder = URLEncodedFormEncoder()
    ) -> ParameterEncoding {
        ParameterEncoding(encoders: Encoders(bodyEncoder, URLParameterEncoder(query)))
    }

    /// Writes both kinds of parameters into a `URLRequest`, for code that has its own request. Nil parameters write
    /// nothing.
    ///
    /// - Throws: The errors of ``ParameterEncoder/encode(urlRequest:with:)``. On an error, the request stays unchanged.
    public func encode(
        urlRequest: inout URLRequest, bodyParameters: Parameters?, urlParameters: Parameters?
    ) throws(NetworkError) {
        var request = urlRequest
        if let bodyParameters { try bodyEncoder.encode(urlRequest: &request, with: bodyParameters) }
        if let urlParameters { try urlEncoder.encode(urlRequest: &request, with: urlParameters) }
        urlRequest = request
    }
}
