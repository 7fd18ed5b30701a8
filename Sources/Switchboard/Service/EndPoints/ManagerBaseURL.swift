import Foundation

/// The base URL of an endpoint that uses the servers of the manager that sends it.
///
/// An endpoint declares it as a type, so that a missing or invalid base URL never leads to another server:
///
/// ```swift
/// var baseURL: ManagerBaseURL { ManagerBaseURL() }
/// ```
public struct ManagerBaseURL: EndPointBaseURL {
    /// Creates the value.
    public init() {}

    /// Throws, because only the sender has the URL.
    ///
    /// - Returns: No URL: it always throws.
    /// - Throws: ``NetworkError/Code/missingURL``.
    public func _endPointURL() throws(NetworkError) -> URL {
        throw NetworkError(
            .missingURL,
            reason:
                "the endpoint takes its base URL from its manager, which has no servers: create the manager with `servers:`"
        )
    }
}
