import Foundation

extension NetworkRouter {
    /// Sends an endpoint and returns the response if its status is accepted.
    ///
    /// ```swift
    /// let options = RequestOptions { $0.timeouts.total = .seconds(1) }
    /// let page = try await router.response(
    ///     for: .popular(page: 1), options: options)
    /// ```
    ///
    /// - Parameters:
    ///   - endPoint: The endpoint to send.
    ///   - options: Options for this call. They override those of its endpoint. Default none.
    /// - Returns: The response.
    /// - Throws: ``NetworkError``, with the code of the status when it was not accepted; `CancellationError` when the
    ///   task or the router was canceled.
    public func response(
        for endPoint: EndPoint, options: RequestOptions = RequestOptions()
    ) async throws -> NetworkResponse {
        try await rawResponse(for: endPoint, options: options).checked()
    }

    /// Sends an endpoint and decodes the response if its status is accepted. The type is a `Decodable`. `Data` returns
    /// the bytes, `String` the text, and ``EmptyResponse`` ignores the body. The compiler can infer the type:
    ///
    /// ```swift
    /// let page: MoviePage = try await router.request(.popular(page: 1))
    /// ```
    ///
    /// - Throws: The errors of ``response(for:options:)`` and of ``NetworkResponse/decode(_:decoder:)``.
    public func request<Value: Decodable & Sendable>(
        _ endPoint: EndPoint, as type: Value.Type = Value.self, options: RequestOptions = RequestOptions()
    ) async throws -> Value {
        try await response(for: endPoint, options: options).decodeShared(type)
    }

    /// Explains at compile time that the value's type is missing.
    @available(*, unavailable, message: "say the value's type: `as: Film.self`, or `let film: Film = ...`")
    @_disfavoredOverload
    public func request(_ endPoint: EndPoint) async throws -> NetworkResponse {
        try await response(for: endPoint)
    }

    /// Sends an endpoint, decodes the response, and calls back once.
    ///
    /// - Returns: A handle that cancels only this request. After a cancellation the completion receives
    ///   ``NetworkError/Code/cancelled``.
    @discardableResult
    public func request<Value: Decodable & Sendable>(
        _ endPoint: EndPoint, as type: Value.Type, completion: @escaping @Sendable (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        start(endPoint, transform: { try $0.checked().decodeShared(type) }, completion: completion)
    }

    /// Sends an endpoint and calls back once, with the response if its status is accepted.
    ///
    /// - Returns: A handle that cancels only this request. After a cancellation the completion receives
    ///   ``NetworkError/Code/cancelled``.
    @discardableResult
    public func response(
        for endPoint: EndPoint, completion: @escaping @Sendable (Result<NetworkResponse, NetworkError>) -> Void
    ) -> RequestHandle {
        start(endPoint, transform: { try $0.checked() }, completion: completion)
    }
}

extension NetworkRouter where EndPoint: TypedEndPoint {
    /// Sends an endpoint and decodes its response.
    ///
    /// - Throws: The errors of ``request(_:as:options:)``.
    public func send(_ endPoint: EndPoint, options: RequestOptions = RequestOptions()) async throws -> EndPoint.Response
    {
        try await request(endPoint, as: EndPoint.Response.self, options: options)
    }
}

extension NetworkResponse {
    func checked() throws(NetworkError) -> NetworkResponse {
        try handling.check(self)
        return self
    }
}
