import Foundation
import SwitchboardText

/// Describes an endpoint of an API. It sends nothing.
///
/// An enum describes a whole API, a case for each endpoint:
///
/// ```swift
/// enum MovieApi { case popular(page: Int), video(id: Int) }
///
/// extension MovieApi: EndPointType {
///     static let servers: EnvironmentURLs = [
///         .production: "https://api.example.com/3/movie"
///     ]
///     var baseURL: URL {
///         get throws { try Self.servers.url(in: .current) }
///     }
///     var path: String {
///         switch self {
///         case .popular: "popular"
///         case .video(let id): "\(id)/videos"
///         }
///     }
///     var task: HTTPTask {
///         switch self {
///         case .popular(let page):
///             .requestParameters(urlParameters: ["page": page])
///         case .video: .request
///         }
///     }
/// }
/// ```
///
/// An endpoint needs ``baseURL`` and ``path``. The other properties have defaults:
///
/// | property | type | default |
/// |---|---|---|
/// | ``baseURL`` | `URL`, `String` or ``ManagerBaseURL`` | |
/// | ``path`` | `String` | |
/// | ``httpMethod`` | ``HTTPMethod`` or `String` | GET |
/// | ``task`` | ``HTTPTask`` | no body and no parameters |
/// | ``headers`` | ``HTTPHeaders``, `[String: String]`, `[HTTPHeader]` or `KeyValuePairs` | none |
/// | ``options`` | ``RequestOptions`` | none |
///
/// Each but the path may be optional, and its getter may throw. A property of any other type, such as `httpMethod: Int`
/// or `headers: [String: Any]`, does not compile.
///
/// A router reads the members on the actor of the code that makes the call. The endpoint may therefore belong to an
/// actor, as every type does in a target whose default isolation is `MainActor`.
public protocol EndPointType: _EndPointMembers
where
    BaseURLProperty: _EndPointBaseURL,
    MethodProperty: _EndPointProperty, MethodProperty._EndPointValue == HTTPMethod,
    TaskProperty: _EndPointProperty, TaskProperty._EndPointValue == HTTPTask,
    HeadersProperty: _EndPointProperty, HeadersProperty._EndPointValue == HTTPHeaders,
    OptionsProperty: _EndPointProperty, OptionsProperty._EndPointValue == RequestOptions
{
    /// The base URL of the API. ``path`` is joined to it with exactly one slash; its own path and query are kept. An
    /// error that it throws becomes ``NetworkError/Code/invalidRequest``, unless it is a ``NetworkError``.
    var baseURL: BaseURLProperty { get throws }
    /// The path below ``baseURL``. Characters that a path may not contain are escaped once, a valid
    /// `%XX` is kept, and a `?query` joins the query. Write values that may contain a slash as
    /// `"users/\(segment: name)"`.
    var path: String { get }
    /// The method. Default GET.
    var httpMethod: MethodProperty { get throws }
    /// Body, query and headers of the request. Default ``HTTPTask/request``: none of them.
    var task: TaskProperty { get throws }
    /// Header fields for every task of the endpoint. Those of the task override them. Default none.
    var headers: HeadersProperty { get throws }
    /// Timeouts, limits and custom options. They override the router's. Default none.
    var options: OptionsProperty { get throws }
}

extension Optional: _EndPointProperty where Wrapped: _EndPointProperty {
    /// The value, or nil for the default.
    public var _endPointValue: Wrapped._EndPointValue? {
        // A key path would be looked up by name at every use.
        if let self { self._endPointValue } else { nil }
    }
}

extension URL: _EndPointBaseURL {
    /// Returns the URL itself.
    public func _endPointURL() -> URL { self }
}

extension Optional: _EndPointBaseURL where Wrapped: _EndPointBaseURL {
    /// Returns the URL. Throws for nil, so that nil never selects another server.
    public func _endPointURL() throws(NetworkError) -> URL {
        guard let self else { throw NetworkError(.missingURL, reason: "the endpoint's baseURL is nil") }
        return try self._endPointURL()
    }
}

extension HTTPMethod: _EndPointProperty {
    /// The method itself.
    public var _endPointValue: HTTPMethod? { self }
}

extension String: _EndPointProperty, _EndPointBaseURL {
    /// The method of this name.
    public var _endPointValue: HTTPMethod? { HTTPMethod(rawValue: self) }

    /// Returns the URL in this text.
    public func _endPointURL() throws(NetworkError) -> URL {
        guard let url = URL(escapedOnce: self) else {
            throw NetworkError(
                .invalidRequest,
                reason: "the base URL \(quotedURLForMessage) \(URLFault.of(self) ?? "is not a URL")")
        }
        return url
    }
}

extension HTTPTask: _EndPointProperty {
    /// The task itself.
    public var _endPointValue: HTTPTask? { self }
}

extension HTTPHeaders: _EndPointProperty {
    /// The header fields themselves.
    public var _endPointValue: HTTPHeaders? { self }
}

extension Dictionary: _EndPointProperty where Key == String, Value == String {
    /// The entries as header fields, in the order of their names.
    public var _endPointValue: HTTPHeaders? { HTTPHeaders(self) }
}

extension Array: _EndPointProperty where Element == HTTPHeader {
    /// The fields in their order.
    public var _endPointValue: HTTPHeaders? { HTTPHeaders(self) }
}

extension KeyValuePairs: _EndPointProperty where Key == String, Value == String {
    /// The pairs in their order.
    public var _endPointValue: HTTPHeaders? { HTTPHeaders(lazy.map { HTTPHeader(name: $0.key, value: $0.value) }) }
}

extension RequestOptions: _EndPointProperty {
    /// The options themselves.
    public var _endPointValue: RequestOptions? { self }
}
