import SwitchboardText
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
    ///   - isolation: The actor on which the endpoint is read: the caller's.
    /// - Returns: The response.
    /// - Throws: ``NetworkError``, with the code of the status when it was not accepted; `CancellationError` when the
    ///   task or the router was canceled.
    @discardableResult
    public func response(
        for endPoint: EndPoint, options: RequestOptions = RequestOptions(),
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> NetworkResponse {
        let response = try await prepare(endPoint, options).perform()
        try response.endingCall { try $0.checkStatus() }  // avoids a copy of the response
        return response
    }

    /// Sends an endpoint and decodes the response if its status is accepted. The type is a `Decodable`. `Data` returns
    /// the bytes, `String` the text, and ``EmptyResponse`` ignores the body. The compiler can infer the type:
    ///
    /// ```swift
    /// let page: MoviePage = try await router.request(.popular(page: 1))
    /// ```
    ///
    /// - Throws: The errors of ``response(for:options:isolation:)`` and of ``NetworkResponse/decode(_:decoder:)``.
    public func request<Value: Decodable & Sendable>(
        _ endPoint: EndPoint, as type: Value.Type = Value.self, options: RequestOptions = RequestOptions(),
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> Value {
        try await prepare(endPoint, options, for: type).value(type)
    }

    /// Sends an endpoint and decodes the response on the caller's actor, if its status is accepted.
    ///
    /// Swift selects this method for a type that is not `Sendable`, or whose conformance to `Decodable` belongs to an
    /// actor. In a target whose default isolation is `MainActor`, this applies to every type that is not `nonisolated`.
    ///
    /// - Throws: The errors of ``response(for:options:isolation:)`` and of ``NetworkResponse/decode(_:decoder:)``.
    public func request<Value: Decodable>(
        _ endPoint: EndPoint, as type: Value.Type = Value.self, options: RequestOptions = RequestOptions(),
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> Value {
        try await prepare(endPoint, options, for: type).performShared().value(type)
    }

    /// Sends an endpoint and decodes the value at a path of names in the response:
    ///
    /// ```swift
    /// let movies = try await router.request(
    ///     .popular(page: 1), as: [Movie].self, at: ["results"])
    /// ```
    ///
    /// - Throws: The errors of ``response(for:options:isolation:)`` and of ``NetworkResponse/decode(_:at:decoder:)``.
    public func request<Value: Decodable & Sendable>(
        _ endPoint: EndPoint, as type: Value.Type = Value.self, at path: [String],
        options: RequestOptions = RequestOptions(), isolation: isolated (any Actor)? = #isolation
    ) async throws -> Value {
        try await prepare(endPoint, options).value(type, at: path)
    }

    /// Sends an endpoint and decodes the value at a path of names on the caller's actor; see
    /// `request(_:as:options:isolation:)`.
    public func request<Value: Decodable>(
        _ endPoint: EndPoint, as type: Value.Type = Value.self, at path: [String],
        options: RequestOptions = RequestOptions(), isolation: isolated (any Actor)? = #isolation
    ) async throws -> Value {
        try await prepare(endPoint, options).performShared().endingCall { try $0.checked().decode(type, at: path) }
    }

    /// Sends an endpoint and decodes the response with a closure, if its status is accepted, for formats without a
    /// ``ResponseDecoder``:
    ///
    /// ```swift
    /// let size = try await router.request(.popular(page: 1)) { $0.body.count }
    /// ```
    ///
    /// - Parameters:
    ///   - endPoint: The endpoint to send.
    ///   - options: Options for this call. They override those of its endpoint. Default none.
    ///   - isolation: The actor on which the endpoint is read and the closure runs: the caller's.
    ///   - decode: Returns the value of a response.
    /// - Returns: The value.
    /// - Throws: The errors of ``response(for:options:isolation:)``. A ``NetworkError`` or `CancellationError` of the
    ///   closure is thrown unchanged, any other error within ``NetworkError/Code/decodingFailed``.
    public func request<Value>(
        _ endPoint: EndPoint, options: RequestOptions = RequestOptions(), isolation: isolated (any Actor)? = #isolation,
        decoding decode: (NetworkResponse) throws -> Value
    ) async throws -> Value {
        try await prepare(endPoint, options, accept: "*/*").performShared().endingCall { response in
            let response = try response.checked()
            do {
                return try response.environment.run { try decode(response) }
            } catch let error where !(error is NetworkError || error is CancellationError) {
                // Without the body, because the closure may have decoded other bytes.
                let reason = (error as? DecodingError).map { DecodingFailure.cause(of: $0) }
                throw NetworkError(.decodingFailed, reason: reason, underlying: error).with(response)
            }
        }
    }

    /// Explains at compile time that the value's type is missing.
    @available(*, unavailable, message: "name the value's type: `as: Film.self`, or `let film: Film = ...`")
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
        _ endPoint: EndPoint, as type: Value.Type, options: RequestOptions = RequestOptions(),
        isolation: isolated (any Actor)? = #isolation,
        completion: @escaping @Sendable (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        prepare(endPoint, options, for: type).start(
            transform: { Transferred(try $0.checked().decode(type)) }, completion: completion)
    }

    /// Sends an endpoint, decodes the response on the caller's actor, and calls back once. Swift selects this method
    /// for the types of `request(_:as:options:isolation:)` that an actor decodes.
    ///
    /// - Returns: A handle that cancels only this request; see `request(_:as:options:isolation:completion:)`.
    @discardableResult
    public func request<Value: Decodable>(
        _ endPoint: EndPoint, as type: Value.Type, options: RequestOptions = RequestOptions(),
        isolation: isolated any Actor = #isolation,
        completion: @escaping @Sendable (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        let decode = ActorBound<NetworkResponse, Value> { try $0.checked().decode(type) }
        return prepare(endPoint, options, for: type).start(transform: decode.sendable, completion: completion)
    }

    /// Sends an endpoint, decodes the response outside of the main actor, and calls back there once.
    ///
    /// ```swift
    /// router.request(
    ///     .popular(page: 1), as: MoviePage.self, on: MainActor.self
    /// ) { show((try? $0.get())?.results ?? []) }
    /// ```
    ///
    /// - Returns: A handle that cancels only this request; see `request(_:as:options:isolation:completion:)`.
    @discardableResult
    public func request<Value: Decodable & Sendable>(
        _ endPoint: EndPoint, as type: Value.Type, options: RequestOptions = RequestOptions(), on actor: MainActor.Type,
        completion: @escaping @MainActor (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        prepare(endPoint, options, for: type).start(
            on: actor, transform: { Transferred(try $0.checked().decode(type)) }, completion: completion)
    }

    /// Sends an endpoint, and decodes the response and calls back once on the main actor. Swift selects this method for
    /// the types of `request(_:as:options:isolation:)` that an actor decodes.
    ///
    /// - Returns: A handle that cancels only this request; see `request(_:as:options:isolation:completion:)`.
    @discardableResult
    @MainActor
    public func request<Value: Decodable>(
        _ endPoint: EndPoint, as type: Value.Type, options: RequestOptions = RequestOptions(), on actor: MainActor.Type,
        completion: @escaping @MainActor (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        prepare(endPoint, options, for: type).start(
            on: actor, transformOnActor: { try $0.checked().decode(type) }, completion: completion)
    }

    /// Sends an endpoint and calls back once, with the response if its status is accepted.
    ///
    /// - Returns: A handle that cancels only this request. After a cancellation the completion receives
    ///   ``NetworkError/Code/cancelled``.
    @discardableResult
    public func response(
        for endPoint: EndPoint, options: RequestOptions = RequestOptions(),
        completion: @escaping @Sendable (Result<NetworkResponse, NetworkError>) -> Void
    ) -> RequestHandle {
        prepare(endPoint, options).start(transform: { Transferred(try $0.checked()) }, completion: completion)
    }

    /// Sends an endpoint and calls back once on the main actor, with the response if its status is accepted.
    ///
    /// - Returns: A handle that cancels only this request; see ``response(for:options:completion:)``.
    @discardableResult
    public func response(
        for endPoint: EndPoint, options: RequestOptions = RequestOptions(), on actor: MainActor.Type,
        completion: @escaping @MainActor (Result<NetworkResponse, NetworkError>) -> Void
    ) -> RequestHandle {
        prepare(endPoint, options).start(
            on: actor, transform: { Transferred(try $0.checked()) }, completion: completion)
    }
}

extension NetworkRouter where EndPoint: TypedEndPoint {
    /// Sends an endpoint and decodes its response on the caller's actor.
    ///
    /// - Throws: The errors of `request(_:as:options:isolation:)`.
    public func send(
        _ endPoint: EndPoint, options: RequestOptions = RequestOptions(),
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> EndPoint.Response {
        try await prepare(endPoint, options, for: EndPoint.Response.self).performShared().value(
            EndPoint.Response.self)
    }
}

extension Router where EndPoint: TypedEndPoint & Sendable, EndPoint.Response: Sendable {
    /// Sends an endpoint and decodes its response outside of the caller's actor.
    ///
    /// - Throws: The errors of `request(_:as:options:isolation:)`.
    public func send(
        _ endPoint: EndPoint, options: RequestOptions = RequestOptions(),
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> EndPoint.Response {
        try await prepare(endPoint, options, for: EndPoint.Response.self).value(EndPoint.Response.self)
    }
}

// Repeats the methods of every router, because the compiler checks the isolation of a conformance only here.
extension Router {
    /// Sends an endpoint and decodes the response if its status is accepted; see
    /// `NetworkRouter.request(_:as:options:isolation:)`.
    public func request<Value: Decodable & Sendable>(
        _ endPoint: EndPoint, as type: Value.Type = Value.self, options: RequestOptions = RequestOptions(),
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> Value {
        try await prepare(endPoint, options, for: type).value(type)
    }

    /// Sends an endpoint and decodes the response on the caller's actor, if its status is accepted; see
    /// `NetworkRouter.request(_:as:options:isolation:)`.
    public func request<Value: Decodable>(
        _ endPoint: EndPoint, as type: Value.Type = Value.self, options: RequestOptions = RequestOptions(),
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> Value {
        try await prepare(endPoint, options, for: type).performShared().value(type)
    }
}

extension NetworkRouter {
    /// Reads an endpoint for a call that decodes a type. Text and bytes are accepted in every media type.
    @inline(__always)
    package func prepare(_ endPoint: EndPoint, _ options: RequestOptions, for type: Any.Type) -> PreparedCall {
        let isPlain = type == String.self || type == Data.self || type == String?.self || type == Data?.self
        return prepare(endPoint, options, accept: isPlain ? "*/*" : nil)
    }
}

extension PreparedCall {
    /// Sends the request and returns the response if its status is accepted.
    package func accepted() async throws -> NetworkResponse {
        try await performShared().endingCall { try $0.checked() }
    }

    /// Sends the request and decodes the value at a path, outside of the caller's actor.
    func value<Value: Decodable & Sendable>(_ type: Value.Type, at path: [String]) async throws -> Value {
        try await performShared().endingCall { try $0.checked().decode(type, at: path) }
    }

    /// Sends the request and decodes the response, outside of the caller's actor.
    package func value<Value: Decodable & Sendable>(_ type: Value.Type) async throws -> Value {
        try await perform().endingCall { try $0.checked().decode(type) }
    }
}

extension NetworkResponse {
    /// Decodes the response on the caller's actor, as the last step of its call.
    package func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try endingCall { try $0.checked().decode(type) }
    }

    func checked() throws(NetworkError) -> NetworkResponse {
        try checkStatus()
        return self
    }
}
