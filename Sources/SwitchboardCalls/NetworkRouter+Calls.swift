import Foundation
import Switchboard

extension NetworkRouter {
    /// Returns the call for an endpoint, which decodes the response, without sending anything. See
    /// `request(_:as:options:isolation:)`.
    ///
    /// - Parameters:
    ///   - endPoint: The endpoint.
    ///   - type: The type of the decoded value.
    ///   - options: Options for this call, which override those of the endpoint. Default none.
    ///   - isolation: The actor on which the endpoint is read: the caller's.
    /// - Returns: The call. It uses the environment that is set when it is made.
    public func call<Value: Decodable & Sendable>(
        for endPoint: EndPoint, as type: Value.Type, options: RequestOptions = RequestOptions(),
        isolation: isolated (any Actor)? = #isolation
    ) -> NetworkCall<Value> {
        call(endPoint, options) { Transferred(try await $0.value(type)) }
    }

    /// Returns the call for an endpoint, which decodes the response on the caller's actor; see
    /// `request(_:as:options:isolation:)`.
    public func call<Value: Decodable>(
        for endPoint: EndPoint, as type: Value.Type, options: RequestOptions = RequestOptions(),
        isolation: isolated any Actor = #isolation
    ) -> NetworkCall<Value> {
        call(endPoint, options, decoding: ActorBound { try $0.value(type) })
    }

    /// Returns the call for an endpoint, with the response as its value, without sending anything. See
    /// `response(for:options:isolation:)`.
    public func call(
        for endPoint: EndPoint, options: RequestOptions = RequestOptions(),
        isolation: isolated (any Actor)? = #isolation
    ) -> NetworkCall<NetworkResponse> {
        call(endPoint, options) { Transferred(try await $0.accepted()) }
    }

    /// Returns a call whose response is decoded on the caller's actor. `Value` is not `Decodable` here, because a
    /// `@Sendable` closure cannot capture a conformance that belongs to an actor.
    private func call<Value>(
        _ endPoint: EndPoint, _ options: RequestOptions, decoding decode: ActorBound<NetworkResponse, Value>,
        isolation: isolated (any Actor)? = #isolation
    ) -> NetworkCall<Value> {
        call(endPoint, options) { try await decode($0.performShared()) }
    }

    /// Returns a call that reads the endpoint on the caller's actor each time it is made.
    private func call<Value>(
        _ endPoint: EndPoint, _ options: RequestOptions, isolation: isolated (any Actor)? = #isolation,
        _ send: @escaping @Sendable (PreparedCall) async throws -> Transferred<Value>
    ) -> NetworkCall<Value> {
        let prepare = ActorBound<Void, PreparedCall> { self.prepare(endPoint, options, for: Value.self) }
        return NetworkCall(of: calls) { try await send(prepare(()).value) }
    }
}

extension NetworkManager {
    /// Returns the call for an endpoint without sending anything. See `send(_:options:)`.
    ///
    /// - Parameters:
    ///   - endPoint: The endpoint.
    ///   - options: Options for this call, which override those of the endpoint. Default none.
    ///   - isolation: The actor on which the endpoint is read: the caller's.
    /// - Returns: The call. It uses the environment that is set when it is made.
    public func call<EndPoint: TypedEndPoint & Sendable>(
        for endPoint: EndPoint, options: RequestOptions = RequestOptions(),
        isolation: isolated (any Actor)? = #isolation
    ) -> NetworkCall<EndPoint.Response> where EndPoint.Response: Sendable {
        ownRouter().call(for: endPoint, as: EndPoint.Response.self, options: options)
    }

    /// Returns the call for an endpoint, which decodes the response on the caller's actor.
    public func call<EndPoint: TypedEndPoint>(
        for endPoint: EndPoint, options: RequestOptions = RequestOptions(), isolation: isolated any Actor = #isolation
    ) -> NetworkCall<EndPoint.Response> {
        ownRouter().call(for: endPoint, as: EndPoint.Response.self, options: options)
    }
}
