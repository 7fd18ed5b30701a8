import Foundation

/// The members of an endpoint, before ``EndPointType`` checks their types. Conform to ``EndPointType`` instead.
///
/// Swift ignores a property with a wrong type or name if the right one has a default: the request would be sent as a
/// plain GET. Therefore this protocol accepts members of any type, ``EndPointType`` rejects wrong types, and
/// ``NotAnEndPointMember`` rejects the names that other packages use.
public protocol EndPointMembers {
    /// The type of ``baseURL``.
    associatedtype BaseURLProperty = URL
    /// The type of ``httpMethod``.
    associatedtype MethodProperty = HTTPMethod
    /// The type of ``task``.
    associatedtype TaskProperty = HTTPTask
    /// The type of ``headers``.
    associatedtype HeadersProperty = HTTPHeaders?
    /// The type of ``options``.
    associatedtype OptionsProperty = RequestOptions
    /// The type of a `method`, which is rejected.
    associatedtype RefusedMethod: NotAnEndPointText = Never?
    /// The type of a `header`, which is rejected.
    associatedtype RefusedHeader: NotAnEndPointMember = Never?
    /// The type of `parameters`, which are rejected.
    associatedtype RefusedParameters: NotAnEndPointMember = Never?
    /// The type of `queryParams`, which are rejected.
    associatedtype RefusedQuery: NotAnEndPointMember = Never?
    /// The type of a `body`, which is rejected.
    associatedtype RefusedBody: NotAnEndPointMember = Never?
    /// The type of an `encoding`, which is rejected.
    associatedtype RefusedEncoding: NotAnEndPointMember = Never?
    /// The type of a `baseUrl`, which is rejected.
    associatedtype RefusedURL: NotAnEndPointText = Never?

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

    /// Not a member: an endpoint's method is ``httpMethod``.
    var method: RefusedMethod { get throws }
    /// Not a member: an endpoint's header fields are ``headers``.
    var header: RefusedHeader { get throws }
    /// Not a member: parameters go into ``task``.
    var parameters: RefusedParameters { get throws }
    /// Not a member: parameters go into ``task``.
    var queryParams: RefusedQuery { get throws }
    /// Not a member: a body goes into ``task``.
    var body: RefusedBody { get throws }
    /// Not a member: the encoding of parameters goes into ``task``.
    var encoding: RefusedEncoding { get throws }
    /// Not a member: an endpoint's base URL is ``baseURL``.
    var baseUrl: RefusedURL { get throws }
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
    /// Not a member: an endpoint's method is ``httpMethod``.
    public var method: Never? { nil }
    /// Not a member: an endpoint's header fields are ``headers``.
    public var header: Never? { nil }
    /// Not a member: parameters go into ``task``.
    public var parameters: Never? { nil }
    /// Not a member: parameters go into ``task``.
    public var queryParams: Never? { nil }
    /// Not a member: a body goes into ``task``.
    public var body: Never? { nil }
    /// Not a member: the encoding of parameters goes into ``task``.
    public var encoding: Never? { nil }
    /// Not a member: an endpoint's base URL is ``baseURL``.
    public var baseUrl: Never? { nil }
}
