import Foundation

extension HTTPTask {
    /// Unavailable: convert a variable with `try Parameters(dictionary)`.
    @available(*, unavailable, message: "convert the variable first: `try Parameters(dictionary)`")
    @_disfavoredOverload
    public static func requestParameters(
        bodyParameters: Any? = nil, bodyEncoding: ParameterEncoding = .jsonEncoding, urlParameters: Any? = nil
    ) -> HTTPTask { .request }

    /// Unavailable: convert a variable with `try Parameters(dictionary)`.
    @available(*, unavailable, message: "convert the variable first: `try Parameters(dictionary)`")
    @_disfavoredOverload
    public static func requestParametersAndHeaders(
        bodyParameters: Any? = nil, bodyEncoding: ParameterEncoding = .jsonEncoding, urlParameters: Any? = nil,
        additionHeaders: HTTPHeaders?
    ) -> HTTPTask { .request }

    /// Unavailable: convert a variable with `try Parameters(dictionary)`.
    @available(*, unavailable, message: "convert the variable first: `try Parameters(dictionary)`")
    @_disfavoredOverload
    public static func requestParametersAndHeaders(
        bodyParameters: Any? = nil, bodyEncoding: ParameterEncoding = .jsonEncoding, urlParameters: Any? = nil,
        additionalHeaders: HTTPHeaders?
    ) -> HTTPTask { .request }

    /// Unavailable: convert a variable with `try Parameters(dictionary)`.
    @available(*, unavailable, message: "convert the variable first: `try Parameters(dictionary)`")
    @_disfavoredOverload
    public static func requestParameters(_ parameters: Any?, bodyEncoding: ParameterEncoding = .jsonEncoding)
        -> HTTPTask
    { .request }

    /// Unavailable: convert a variable with `try Parameters(dictionary)`.
    @available(*, unavailable, message: "convert the variable first: `try Parameters(dictionary)`")
    @_disfavoredOverload
    public static func requestBody(
        _ body: any HTTPBody, urlParameters: Any?, additionHeaders: HTTPHeaders? = nil
    ) -> HTTPTask { .request }

    /// Unavailable: convert a variable with `try Parameters(dictionary)`.
    @available(*, unavailable, message: "convert the variable first: `try Parameters(dictionary)`")
    @_disfavoredOverload
    public static func download(to file: URL, urlParameters: Any?) -> HTTPTask { .request }
}

// The names of Moya's tasks.
extension HTTPTask {
    /// Unavailable: ``request``.
    @available(*, unavailable, renamed: "request")
    public static var requestPlain: HTTPTask { .request }

    /// Unavailable: ``requestBody(_:urlParameters:additionHeaders:)`` with a ``JSONBody``.
    @available(*, unavailable, message: "write `.requestBody(JSONBody(value))`")
    public static func requestJSONEncodable(_ value: some Encodable) -> HTTPTask { .request }

    /// Unavailable: ``requestBody(_:urlParameters:additionHeaders:)`` with a ``DataBody``.
    @available(*, unavailable, message: "write `.requestBody(DataBody(data))`")
    public static func requestData(_ data: Data) -> HTTPTask { .request }

    /// Unavailable: say in the name of the argument where the parameters go.
    @available(
        *, unavailable,
        message: "write `.requestParameters(urlParameters:)`, or `bodyParameters:` with `bodyEncoding:`"
    )
    public static func requestParameters(parameters: Any, encoding: Any) -> HTTPTask { .request }
}
