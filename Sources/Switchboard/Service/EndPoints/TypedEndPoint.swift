import SwitchboardJSON
import Foundation

/// An endpoint that declares the type of its response, so that one struct is one typed call.
///
/// ```swift
/// struct FindTodos: TypedEndPoint {
///     typealias Response = [Todo]
///     var path: String { "/todos" }
/// }
/// let todos = try await manager.send(FindTodos())
/// ```
///
/// Without a separate ``EndPointType/baseURL`` it uses the servers of the manager that sends it.
public protocol TypedEndPoint: EndPointType {
    /// The type of the response's value. ``EmptyResponse`` for no body, an optional if the body may be missing.
    associatedtype Response: Decodable
}

extension TypedEndPoint {
    /// The base URL of the manager that sends the endpoint.
    public var baseURL: ManagerBaseURL { ManagerBaseURL() }

    static var responseType: Any.Type { Response.self }
}

/// The value of a response without a body.
public struct EmptyResponse: Codable, Hashable, Sendable {
    /// Creates the value.
    public init() {}

    /// Creates the value from any input.
    public init(from decoder: any Decoder) {}

    /// Encodes an empty object.
    public func encode(to encoder: any Encoder) throws {
        _ = encoder.container(keyedBy: JSONPathKey.self)
    }
}
