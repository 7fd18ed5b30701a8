import Foundation

/// An endpoint that says what its response decodes to, so that one struct is one typed call.
///
/// ```swift
/// struct FindTodos: TypedEndPoint {
///     typealias Response = [Todo]
///     var path: String { "/todos" }
/// }
/// let todos = try await manager.send(FindTodos())
/// ```
///
/// Without a ``EndPointMembers/baseURL`` of its own it uses the servers of the manager that sends it.
public protocol TypedEndPoint: EndPointType {
    /// What the response's body decodes to. ``EmptyResponse`` where there is none, an optional where there may be none.
    associatedtype Response: Decodable & Sendable
}

extension TypedEndPoint {
    /// The base URL of whoever sends the endpoint.
    public var baseURL: SenderBaseURL { SenderBaseURL() }
}

/// The base URL of an endpoint that leaves it to its sender: the manager's servers.
///
/// An endpoint asks for it by its type, so that no other failing of a base URL ever leads to another server:
///
/// ```swift
/// var baseURL: SenderBaseURL { SenderBaseURL() }
/// ```
public struct SenderBaseURL: EndPointBaseURL {
    /// Makes the one value there is.
    public init() {}

    /// Throws: the sender knows the URL.
    ///
    /// - Returns: Nothing.
    /// - Throws: ``NetworkError/Code/missingURL``.
    public func endPointURL() throws(NetworkError) -> URL {
        throw NetworkError(
            .missingURL,
            reason: "the endpoint leaves its base URL to its sender, which has no servers: give the manager `servers:`")
    }
}

/// What a response without a body decodes to.
public struct EmptyResponse: Codable, Hashable, Sendable {
    /// Makes the one value there is.
    public init() {}

    /// Decodes from anything.
    public init(from decoder: any Decoder) {}

    /// Encodes an empty object.
    public func encode(to encoder: any Encoder) throws {
        _ = encoder.container(keyedBy: NodeKey.self)
    }
}
