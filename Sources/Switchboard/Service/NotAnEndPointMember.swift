import Foundation

/// A type that a misnamed member of an endpoint may not have.
///
/// An endpoint's `method` of the type ``HTTPMethod`` is certainly meant to be ``EndPointMembers/httpMethod``, so it does
/// not compile. A `method` of a type of your own is yours.
public protocol NotAnEndPointMember {}

/// The type of a member that an endpoint does not have.
public struct NoMember: NotAnEndPointMember, Sendable {
    init() {}
}

extension Optional: NotAnEndPointMember where Wrapped: NotAnEndPointMember {}

@available(*, unavailable, message: "an endpoint's method is called `httpMethod`")
extension HTTPMethod: NotAnEndPointMember {}

@available(*, unavailable, message: "an endpoint's method is called `httpMethod`, its base URL `baseURL`")
extension String: NotAnEndPointMember {}

@available(*, unavailable, message: "an endpoint's base URL is called `baseURL`")
extension URL: NotAnEndPointMember {}

@available(*, unavailable, message: "an endpoint's header fields are called `headers`")
extension HTTPHeaders: NotAnEndPointMember {}

@available(*, unavailable, message: "an endpoint's header fields are called `headers`")
extension Array: NotAnEndPointMember where Element == HTTPHeader {}

@available(*, unavailable, message: "header fields are called `headers`; parameters and a body go into `task`")
extension Dictionary: NotAnEndPointMember {}

@available(*, unavailable, message: "parameters go into `task`: `.requestParameters(urlParameters:)`")
extension Parameters: NotAnEndPointMember {}

@available(*, unavailable, message: "the encoding goes into `task`: `.requestParameters(bodyParameters:bodyEncoding:)`")
extension ParameterEncoding: NotAnEndPointMember {}
