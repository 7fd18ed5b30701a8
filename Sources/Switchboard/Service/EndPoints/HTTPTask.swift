import Foundation

/// What a request carries besides method and path: body, query and headers, three values that are independent of each
/// other.
///
/// ```swift
/// let tasks: [HTTPTask] = [
///     .request,
///     .requestParameters(urlParameters: ["page": 1]),
///     .requestParameters(bodyParameters: ["name": "A"], bodyEncoding: .formEncoding),
///     .requestBody(JSONBody(todo), urlParameters: ["notify": true]),
///     .download(to: file),
/// ]
/// ```
public struct HTTPTask: Sendable {
    enum Content: Sendable {
        case none
        case parameters(Parameters, ParameterEncoding)
        case body(any HTTPBody)
        case byMethod(Parameters, ParameterEncoding)
        /// Nothing is sent, and the response goes into a file. Behind a reference: it is large, and rare.
        indirect case download(Download)
    }

    var content = Content.none
    var urlParameters: Parameters?
    /// Writes them into the query.
    var urlEncoding = ParameterEncoding.jsonEncoding
    var headers: HTTPHeaders?

    /// Where the response goes, when it goes into a file.
    var download: Download? {
        if case .download(let download) = content { download } else { nil }
    }

    /// Nothing.
    public static let request = HTTPTask()

    /// Parameters in the body, in the query, or in both. A nil or empty side writes nothing.
    ///
    /// - Parameters:
    ///   - bodyParameters: Written by `bodyEncoding`. GET, HEAD and TRACE refuse them with
    ///     ``NetworkError/Code/bodyNotAllowed``, unless the encoding is ``ParameterEncoding/urlEncoding``, which has no
    ///     body.
    ///   - bodyEncoding: Default JSON.
    ///   - urlParameters: Appended to the query in their order.
    /// - Returns: The task.
    public static func requestParameters(
        bodyParameters: Parameters? = nil, bodyEncoding: ParameterEncoding = .jsonEncoding,
        urlParameters: Parameters? = nil
    ) -> HTTPTask {
        var task = HTTPTask()
        if let bodyParameters, !bodyParameters.isEmpty { task.content = .parameters(bodyParameters, bodyEncoding) }
        task.urlParameters = urlParameters
        task.urlEncoding = bodyEncoding
        return task
    }

    /// Like ``requestParameters(bodyParameters:bodyEncoding:urlParameters:)``, with header fields that win over the
    /// endpoint's.
    public static func requestParametersAndHeaders(
        bodyParameters: Parameters? = nil, bodyEncoding: ParameterEncoding = .jsonEncoding,
        urlParameters: Parameters? = nil,
        additionHeaders: HTTPHeaders?
    ) -> HTTPTask {
        var task = requestParameters(
            bodyParameters: bodyParameters, bodyEncoding: bodyEncoding, urlParameters: urlParameters)
        task.headers = additionHeaders
        return task
    }

    /// The same as ``requestParametersAndHeaders(bodyParameters:bodyEncoding:urlParameters:additionHeaders:)``.
    public static func requestParametersAndHeaders(
        bodyParameters: Parameters? = nil, bodyEncoding: ParameterEncoding = .jsonEncoding,
        urlParameters: Parameters? = nil,
        additionalHeaders: HTTPHeaders?
    ) -> HTTPTask {
        requestParametersAndHeaders(
            bodyParameters: bodyParameters, bodyEncoding: bodyEncoding, urlParameters: urlParameters,
            additionHeaders: additionalHeaders)
    }

    /// Parameters where the method wants them: in the query for GET, HEAD and DELETE, in the body for the others. None
    /// write nothing.
    public static func requestParameters(
        _ parameters: Parameters, bodyEncoding: ParameterEncoding = .jsonEncoding
    ) -> HTTPTask {
        var task = HTTPTask()
        if !parameters.isEmpty { task.content = .byMethod(parameters, bodyEncoding) }
        return task
    }

    /// A body of any kind: ``JSONBody``, ``FormBody``, ``DataBody``, or one of your own.
    public static func requestBody(
        _ body: any HTTPBody, urlParameters: Parameters? = nil, additionHeaders: HTTPHeaders? = nil
    ) -> HTTPTask {
        var task = HTTPTask()
        task.content = .body(body)
        task.urlParameters = urlParameters
        task.headers = additionHeaders
        return task
    }

    /// The same as ``requestBody(_:urlParameters:additionHeaders:)``.
    public static func requestBody(
        _ body: any HTTPBody, urlParameters: Parameters? = nil, additionalHeaders: HTTPHeaders?
    ) -> HTTPTask {
        requestBody(body, urlParameters: urlParameters, additionHeaders: additionalHeaders)
    }

    /// A body to be sent, the same as ``requestBody(_:urlParameters:additionHeaders:)``.
    public static func upload(_ body: any HTTPBody) -> HTTPTask {
        requestBody(body)
    }

    /// A response whose body goes into a file instead of memory.
    ///
    /// The file has its name only once it is complete, and replaces one that is there. The body of a response other
    /// than 2xx stays in memory, for the error. A connection that is lost is made good for as in
    /// ``NetworkRouter/download(_:to:keepingPartial:options:progress:verify:)``, when ``RequestOptions/retry`` or a
    /// ``RetryPolicy`` of the router allows it.
    ///
    /// - Parameters:
    ///   - file: Where to save it.
    ///   - urlParameters: Appended to the query in their order.
    ///   - isKept: Whether what has arrived is kept when the download fails, so that the next call goes on with it.
    ///   - progress: Hears how far it is, and can cancel it. One for each call.
    /// - Returns: The task.
    public static func download(
        to file: URL, urlParameters: Parameters? = nil, keepingPartial isKept: Bool = false,
        progress: TransferProgress? = nil
    ) -> HTTPTask {
        var task = HTTPTask()
        task.content = .download(Download(file: file, isKept: isKept, progress: progress))
        task.urlParameters = urlParameters
        return task
    }
}
