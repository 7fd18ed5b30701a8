import Foundation

/// The members of an endpoint, before ``EndPointType`` checks their types. Adopt ``EndPointType``.
///
/// Swift ignores a property that has the wrong type or the wrong name when there is a default for the right one: the
/// request would leave as a plain GET. So this protocol takes a member of any type, ``EndPointType`` refuses the wrong
/// ones, and ``NotAnEndPointMember`` refuses the names that other packages use.
public protocol EndPointMembers: Sendable {
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
    /// The type of a `method`, which is refused.
    associatedtype RefusedMethod: NotAnEndPointText = Never?
    /// The type of a `header`, which is refused.
    associatedtype RefusedHeader: NotAnEndPointMember = Never?
    /// The type of `parameters`, which are refused.
    associatedtype RefusedParameters: NotAnEndPointMember = Never?
    /// The type of `queryParams`, which are refused.
    associatedtype RefusedQuery: NotAnEndPointMember = Never?
    /// The type of a `body`, which is refused.
    associatedtype RefusedBody: NotAnEndPointMember = Never?
    /// The type of an `encoding`, which is refused.
    associatedtype RefusedEncoding: NotAnEndPointMember = Never?
    /// The type of a `baseUrl`, which is refused.
    associatedtype RefusedURL: NotAnEndPointText = Never?

    /// Where the API lives. ``EndPointType/path`` is joined to it on exactly one slash; its own path and query are kept.
    /// What it throws becomes ``NetworkError/Code/invalidRequest``, unless it is a ``NetworkError`` already.
    var baseURL: BaseURLProperty { get throws }
    /// The method. Default GET.
    var httpMethod: MethodProperty { get throws }
    /// Body, query and headers of the request. Default ``HTTPTask/request``: none of them.
    var task: TaskProperty { get throws }
    /// Header fields for every task of the endpoint. Those of the task win. Default none.
    var headers: HeadersProperty { get throws }
    /// Timeouts, limits and options of your own. They win over the router's. Default none.
    var options: OptionsProperty { get throws }

    /// No member: an endpoint's method is ``httpMethod``.
    var method: RefusedMethod { get throws }
    /// No member: an endpoint's header fields are ``headers``.
    var header: RefusedHeader { get throws }
    /// No member: parameters go into ``task``.
    var parameters: RefusedParameters { get throws }
    /// No member: parameters go into ``task``.
    var queryParams: RefusedQuery { get throws }
    /// No member: a body goes into ``task``.
    var body: RefusedBody { get throws }
    /// No member: the encoding of parameters goes into ``task``.
    var encoding: RefusedEncoding { get throws }
    /// No member: an endpoint's base URL is ``baseURL``.
    var baseUrl: RefusedURL { get throws }
}

extension EndPointMembers {
    /// GET.
    public var httpMethod: HTTPMethod { .get }
    /// No body, no parameters, no headers.
    public var task: HTTPTask { .request }
    /// None.
    public var headers: HTTPHeaders? { nil }
    /// None.
    public var options: RequestOptions { RequestOptions() }
    /// No member: an endpoint's method is ``httpMethod``.
    public var method: Never? { nil }
    /// No member: an endpoint's header fields are ``headers``.
    public var header: Never? { nil }
    /// No member: parameters go into ``task``.
    public var parameters: Never? { nil }
    /// No member: parameters go into ``task``.
    public var queryParams: Never? { nil }
    /// No member: a body goes into ``task``.
    public var body: Never? { nil }
    /// No member: the encoding of parameters goes into ``task``.
    public var encoding: Never? { nil }
    /// No member: an endpoint's base URL is ``baseURL``.
    public var baseUrl: Never? { nil }
}
