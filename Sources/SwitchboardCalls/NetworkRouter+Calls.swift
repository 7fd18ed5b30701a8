import Foundation
import Switchboard

extension NetworkRouter {
    /// Returns the call for an endpoint, which decodes the response, without sending anything. See
    /// `request(_:as:options:)`.
    ///
    /// - Parameters:
    ///   - endPoint: The endpoint.
    ///   - type: The type of the decoded value.
    ///   - options: Options for this call, which override those of the endpoint. Default none.
    /// - Returns: The call. It uses the environment that is set when it is made.
    public func call<Value: Decodable & Sendable>(
        _ endPoint: EndPoint, as type: Value.Type, options: RequestOptions = RequestOptions()
    ) -> NetworkCall<Value> {
        NetworkCall(in: { environmentNow }) { try await request(endPoint, as: type, options: options) }
    }

    /// Returns the call for an endpoint, with the response as its value, without sending anything. See
    /// `response(for:options:)`.
    public func call(_ endPoint: EndPoint, options: RequestOptions = RequestOptions()) -> NetworkCall<NetworkResponse> {
        NetworkCall(in: { environmentNow }) { try await response(for: endPoint, options: options) }
    }
}

extension NetworkManager {
    /// Returns the call for an endpoint without sending anything. See `send(_:options:)`.
    ///
    /// - Parameters:
    ///   - endPoint: The endpoint.
    ///   - options: Options for this call, which override those of the endpoint. Default none.
    /// - Returns: The call. It uses the environment that is set when it is made.
    public func call<EndPoint: TypedEndPoint>(
        _ endPoint: EndPoint, options: RequestOptions = RequestOptions()
    ) -> NetworkCall<EndPoint.Response> {
        NetworkCall(in: { self.callEnvironment }) { try await self.send(endPoint, options: options) }
    }
}
