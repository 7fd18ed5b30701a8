import Foundation

/// The members of an endpoint, before ``EndPointType`` checks their types. Conform to ``EndPointType`` instead.
///
/// Swift ignores a property with a wrong type if the right one has a default: the request would be sent as a plain GET.
/// Therefore this protocol accepts members of any type, and ``EndPointType`` rejects wrong types.
public protocol _EndPointMembers {
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

    /// See ``EndPointType/baseURL``.
    var baseURL: BaseURLProperty { get throws }
    /// See ``EndPointType/httpMethod``.
    var httpMethod: MethodProperty { get throws }
    /// See ``EndPointType/task``.
    var task: TaskProperty { get throws }
    /// See ``EndPointType/headers``.
    var headers: HeadersProperty { get throws }
    /// See ``EndPointType/options``.
    var options: OptionsProperty { get throws }
}

extension _EndPointMembers {
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
public protocol _EndPointProperty {
    /// The type of the value.
    associatedtype _EndPointValue
    /// The value, or nil for the default.
    var _endPointValue: _EndPointValue? { get }
}

/// The type of an endpoint's base URL: a URL, a text with one, or an optional of these.
public protocol _EndPointBaseURL {
    /// Returns the URL.
    ///
    /// - Returns: The URL.
    /// - Throws: ``NetworkError/Code/missingURL`` for nil, ``NetworkError/Code/invalidRequest`` for a text that is not
    ///   a URL.
    func _endPointURL() throws(NetworkError) -> URL
}

/// The type of a missing ``EndPointType/baseURL`` in the compiler's error, which then names both types.
public typealias URLOrString = URL
