import Foundation

/// An endpoint for a complete URL.
///
/// ```swift
/// let made = try await manager.response(
///     for: URLEndPoint(.post, url, task: .requestBody(JSONBody(todo))))
/// ```
public struct URLEndPoint: EndPointType, Sendable {
    /// The URL, used byte for byte unless the task has URL parameters.
    public let baseURL: URL
    /// The method.
    public let httpMethod: HTTPMethod
    /// Body, query and headers.
    public let task: HTTPTask
    /// Header fields. Those of the task override them.
    public let headers: HTTPHeaders
    /// Timeouts, limits and custom options.
    public let options: RequestOptions

    /// Creates an endpoint.
    public init(
        _ method: HTTPMethod = .get, _ url: URL, task: HTTPTask = .request, headers: HTTPHeaders = [:],
        options: RequestOptions = RequestOptions()
    ) {
        baseURL = url
        httpMethod = method
        self.task = task
        self.headers = headers
        self.options = options
    }

    /// The empty path: nothing is joined to the URL.
    public var path: String { "" }
}

extension URLEndPoint: DumpedAsDescription {
    /// The method and the URL, with secrets replaced.
    public var description: String { "\(httpMethod) \(Redaction.standard.url(baseURL.absoluteString))" }
}
