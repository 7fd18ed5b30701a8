import Foundation

/// One endpoint of an API: what to ask for. It performs nothing.
///
/// An enum describes a whole API, a case for each endpoint:
///
/// ```swift
/// enum MovieApi { case popular(page: Int), video(id: Int) }
///
/// extension MovieApi: EndPointType {
///     var baseURL: URL { get throws { try Self.servers.url(in: .current) } }
///     var path: String {
///         switch self {
///         case .popular: "popular"
///         case .video(let id): "\(id)/videos"
///         }
///     }
///     var task: HTTPTask {
///         switch self {
///         case .popular(let page): .requestParameters(urlParameters: ["page": page])
///         case .video: .request
///         }
///     }
/// }
/// ```
///
/// Only ``baseURL`` and ``path`` are required. The others may be written optional or not, as you like: `var headers:
/// HTTPHeaders` and `var headers: HTTPHeaders?` are both used. That is what the associated types are for; there is no
/// need to name them.
public protocol EndPointType: Sendable {
    /// `URL`, or an optional of it.
    associatedtype BaseURLProperty: EndPointProperty = URL where BaseURLProperty.PropertyValue == URL
    /// `HTTPMethod` or `String`, or an optional of these.
    associatedtype MethodProperty: EndPointProperty = HTTPMethod where MethodProperty.PropertyValue == HTTPMethod
    /// `HTTPTask`, or an optional of it.
    associatedtype TaskProperty: EndPointProperty = HTTPTask where TaskProperty.PropertyValue == HTTPTask
    /// `HTTPHeaders` or `[String: String]`, or an optional of these.
    associatedtype HeadersProperty: EndPointProperty = HTTPHeaders? where HeadersProperty.PropertyValue == HTTPHeaders
    /// `RequestOptions`, or an optional of it.
    associatedtype OptionsProperty: EndPointProperty = RequestOptions
    where OptionsProperty.PropertyValue == RequestOptions

    /// Where the API lives. ``path`` is joined to it on exactly one slash; its own path and query are kept. What it
    /// throws becomes ``NetworkError/Code/invalidRequest``, unless it is a ``NetworkError`` already.
    var baseURL: BaseURLProperty { get throws }
    /// The path below ``baseURL``, as text: what may not stand in a path is escaped once, a valid `%XX` stays, and a
    /// `?query` joins the query. Write values that may hold a slash as `"users/\(segment: name)"`.
    var path: String { get }
    /// The method. Default GET.
    var httpMethod: MethodProperty { get throws }
    /// Body, query and headers of the request. Default ``HTTPTask/request``: none of them.
    var task: TaskProperty { get throws }
    /// Header fields for every task of the endpoint. Those of the task win. Default none.
    var headers: HeadersProperty { get throws }
    /// Timeouts, limits and options of your own. They win over the router's. Default none.
    var options: OptionsProperty { get throws }
}

extension EndPointType {
    /// GET.
    public var httpMethod: HTTPMethod { .get }
    /// No body, no parameters, no headers.
    public var task: HTTPTask { .request }
    /// None.
    public var headers: HTTPHeaders? { nil }
    /// None.
    public var options: RequestOptions { RequestOptions() }
}

/// The type of an endpoint's property: the value itself, or an optional of it.
///
/// Without it a property of the other optionality would compile and be ignored in favour of the protocol's default.
public protocol EndPointProperty {
    /// What the property is about.
    associatedtype PropertyValue
    /// The value, or nil for the default.
    var endPointValue: PropertyValue? { get }
}

extension Optional: EndPointProperty where Wrapped: EndPointProperty {
    /// The value, or nil for the default.
    public var endPointValue: Wrapped.PropertyValue? {
        // No key path: in a generic context one is looked up by name at every use.
        if let self { self.endPointValue } else { nil }
    }
}

extension URL: EndPointProperty {
    /// The URL itself.
    public var endPointValue: URL? { self }
}

extension HTTPMethod: EndPointProperty {
    /// The method itself.
    public var endPointValue: HTTPMethod? { self }
}

extension String: EndPointProperty {
    /// The method of that name.
    public var endPointValue: HTTPMethod? { HTTPMethod(rawValue: self) }
}

extension HTTPTask: EndPointProperty {
    /// The task itself.
    public var endPointValue: HTTPTask? { self }
}

extension HTTPHeaders: EndPointProperty {
    /// The headers themselves.
    public var endPointValue: HTTPHeaders? { self }
}

extension Dictionary: EndPointProperty where Key == String, Value == String {
    /// The entries as headers, in the order of their names.
    public var endPointValue: HTTPHeaders? { HTTPHeaders(self) }
}

extension RequestOptions: EndPointProperty {
    /// The options themselves.
    public var endPointValue: RequestOptions? { self }
}
