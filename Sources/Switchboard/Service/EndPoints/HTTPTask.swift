import Foundation

/// The body, query and headers of a request. The three are independent of each other.
///
/// ```swift
/// let tasks: [HTTPTask] = [
///     .request,
///     .requestParameters(urlParameters: ["page": 1]),
///     .requestParameters(
///         bodyParameters: ["name": "A"], bodyEncoding: .formEncoding),
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
        /// Nothing is sent, and the response is saved in a file. Indirect because it is large and rare.
        indirect case download(Download)
    }

    var content = Content.none
    var urlParameters: Parameters?
    /// The encoding that writes `urlParameters` into the query.
    var urlEncoding = ParameterEncoding.jsonEncoding
    var headers: HTTPHeaders?

    var download: Download? {
        if case .download(let download) = content { download } else { nil }
    }

    /// A task without body, query and headers.
    public static let request = HTTPTask()

    /// Creates a task with parameters in the body, in the query, or in both. Nil or empty parameters write nothing.
    ///
    /// - Parameters:
    ///   - bodyParameters: Parameters for the body, written by `bodyEncoding`. GET, HEAD and TRACE fail with
    ///     ``NetworkError/Code/bodyNotAllowed``, unless the encoding is ``ParameterEncoding/urlEncoding``, which writes
    ///     no body.
    ///   - bodyEncoding: The encoding of the body, whose form encoder also writes `urlParameters`. Default JSON.
    ///   - urlParameters: Parameters that are appended to the query in their order.
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

    /// Creates a task like ``requestParameters(bodyParameters:bodyEncoding:urlParameters:)``, with header fields that
    /// override those of the endpoint.
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

    /// Creates a task with parameters in the query for GET, HEAD and DELETE, and in the body for other methods. Empty
    /// parameters write nothing. The header fields override those of the endpoint.
    public static func requestParameters(
        _ parameters: Parameters, bodyEncoding: ParameterEncoding = .jsonEncoding, headers: HTTPHeaders? = nil
    ) -> HTTPTask {
        var task = HTTPTask()
        if !parameters.isEmpty { task.content = .byMethod(parameters, bodyEncoding) }
        task.headers = headers
        return task
    }

    /// Creates a task with a body: ``JSONBody``, ``FormBody``, ``DataBody``, or a custom type. The header fields
    /// override those of the endpoint.
    public static func requestBody(
        _ body: any HTTPBody, urlParameters: Parameters? = nil, headers: HTTPHeaders? = nil
    ) -> HTTPTask {
        var task = HTTPTask()
        task.content = .body(body)
        task.urlParameters = urlParameters
        task.headers = headers
        return task
    }

    /// Creates a task that sends a body, the same as ``requestBody(_:urlParameters:headers:)``.
    public static func upload(_ body: any HTTPBody) -> HTTPTask {
        requestBody(body)
    }

    /// Creates a task that saves the body of the response in a file instead of memory.
    ///
    /// The file appears under its name when it is complete, and replaces an existing file. The body of a response other
    /// than 2xx stays in memory, for the error. The download recovers from a lost connection as in
    /// ``NetworkRouter/download(_:to:keepingPartial:options:progress:isolation:verify:)``, if ``RequestOptions/retry``
    /// or a ``RetryPolicy`` of the router allows it.
    ///
    /// - Parameters:
    ///   - file: The file to save to.
    ///   - urlParameters: Parameters that are appended to the query in their order.
    ///   - isKept: If true, a failed download that can resume keeps the bytes that have arrived, and the next call
    ///     resumes it.
    ///   - progress: Reports the progress of the download, and can cancel it. Create one for each call.
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
