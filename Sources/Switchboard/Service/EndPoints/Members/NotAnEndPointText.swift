import Foundation

/// A text type that a `method` or `baseUrl` of an endpoint must not have.
public protocol NotAnEndPointText {}
