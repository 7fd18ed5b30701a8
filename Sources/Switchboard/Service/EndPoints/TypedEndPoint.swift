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
    public var baseURL: ManagerBaseURL { ManagerBaseURL() }
}
