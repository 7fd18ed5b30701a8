import Foundation

/// How a task's body parameters and URL parameters are written.
///
/// URL parameters always go into the query, whatever becomes of the body: the two are independent, and either may be
/// nil.
public struct ParameterEncoding: Sendable {
    /// Behind a reference: every task has an encoding, and few differ.
    private final class Encoders: Sendable {
        let body: any ParameterEncoder
        let url: URLParameterEncoder

        init(_ body: any ParameterEncoder, _ url: URLParameterEncoder) {
            self.body = body
            self.url = url
        }
    }

    private let encoders: Encoders

    /// Writes the body parameters.
    public var bodyEncoder: any ParameterEncoder { encoders.body }
    /// Writes the URL parameters.
    public var urlEncoder: URLParameterEncoder { encoders.url }

    /// Appends URL parameters to a query.
    func append(_ parameters: Parameters, to query: inout [UInt8]) throws(NetworkError) {
        try encoders.url.form.append(parameters, to: &query)
    }

    /// There is no body: body parameters, if any, join the query before the URL parameters.
    public static let urlEncoding = ParameterEncoding.custom(URLParameterEncoder())
    /// Body parameters become a JSON object.
    public static let jsonEncoding = ParameterEncoding.custom(JSONParameterEncoder())
    /// The same as ``jsonEncoding``, under the name it has where the two were exclusive.
    public static let urlAndJsonEncoding = jsonEncoding
    /// Body parameters become a form.
    public static let formEncoding = ParameterEncoding.custom(FormParameterEncoder())

    /// Encoders of your choice: `.custom(JSONParameterEncoder(sortsKeys: true))`.
    public static func custom(
        _ bodyEncoder: any ParameterEncoder, urlEncoder: URLParameterEncoder = URLParameterEncoder()
    ) -> ParameterEncoding {
        ParameterEncoding(encoders: Encoders(bodyEncoder, urlEncoder))
    }

    /// Writes both kinds of parameters into a `URLRequest`, for code that owns one. Nil parameters write nothing.
    ///
    /// - Throws: What ``ParameterEncoder/encode(urlRequest:with:)`` throws. The request is unchanged then.
    public func encode(
        urlRequest: inout URLRequest, bodyParameters: Parameters?, urlParameters: Parameters?
    ) throws(NetworkError) {
        var request = urlRequest
        if let bodyParameters { try bodyEncoder.encode(urlRequest: &request, with: bodyParameters) }
        if let urlParameters { try urlEncoder.encode(urlRequest: &request, with: urlParameters) }
        urlRequest = request
    }
}
