import Foundation

extension NetworkManager {
    /// Sends an endpoint and decodes what it says it responds.
    ///
    /// - Parameters:
    ///   - endPoint: What to ask for.
    ///   - options: Options for this call, which win over those of the endpoint. Default none.
    /// - Returns: What the endpoint responds.
    /// - Throws: ``NetworkError``; `CancellationError` when the task or the manager was cancelled.
    public func send<EndPoint: TypedEndPoint>(
        _ endPoint: EndPoint, options: RequestOptions = RequestOptions()
    ) async throws -> EndPoint.Response {
        try await ownRouter().send(endPoint, options: options)
    }

    /// Sends an endpoint, decodes what it says it responds, and calls back once.
    ///
    /// - Returns: What cancels this request and no other.
    @discardableResult
    public func send<EndPoint: TypedEndPoint>(
        _ endPoint: EndPoint, completion: @escaping @Sendable (Result<EndPoint.Response, NetworkError>) -> Void
    ) -> RequestHandle {
        ownRouter().request(endPoint, as: EndPoint.Response.self, completion: completion)
    }

    /// Sends any endpoint and returns the response, once its status is accepted.
    ///
    /// - Throws: ``NetworkError``; `CancellationError` when the task or the manager was cancelled.
    public func response<EndPoint: EndPointType>(
        for endPoint: EndPoint, options: RequestOptions = RequestOptions()
    ) async throws -> NetworkResponse {
        try await ownRouter().response(for: endPoint, options: options)
    }

    /// Sends any endpoint and decodes the response, once its status is accepted; see ``NetworkRouter/request(_:as:options:)``.
    ///
    /// ```swift
    /// let page = try await manager.request(MovieApi.popular(page: 1), as: MoviePage.self)
    /// let same: MoviePage = try await manager.request(MovieApi.popular(page: 1))
    /// ```
    ///
    /// - Throws: ``NetworkError``; `CancellationError` when the task or the manager was cancelled.
    public func request<EndPoint: EndPointType, Value: Decodable & Sendable>(
        _ endPoint: EndPoint, as type: Value.Type = Value.self, options: RequestOptions = RequestOptions()
    ) async throws -> Value {
        try await ownRouter().request(endPoint, as: type, options: options)
    }

    /// Says what is missing where the compiler cannot know the value's type.
    @available(*, unavailable, message: "say the value's type: `as: Film.self`, or `let film: Film = ...`")
    @_disfavoredOverload
    public func request<EndPoint: EndPointType>(_ endPoint: EndPoint) async throws -> NetworkResponse {
        try await response(for: endPoint)
    }

    /// Sends any endpoint, decodes the response, and calls back once.
    ///
    /// - Returns: What cancels this request and no other.
    @discardableResult
    public func request<EndPoint: EndPointType, Value: Decodable & Sendable>(
        _ endPoint: EndPoint, as type: Value.Type, completion: @escaping @Sendable (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        ownRouter().request(endPoint, as: type, completion: completion)
    }

    /// Gets the bytes at a URL. One that is not at the origin of ``servers`` gets no credentials: it may have come from a
    /// server.
    ///
    /// - Parameters:
    ///   - url: Where the bytes are.
    ///   - options: Options for this call. Default none.
    /// - Returns: The bytes.
    /// - Throws: ``NetworkError``, for a status other than 2xx too: an error page is never taken for data.
    ///   `CancellationError` when the task or the manager was cancelled.
    public func data(from url: URL, options: RequestOptions = RequestOptions()) async throws -> Data {
        try await urlRouter().response(for: URLEndPoint(.get, url, headers: [.accept("*/*")]), options: options).body
    }

    /// Saves the bytes at a URL in a file, as ``NetworkRouter/download(_:to:keepingPartial:options:progress:verify:)``
    /// does. A URL that is not at the origin of ``servers`` gets no credentials: it may have come from a server.
    ///
    /// - Returns: The response; its ``NetworkResponse/fileURL`` is the file.
    /// - Throws: What that throws: for a status other than 2xx there is no file.
    @discardableResult
    public func download(
        from url: URL, to file: URL, keepingPartial isKept: Bool = false,
        options: RequestOptions = RequestOptions(), progress: TransferProgress? = nil
    ) async throws -> NetworkResponse {
        try await urlRouter().download(
            URLEndPoint(.get, url), to: file, keepingPartial: isKept, options: options, progress: progress)
    }
}
