import Foundation

/// A type that a misnamed member of an endpoint must not have.
///
/// An endpoint's `header` of the type ``HTTPHeaders`` is certainly meant to be ``EndPointMembers/headers``, so it does
/// not compile. A `header` of a custom type compiles.
public protocol NotAnEndPointMember {}

// `Never?` is the type of a member that an endpoint does not have.
extension Never: NotAnEndPointMember, NotAnEndPointText {}

extension Optional: NotAnEndPointMember where Wrapped: NotAnEndPointMember {}

extension Optional: NotAnEndPointText where Wrapped: NotAnEndPointText {}

@available(*, unavailable, message: "an endpoint's method is called `httpMethod`")
extension HTTPMethod: NotAnEndPointText {}

@available(*, unavailable, message: "an endpoint's method is called `httpMethod`, its base URL `baseURL`")
extension String: NotAnEndPointText {}

@available(*, unavailable, message: "an endpoint's base URL is called `baseURL`")
extension URL: NotAnEndPointText {}

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
