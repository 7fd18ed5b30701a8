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
/// | property | type | without it |
/// |---|---|---|
/// | ``EndPointMembers/baseURL`` | `URL`, `String` or ``ManagerBaseURL`` | required |
/// | ``path`` | `String` | required |
/// | ``EndPointMembers/httpMethod`` | ``HTTPMethod`` | GET |
/// | ``EndPointMembers/task`` | ``HTTPTask`` | no body, no parameters |
/// | ``EndPointMembers/headers`` | ``HTTPHeaders`` | none |
/// | ``EndPointMembers/options`` | ``RequestOptions`` | none |
///
/// Each may be optional, and a getter may throw. A property of any other type, such as `httpMethod: Int` or
/// `headers: [String: Any]`, does not compile.
///
/// A router reads the members on the actor of the code that makes the call. The endpoint may therefore belong to an
/// actor, as every type does in a target whose default isolation is `MainActor`.
public protocol EndPointType: EndPointMembers
where
    // `URL` or `String`, or an optional of these.
    BaseURLProperty: EndPointBaseURL,
    // `HTTPMethod` or `String`, or an optional of these.
    MethodProperty: EndPointProperty, MethodProperty._EndPointValue == HTTPMethod,
    // `HTTPTask`, or an optional of it.
    TaskProperty: EndPointProperty, TaskProperty._EndPointValue == HTTPTask,
    // `HTTPHeaders`, `[String: String]`, `[HTTPHeader]` or `KeyValuePairs`, or an optional of these.
    HeadersProperty: EndPointProperty, HeadersProperty._EndPointValue == HTTPHeaders,
    // `RequestOptions`, or an optional of it.
    OptionsProperty: EndPointProperty, OptionsProperty._EndPointValue == RequestOptions
{
    /// The path below ``EndPointMembers/baseURL``. Characters that a path may not contain are escaped once, a valid
    /// `%XX` is kept, and a `?query` joins the query. Write values that may contain a slash as
    /// `"users/\(segment: name)"`.
    var path: String { get }
}

extension Optional: EndPointProperty where Wrapped: EndPointProperty {
    /// The value, or nil for the default.
    public var _endPointValue: Wrapped._EndPointValue? {
        // A key path would be looked up by name at every use.
        if let self { self._endPointValue } else { nil }
    }
}

extension URL: EndPointBaseURL {
    /// Returns the URL itself.
    public func _endPointURL() -> URL { self }
}

extension Optional: EndPointBaseURL where Wrapped: EndPointBaseURL {
    /// Returns the URL. Throws for nil, so that nil never selects another server.
    public func _endPointURL() throws(NetworkError) -> URL {
        guard let self else { throw NetworkError(.missingURL, reason: "the endpoint's baseURL is nil") }
        return try self._endPointURL()
    }
}

extension HTTPMethod: EndPointProperty {
    /// The method itself.
    public var _endPointValue: HTTPMethod? { self }
}

extension String: EndPointProperty, EndPointBaseURL {
    /// The method of this name.
    public var _endPointValue: HTTPMethod? { HTTPMethod(rawValue: self) }

    /// Returns the URL in this text.
    public func _endPointURL() throws(NetworkError) -> URL {
        guard let url = URL(string: self) else {
            throw NetworkError(
                .invalidRequest,
                reason:
                    "the base URL \(Redaction.standard.url(self).quotedForMessage) \(URLFault.of(self) ?? "is not a URL")"
            )
        }
        return url
    }
}

extension HTTPTask: EndPointProperty {
    /// The task itself.
    public var _endPointValue: HTTPTask? { self }
}

extension HTTPHeaders: EndPointProperty {
    /// The header fields themselves.
    public var _endPointValue: HTTPHeaders? { self }
}

extension Dictionary: EndPointProperty where Key == String, Value == String {
    /// The entries as header fields, in the order of their names.
    public var _endPointValue: HTTPHeaders? { HTTPHeaders(self) }
}

extension Array: EndPointProperty where Element == HTTPHeader {
    /// The fields in their order.
    public var _endPointValue: HTTPHeaders? { HTTPHeaders(self) }
}

extension KeyValuePairs: EndPointProperty where Key == String, Value == String {
    /// The pairs in their order.
    public var _endPointValue: HTTPHeaders? { HTTPHeaders(lazy.map { HTTPHeader(name: $0.key, value: $0.value) }) }
}

extension RequestOptions: EndPointProperty {
    /// The options themselves.
    public var _endPointValue: RequestOptions? { self }
}
