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
/// Without a ``EndPointType/baseURL`` of its own it uses the servers of the manager that sends it.
public protocol TypedEndPoint: EndPointType {
    /// What the response's body decodes to. ``EmptyResponse`` where there is none, an optional where there may be none.
    associatedtype Response: Decodable & Sendable
}

extension TypedEndPoint {
    /// The base URL of whoever sends the endpoint.
    ///
    /// - Throws: ``NetworkError/Code/missingURL`` when it is asked for directly. A router that has a base URL uses that
    ///   instead.
    public var baseURL: URL {
        get throws {
            throw NetworkError(
                .missingURL, reason: "\(Self.self) has no baseURL of its own, and its sender has no servers")
        }
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
