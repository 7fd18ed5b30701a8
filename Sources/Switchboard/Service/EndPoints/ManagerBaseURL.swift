import Foundation

/// The base URL of an endpoint that leaves it to its sender: the manager's servers.
///
/// An endpoint asks for it by its type, so that no other failing of a base URL ever leads to another server:
///
/// ```swift
/// var baseURL: ManagerBaseURL { ManagerBaseURL() }
/// ```
public struct ManagerBaseURL: EndPointBaseURL {
    /// Makes the one value there is.
    public init() {}

    /// Throws: the sender knows the URL.
    ///
    /// - Returns: Nothing.
    /// - Throws: ``NetworkError/Code/missingURL``.
    public func endPointURL() throws(NetworkError) -> URL {
        throw NetworkError(
            .missingURL,
            reason:
                "the endpoint takes its base URL from its manager, which has no servers: create the manager with `servers:`"
        )
    }
}
