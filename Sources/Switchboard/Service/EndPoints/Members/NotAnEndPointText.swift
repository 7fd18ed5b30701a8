import Foundation

/// A type that a `method` or `baseUrl` of an endpoint may not have, which is text there.
public protocol NotAnEndPointText {}
