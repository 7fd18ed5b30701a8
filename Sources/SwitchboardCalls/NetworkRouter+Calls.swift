import Foundation
import Switchboard

extension NetworkRouter {
    /// The call for an endpoint as a value, which decodes the response; see `request(_:as:options:)`. Nothing is sent yet.
    ///
    /// - Parameters:
    ///   - endPoint: What to ask for.
    ///   - type: What to decode.
    ///   - options: Options for this call, which win over those of the endpoint. Default none.
    /// - Returns: The call. It goes to the environment that is set when it is made.
    public func call<Value: Decodable & Sendable>(
        _ endPoint: EndPoint, as type: Value.Type, options: RequestOptions = RequestOptions()
    ) -> NetworkCall<Value> {
        NetworkCall(in: { environmentNow }) { try await request(endPoint, as: type, options: options) }
    }

    /// The call for an endpoint as a value, which gives the response; see `response(for:options:)`. Nothing is sent yet.
    public func call(_ endPoint: EndPoint, options: RequestOptions = RequestOptions()) -> NetworkCall<NetworkResponse> {
        NetworkCall(in: { environmentNow }) { try await response(for: endPoint, options: options) }
    }
}

extension NetworkManager {
    /// The call for an endpoint as a value; see `send(_:options:)`. Nothing is sent yet.
    ///
    /// - Parameters:
    ///   - endPoint: What to ask for.
    ///   - options: Options for this call, which win over those of the endpoint. Default none.
    /// - Returns: The call. It goes to the environment that is set when it is made.
    public func call<EndPoint: TypedEndPoint>(
        _ endPoint: EndPoint, options: RequestOptions = RequestOptions()
    ) -> NetworkCall<EndPoint.Response> {
        NetworkCall(in: { self.callEnvironment }) { try await self.send(endPoint, options: options) }
    }
}
