import Foundation

/// An endpoint at a path below the servers of the manager that sends it, for requests without a type:
///
/// ```swift
/// let manager = NetworkManager(baseURL: "https://api.example.com/3")
/// let todo = try await manager.request(.get("todos/1"), as: Todo.self)
/// try await manager.response(for: .post("todos", JSONBody(todo)))
/// ```
public struct PathEndPoint: EndPointType, Sendable {
    /// The servers of the manager.
    public var baseURL: ManagerBaseURL { ManagerBaseURL() }
    /// The path; see ``EndPointType/path``.
    public let path: String
    /// The method.
    public let httpMethod: HTTPMethod
    /// Body, query and headers.
    public let task: HTTPTask
    /// Header fields. Those of the task override them.
    public let headers: HTTPHeaders

    /// Creates an endpoint.
    public init(
        _ method: HTTPMethod = .get, _ path: String, task: HTTPTask = .request, headers: HTTPHeaders = [:]
    ) {
        httpMethod = method
        self.path = path
        self.task = task
        self.headers = headers
    }
}

extension PathEndPoint: DumpedAsDescription {
    /// The method and the path, with secrets replaced.
    public var description: String { "\(httpMethod) \(Redaction.standard.url(path))" }
}

extension EndPointType where Self == PathEndPoint {
    /// Returns a GET of a path, with parameters in the query.
    public static func get(
        _ path: String, _ parameters: Parameters = [:], headers: HTTPHeaders = [:]
    ) -> PathEndPoint {
        PathEndPoint(.get, path, task: .requestParameters(urlParameters: parameters), headers: headers)
    }

    /// Returns a HEAD of a path, with parameters in the query.
    public static func head(
        _ path: String, _ parameters: Parameters = [:], headers: HTTPHeaders = [:]
    ) -> PathEndPoint {
        PathEndPoint(.head, path, task: .requestParameters(urlParameters: parameters), headers: headers)
    }

    /// Returns a POST to a path. Without a body it sends none.
    public static func post(
        _ path: String, _ body: any HTTPBody = EmptyBody(), headers: HTTPHeaders = [:]
    ) -> PathEndPoint {
        PathEndPoint(.post, path, task: .requestBody(body), headers: headers)
    }

    /// Returns a PUT to a path.
    public static func put(_ path: String, _ body: any HTTPBody, headers: HTTPHeaders = [:]) -> PathEndPoint {
        PathEndPoint(.put, path, task: .requestBody(body), headers: headers)
    }

    /// Returns a PATCH of a path.
    public static func patch(_ path: String, _ body: any HTTPBody, headers: HTTPHeaders = [:]) -> PathEndPoint {
        PathEndPoint(.patch, path, task: .requestBody(body), headers: headers)
    }

    /// Returns a DELETE of a path, with parameters in the query.
    public static func delete(
        _ path: String, _ parameters: Parameters = [:], headers: HTTPHeaders = [:]
    ) -> PathEndPoint {
        PathEndPoint(.delete, path, task: .requestParameters(urlParameters: parameters), headers: headers)
    }
}

/// The base URL of an endpoint that uses the servers of the manager that sends it.
///
/// An endpoint declares it as a type, so that a missing or invalid base URL never leads to another server:
///
/// ```swift
/// var baseURL: ManagerBaseURL { ManagerBaseURL() }
/// ```
public struct ManagerBaseURL: _EndPointBaseURL, Sendable {
    /// Creates the value.
    public init() {}

    /// Throws, because only the manager has the URL.
    ///
    /// - Returns: No URL: it always throws.
    /// - Throws: ``NetworkError/Code/missingURL``.
    public func _endPointURL() throws(NetworkError) -> URL {
        throw NetworkError(
            .missingURL,
            reason: "the endpoint uses the servers of its manager: send it by a manager with `baseURL:` or `servers:`")
    }
}
