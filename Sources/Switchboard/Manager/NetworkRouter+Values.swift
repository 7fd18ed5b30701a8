import Foundation

extension NetworkRouter {
    /// Makes a call and returns the response, once its status is accepted.
    ///
    /// ```swift
    /// let page = try await router.response(for: .popular(page: 1), options: RequestOptions { $0.timeouts.total = .seconds(1) })
    /// ```
    ///
    /// - Parameters:
    ///   - endPoint: What to ask for.
    ///   - options: Options for this call, which win over those of its endpoint. Default none.
    /// - Returns: The response.
    /// - Throws: ``NetworkError``, with the code of the status when it was not accepted; `CancellationError` when the
    ///   task or the router was cancelled.
    public func response(
        for endPoint: EndPoint, options: RequestOptions = RequestOptions()
    ) async throws -> NetworkResponse {
        try await rawResponse(for: endPoint, options: options).checked()
    }

    /// Makes a call and decodes the response, once its status is accepted. The type is a `Decodable`; `Data`
    /// gives the bytes, `String` the text, ``EmptyResponse`` nothing. It may be left to what the value is used for:
    ///
    /// ```swift
    /// let films: [Film] = try await router.request(.popular)
    /// ```
    ///
    /// - Throws: ``NetworkError``: that of ``response(for:options:)``, or that of ``NetworkResponse/decode(_:decoder:)``.
    public func request<Value: Decodable & Sendable>(
        _ endPoint: EndPoint, as type: Value.Type = Value.self, options: RequestOptions = RequestOptions()
    ) async throws -> Value {
        try await response(for: endPoint, options: options).decode(type)
    }

    /// Says what is missing where the compiler cannot know the value's type.
    @available(*, unavailable, message: "say the value's type: `as: Film.self`, or `let film: Film = ...`")
    @_disfavoredOverload
    public func request(_ endPoint: EndPoint) async throws -> NetworkResponse {
        try await response(for: endPoint)
    }

    /// Performs a request, decodes the response, and calls back once.
    ///
    /// - Returns: What cancels this request and no other; the completion gets ``NetworkError/Code/cancelled`` then.
    @discardableResult
    public func request<Value: Decodable & Sendable>(
        _ endPoint: EndPoint, as type: Value.Type, completion: @escaping @Sendable (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        start(endPoint, transform: { try $0.checked().decode(type) }, completion: completion)
    }

    /// Performs a request and calls back once with the response, once its status is accepted.
    ///
    /// - Returns: What cancels this request and no other; the completion gets ``NetworkError/Code/cancelled`` then.
    @discardableResult
    public func response(
        for endPoint: EndPoint, completion: @escaping @Sendable (Result<NetworkResponse, NetworkError>) -> Void
    ) -> RequestHandle {
        start(endPoint, transform: { try $0.checked() }, completion: completion)
    }
}

extension NetworkRouter where EndPoint: TypedEndPoint {
    /// Makes a call and decodes what the endpoint says it responds.
    ///
    /// - Throws: What ``request(_:as:options:)`` throws.
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
