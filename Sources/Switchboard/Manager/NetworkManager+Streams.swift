import Foundation

// The methods of a router, for endpoints of any type.
extension NetworkManager {
    /// Sends any endpoint and reports the progress of its body; see
    /// ``NetworkRouter/upload(_:options:progress:isolation:)``.
    @discardableResult
    public func upload<EndPoint: EndPointType>(
        _ endPoint: EndPoint, options: RequestOptions = RequestOptions(), progress: TransferProgress? = nil,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> NetworkResponse {
        try await ownRouter().upload(endPoint, options: options, progress: progress)
    }

    /// Sends any endpoint, reports the progress of its body, and decodes the response; see
    /// `NetworkRouter.upload(_:as:options:progress:isolation:)`.
    public func upload<EndPoint: EndPointType, Value: Decodable & Sendable>(
        _ endPoint: EndPoint, as type: Value.Type, options: RequestOptions = RequestOptions(),
        progress: TransferProgress? = nil, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Value {
        try await ownRouter().upload(endPoint, as: type, options: options, progress: progress)
    }

    /// Sends any endpoint, reports the progress of its body, and decodes the response on the caller's actor.
    public func upload<EndPoint: EndPointType, Value: Decodable>(
        _ endPoint: EndPoint, as type: Value.Type, options: RequestOptions = RequestOptions(),
        progress: TransferProgress? = nil, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Value {
        try await ownRouter().upload(endPoint, as: type, options: options, progress: progress)
    }

    /// Sends any endpoint and returns the response when its head has arrived; see
    /// ``NetworkRouter/streamedResponse(for:options:isolation:)``.
    public func streamedResponse<EndPoint: EndPointType>(
        for endPoint: EndPoint, options: RequestOptions = RequestOptions(),
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> NetworkResponse {
        try await ownRouter().streamedResponse(for: endPoint, options: options)
    }

    /// Returns the body of a response in chunks, as it arrives; see ``NetworkRouter/bytes(for:options:)``.
    public func bytes<EndPoint: EndPointType>(
        for endPoint: EndPoint, options: RequestOptions = RequestOptions()
    ) -> ResponseBytes {
        ownRouter().bytes(for: endPoint, options: options)
    }

    /// Returns the lines of a text in UTF-8 as they arrive; see ``NetworkRouter/lines(for:options:limit:)``.
    public func lines<EndPoint: EndPointType>(
        for endPoint: EndPoint, options: RequestOptions = RequestOptions(), limit: Int = 1 << 20
    ) -> ResponseSequence<String> {
        ownRouter().lines(for: endPoint, options: options, limit: limit)
    }
}
