import Foundation

extension NetworkManager {
    /// Returns the bytes at a URL. A URL outside of the origin of the environment's server gets no credentials, because
    /// it may come from a server.
    ///
    /// - Parameters:
    ///   - url: The URL of the bytes.
    ///   - options: Options for this call. Default none.
    /// - Returns: The bytes.
    /// - Throws: ``NetworkError``, also for a status that is not accepted, so that an error page is never taken for
    ///   data; `CancellationError` when the task or the manager was canceled.
    public func data(from url: URL, options: RequestOptions = RequestOptions()) async throws -> Data {
        try await urlRouter().prepare(URLEndPoint(.get, url), options, for: Data.self).value(Data.self)
    }

    /// Downloads the response body of an endpoint to a file; see
    /// ``NetworkRouter/download(_:to:keepingPartial:options:progress:isolation:verify:)``.
    @discardableResult
    public func download<EndPoint: EndPointType>(
        _ endPoint: EndPoint, to file: URL, keepingPartial isKept: Bool = false,
        options: RequestOptions = RequestOptions(), progress: TransferProgress? = nil,
        isolation: isolated (any Actor)? = #isolation, verify: (@Sendable (_ file: URL) async throws -> Void)? = nil
    ) async throws -> NetworkResponse {
        try await ownRouter().download(
            endPoint, to: file, keepingPartial: isKept, options: options, progress: progress, verify: verify)
    }

    /// Saves the bytes at a URL in a file, as
    /// ``NetworkRouter/download(_:to:keepingPartial:options:progress:isolation:verify:)`` does. A URL outside of the
    /// origin of the environment's server gets no credentials, because it may come from a server.
    ///
    /// - Returns: The response. Its ``NetworkResponse/fileURL`` is the file.
    /// - Throws: The errors of that function. A status other than 2xx saves no file.
    @discardableResult
    public func download(
        from url: URL, to file: URL, keepingPartial isKept: Bool = false,
        options: RequestOptions = RequestOptions(), progress: TransferProgress? = nil,
        verify: (@Sendable (_ file: URL) async throws -> Void)? = nil
    ) async throws -> NetworkResponse {
        try await urlRouter().download(
            URLEndPoint(.get, url), to: file, keepingPartial: isKept, options: options, progress: progress,
            verify: verify)
    }

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
