import Foundation

extension NetworkManager {
    /// Sends an endpoint and decodes its response, outside of the caller's actor.
    ///
    /// Swift selects this method for an endpoint that is `Sendable` and belongs to no actor.
    ///
    /// - Parameters:
    ///   - endPoint: The endpoint to send.
    ///   - options: Options for this call. They override those of the endpoint. Default none.
    ///   - isolation: The actor on which the endpoint is read: the caller's.
    /// - Returns: The decoded response.
    /// - Throws: ``NetworkError``; `CancellationError` when the task or the manager was canceled.
    @discardableResult
    public func send<EndPoint: TypedEndPoint & Sendable>(
        _ endPoint: EndPoint, options: RequestOptions = RequestOptions(),
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> EndPoint.Response where EndPoint.Response: Sendable {
        try await ownRouter().prepare(endPoint, options, for: EndPoint.Response.self).value(EndPoint.Response.self)
    }

    /// Sends an endpoint and decodes its response on the caller's actor; see
    /// `NetworkRouter.request(_:as:options:isolation:)`.
    ///
    /// - Throws: ``NetworkError``; `CancellationError` when the task or the manager was canceled.
    @discardableResult
    public func send<EndPoint: TypedEndPoint>(
        _ endPoint: EndPoint, options: RequestOptions = RequestOptions(),
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> EndPoint.Response {
        try await ownRouter().prepare(endPoint, options, for: EndPoint.Response.self).performShared().value(
            EndPoint.Response.self)
    }

    /// Sends an endpoint, decodes its response, and calls back once.
    ///
    /// - Returns: A handle that cancels only this request.
    @discardableResult
    public func send<EndPoint: TypedEndPoint & Sendable>(
        _ endPoint: EndPoint, options: RequestOptions = RequestOptions(),
        isolation: isolated (any Actor)? = #isolation,
        completion: @escaping @Sendable (Result<EndPoint.Response, NetworkError>) -> Void
    ) -> RequestHandle where EndPoint.Response: Sendable {
        ownRouter().request(endPoint, as: EndPoint.Response.self, options: options, completion: completion)
    }

    /// Sends an endpoint, decodes its response on the caller's actor, and calls back once.
    ///
    /// - Returns: A handle that cancels only this request.
    @discardableResult
    public func send<EndPoint: TypedEndPoint>(
        _ endPoint: EndPoint, options: RequestOptions = RequestOptions(),
        isolation: isolated any Actor = #isolation,
        completion: @escaping @Sendable (Result<EndPoint.Response, NetworkError>) -> Void
    ) -> RequestHandle {
        ownRouter().request(endPoint, as: EndPoint.Response.self, options: options, completion: completion)
    }

    /// Sends an endpoint, decodes its response outside of the main actor, and calls back there once.
    ///
    /// ```swift
    /// manager.send(FindTodos(), on: MainActor.self) { result in
    ///     show((try? result.get()) ?? [])
    /// }
    /// ```
    ///
    /// - Returns: A handle that cancels only this request.
    @discardableResult
    public func send<EndPoint: TypedEndPoint & Sendable>(
        _ endPoint: EndPoint, options: RequestOptions = RequestOptions(), on actor: MainActor.Type,
        completion: @escaping @MainActor (Result<EndPoint.Response, NetworkError>) -> Void
    ) -> RequestHandle where EndPoint.Response: Sendable {
        ownRouter().request(endPoint, as: EndPoint.Response.self, options: options, on: actor, completion: completion)
    }

    /// Sends an endpoint, and decodes its response and calls back once on the main actor.
    ///
    /// - Returns: A handle that cancels only this request.
    @discardableResult
    @MainActor
    public func send<EndPoint: TypedEndPoint>(
        _ endPoint: EndPoint, options: RequestOptions = RequestOptions(), on actor: MainActor.Type,
        completion: @escaping @MainActor (Result<EndPoint.Response, NetworkError>) -> Void
    ) -> RequestHandle {
        ownRouter().request(endPoint, as: EndPoint.Response.self, options: options, on: actor, completion: completion)
    }

    /// Sends any endpoint and returns the response if its status is accepted.
    ///
    /// - Throws: ``NetworkError``; `CancellationError` when the task or the manager was canceled.
    @discardableResult
    public func response<EndPoint: EndPointType>(
        for endPoint: EndPoint, options: RequestOptions = RequestOptions(),
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> NetworkResponse {
        try await ownRouter().response(for: endPoint, options: options)
    }

    /// Sends any endpoint and decodes the response if its status is accepted; see
    /// `NetworkRouter.request(_:as:options:isolation:)`.
    ///
    /// ```swift
    /// let page = try await manager.request(
    ///     MovieApi.popular(page: 1), as: MoviePage.self)
    /// let same: MoviePage = try await manager.request(
    ///     MovieApi.popular(page: 1))
    /// ```
    ///
    /// - Throws: ``NetworkError``; `CancellationError` when the task or the manager was canceled.
    public func request<EndPoint: EndPointType, Value: Decodable & Sendable>(
        _ endPoint: EndPoint, as type: Value.Type = Value.self, options: RequestOptions = RequestOptions(),
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> Value {
        try await ownRouter().request(endPoint, as: type, options: options)
    }

    /// Sends any endpoint and decodes the response on the caller's actor, if its status is accepted; see
    /// `NetworkRouter.request(_:as:options:isolation:)`.
    ///
    /// - Throws: ``NetworkError``; `CancellationError` when the task or the manager was canceled.
    public func request<EndPoint: EndPointType, Value: Decodable>(
        _ endPoint: EndPoint, as type: Value.Type = Value.self, options: RequestOptions = RequestOptions(),
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> Value {
        try await ownRouter().request(endPoint, as: type, options: options)
    }

    /// Sends any endpoint and decodes the value at a path of names in the response; see
    /// `NetworkRouter.request(_:as:at:options:isolation:)`.
    public func request<EndPoint: EndPointType, Value: Decodable & Sendable>(
        _ endPoint: EndPoint, as type: Value.Type = Value.self, at path: [String],
        options: RequestOptions = RequestOptions(), isolation: isolated (any Actor)? = #isolation
    ) async throws -> Value {
        try await ownRouter().request(endPoint, as: type, at: path, options: options)
    }

    /// Sends any endpoint and decodes the value at a path of names on the caller's actor.
    public func request<EndPoint: EndPointType, Value: Decodable>(
        _ endPoint: EndPoint, as type: Value.Type = Value.self, at path: [String],
        options: RequestOptions = RequestOptions(), isolation: isolated (any Actor)? = #isolation
    ) async throws -> Value {
        try await ownRouter().request(endPoint, as: type, at: path, options: options)
    }

    /// Sends any endpoint and decodes the response with a closure, if its status is accepted; see
    /// ``NetworkRouter/request(_:options:isolation:decoding:)``.
    public func request<EndPoint: EndPointType, Value>(
        _ endPoint: EndPoint, options: RequestOptions = RequestOptions(), isolation: isolated (any Actor)? = #isolation,
        decoding decode: (NetworkResponse) throws -> Value
    ) async throws -> Value {
        try await ownRouter().request(endPoint, options: options, decoding: decode)
    }

    /// Explains at compile time that the value's type is missing.
    @available(*, unavailable, message: "name the value's type: `as: Film.self`, or `let film: Film = ...`")
    @_disfavoredOverload
    public func request<EndPoint: EndPointType>(_ endPoint: EndPoint) async throws -> NetworkResponse {
        try await response(for: endPoint)
    }

    /// Sends any endpoint, decodes the response, and calls back once.
    ///
    /// - Returns: A handle that cancels only this request.
    @discardableResult
    public func request<EndPoint: EndPointType, Value: Decodable & Sendable>(
        _ endPoint: EndPoint, as type: Value.Type, options: RequestOptions = RequestOptions(),
        isolation: isolated (any Actor)? = #isolation,
        completion: @escaping @Sendable (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        ownRouter().request(endPoint, as: type, options: options, completion: completion)
    }

    /// Sends any endpoint, decodes the response on the caller's actor, and calls back once.
    ///
    /// - Returns: A handle that cancels only this request.
    @discardableResult
    public func request<EndPoint: EndPointType, Value: Decodable>(
        _ endPoint: EndPoint, as type: Value.Type, options: RequestOptions = RequestOptions(),
        isolation: isolated any Actor = #isolation,
        completion: @escaping @Sendable (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        ownRouter().request(endPoint, as: type, options: options, completion: completion)
    }

    /// Sends any endpoint, decodes the response outside of the main actor, and calls back there once.
    ///
    /// - Returns: A handle that cancels only this request.
    @discardableResult
    public func request<EndPoint: EndPointType, Value: Decodable & Sendable>(
        _ endPoint: EndPoint, as type: Value.Type, options: RequestOptions = RequestOptions(), on actor: MainActor.Type,
        completion: @escaping @MainActor (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        ownRouter().request(endPoint, as: type, options: options, on: actor, completion: completion)
    }

    /// Sends any endpoint, and decodes the response and calls back once on the main actor.
    ///
    /// - Returns: A handle that cancels only this request.
    @discardableResult
    @MainActor
    public func request<EndPoint: EndPointType, Value: Decodable>(
        _ endPoint: EndPoint, as type: Value.Type, options: RequestOptions = RequestOptions(), on actor: MainActor.Type,
        completion: @escaping @MainActor (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        ownRouter().request(endPoint, as: type, options: options, on: actor, completion: completion)
    }
}
