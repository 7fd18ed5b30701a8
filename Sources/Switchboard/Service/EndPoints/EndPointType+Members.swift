import Foundation

/// The members of an endpoint, before ``EndPointType`` checks their types. Conform to ``EndPointType`` instead.
///
/// Swift ignores a property with a wrong type if the right one has a default: the request would be sent as a plain GET.
/// Therefore this protocol accepts members of any type, and ``EndPointType`` rejects wrong types.
public protocol EndPointMembers {
    /// The type of ``baseURL``.
    associatedtype BaseURLProperty = URLOrString
    /// The type of ``httpMethod``.
    associatedtype MethodProperty = HTTPMethod
    /// The type of ``task``.
    associatedtype TaskProperty = HTTPTask
    /// The type of ``headers``.
    associatedtype HeadersProperty = HTTPHeaders?
    /// The type of ``options``.
    associatedtype OptionsProperty = RequestOptions

    /// The base URL of the API. ``EndPointType/path`` is joined to it with exactly one slash; its own path and query
    /// are kept. An error that it throws becomes ``NetworkError/Code/invalidRequest``, unless it is a ``NetworkError``.
    var baseURL: BaseURLProperty { get throws }
    /// The method. Default GET.
    var httpMethod: MethodProperty { get throws }
    /// Body, query and headers of the request. Default ``HTTPTask/request``: none of them.
    var task: TaskProperty { get throws }
    /// Header fields for every task of the endpoint. Those of the task override them. Default none.
    var headers: HeadersProperty { get throws }
    /// Timeouts, limits and custom options. They override the router's. Default none.
    var options: OptionsProperty { get throws }
}

extension EndPointMembers {
    /// GET.
    public var httpMethod: HTTPMethod { .get }
    /// No body, no parameters, no headers.
    public var task: HTTPTask { .request }
    /// No header fields.
    public var headers: HTTPHeaders? { nil }
    /// No options.
    public var options: RequestOptions { RequestOptions() }
}

/// The type of an endpoint's property: the value itself, or an optional of it.
///
/// The requirements begin with an underscore, which hides them from code completion.
public protocol EndPointProperty {
    /// The type of the value.
    associatedtype _EndPointValue
    /// The value, or nil for the default.
    var _endPointValue: _EndPointValue? { get }
}

/// The type of an endpoint's base URL: a URL, a text with one, or an optional of these.
public protocol EndPointBaseURL {
    /// Returns the URL.
    ///
    /// - Returns: The URL.
    /// - Throws: ``NetworkError/Code/missingURL`` for nil, ``NetworkError/Code/invalidRequest`` for a text that is not
    ///   a URL.
    func _endPointURL() throws(NetworkError) -> URL
}

/// The type of a missing ``EndPointMembers/baseURL`` in the compiler's error, which then names both types.
public typealias URLOrString = URL
