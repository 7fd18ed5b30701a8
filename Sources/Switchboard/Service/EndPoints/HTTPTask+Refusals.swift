import Foundation

extension HTTPTask {
    /// Rejects an unconverted value at compile time: use `try Parameters(dictionary)`.
    @available(*, unavailable, message: "convert the variable first: `try Parameters(dictionary)`")
    @_disfavoredOverload
    public static func requestParameters(
        bodyParameters: Any? = nil, bodyEncoding: ParameterEncoding = .jsonEncoding, urlParameters: Any? = nil
    ) -> HTTPTask { .request }

    /// Rejects an unconverted value at compile time: use `try Parameters(dictionary)`.
    @available(*, unavailable, message: "convert the variable first: `try Parameters(dictionary)`")
    @_disfavoredOverload
    public static func requestParametersAndHeaders(
        bodyParameters: Any? = nil, bodyEncoding: ParameterEncoding = .jsonEncoding, urlParameters: Any? = nil,
        additionHeaders: HTTPHeaders?
    ) -> HTTPTask { .request }

    /// Rejects an unconverted value at compile time: use `try Parameters(dictionary)`.
    @available(*, unavailable, message: "convert the variable first: `try Parameters(dictionary)`")
    @_disfavoredOverload
    public static func requestParametersAndHeaders(
        bodyParameters: Any? = nil, bodyEncoding: ParameterEncoding = .jsonEncoding, urlParameters: Any? = nil,
        additionalHeaders: HTTPHeaders?
    ) -> HTTPTask { .request }

    /// Rejects an unconverted value at compile time: use `try Parameters(dictionary)`.
    @available(*, unavailable, message: "convert the variable first: `try Parameters(dictionary)`")
    @_disfavoredOverload
    public static func requestParameters(_ parameters: Any?, bodyEncoding: ParameterEncoding = .jsonEncoding)
        -> HTTPTask
    { .request }

    /// Rejects an unconverted value at compile time: use `try Parameters(dictionary)`.
    @available(*, unavailable, message: "convert the variable first: `try Parameters(dictionary)`")
    @_disfavoredOverload
    public static func requestBody(
        _ body: any HTTPBody, urlParameters: Any?, additionHeaders: HTTPHeaders? = nil
    ) -> HTTPTask { .request }

    /// Rejects an unconverted value at compile time: use `try Parameters(dictionary)`.
    @available(*, unavailable, message: "convert the variable first: `try Parameters(dictionary)`")
    @_disfavoredOverload
    public static func download(to file: URL, urlParameters: Any?) -> HTTPTask { .request }
}

// The names of Moya's tasks.
extension HTTPTask {
    /// Not available: Moya's name for ``request``.
    @available(*, unavailable, renamed: "request")
    public static var requestPlain: HTTPTask { .request }

    /// Rejects Moya's name at compile time: use ``requestBody(_:urlParameters:additionHeaders:)`` with a ``JSONBody``.
    @available(*, unavailable, message: "write `.requestBody(JSONBody(value))`")
    public static func requestJSONEncodable(_ value: some Encodable) -> HTTPTask { .request }

    /// Rejects Moya's name at compile time: use ``requestBody(_:urlParameters:additionHeaders:)`` with a ``DataBody``.
    @available(*, unavailable, message: "write `.requestBody(DataBody(data))`")
    public static func requestData(_ data: Data) -> HTTPTask { .request }

    /// Rejects Moya's arguments at compile time: name the part of the request that takes the parameters.
    @available(
        *, unavailable,
        message: "write `.requestParameters(urlParameters:)`, or `bodyParameters:` with `bodyEncoding:`"
    )
    public static func requestParameters(parameters: Any, encoding: Any) -> HTTPTask { .request }
}
