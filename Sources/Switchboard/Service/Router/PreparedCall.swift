import Dispatch

extension NetworkRouter {
    /// Reads an endpoint on the caller's actor, and returns the call that sends its request from anywhere.
    ///
    /// - Parameters:
    ///   - endPoint: The endpoint to read. An error of its request is thrown when the call is sent.
    ///   - options: Options for this call. They override those of the endpoint.
    ///   - accept: The `Accept` field for a request whose endpoint and task set none. Nil for the router's default.
    /// - Returns: The call.
    package func prepare(
        _ endPoint: EndPoint, _ options: RequestOptions = RequestOptions(), accept: String? = nil
    ) -> PreparedCall {
        var options = options
        if let accept { options.accept = accept }
        let environment = calls.environmentNow
        let request = environment.run {
            Result { () throws(NetworkError) in try makeRequest(for: endPoint, options: options) }
        }
        return PreparedCall(request, calls, environment)
    }
}

/// A call of a router whose request is built and not sent. Any task may send it, several times too.
package struct PreparedCall: Sendable {
    package let request: Result<NetworkRequest, NetworkError>
    package let calls: RouterCalls
    /// The environment in which the request was built and will be sent. Nil if none is set.
    package let environment: CallEnvironment?

    init(_ request: Result<NetworkRequest, NetworkError>, _ calls: RouterCalls, _ environment: CallEnvironment?) {
        self.request = request
        self.calls = calls
        self.environment = environment
    }

    /// Sends the request in the caller's task and returns the response, whatever its status.
    ///
    /// - Parameter change: Changes the finished request before the interceptors receive it. An error that it throws
    ///   ends the call, and nothing is sent.
    /// - Returns: The response.
    /// - Throws: ``NetworkError``, and `CancellationError` when the task or the router was canceled.
    @inline(__always)
    package func send(
        _ change: (inout NetworkRequest) throws(NetworkError) -> Void = { _ in }
    ) async throws -> NetworkResponse {
        let response = try await answer(change)
        response.endCall()
        return response
    }

    /// Sends the request in the caller's task and returns the response, whose reader ends the call.
    ///
    /// - Throws: The errors of ``send(_:)``. They have ended the call.
    @inline(__always)
    package func answer(
        _ change: (inout NetworkRequest) throws(NetworkError) -> Void = { _ in }
    ) async throws -> NetworkResponse {
        guard let environment else { return try await calls.answer(to: try finished(change)) }
        return try await environment.run { try await calls.answer(to: try finished(change)) }
    }

    /// Returns the same call with a new identity for its request, to send it once more.
    package var again: PreparedCall {
        let request = request.map { request in
            var request = request
            request.id = NetworkRequest.ID()
            return request
        }
        return PreparedCall(request, calls, environment)
    }

    /// Returns the plan of the call, and sends nothing.
    func plan() async -> CallPlan {
        await environment.run {
            await calls.chain.plan(Result { () throws(NetworkError) in try finished() })
        }
    }

    /// Runs an operation as one call of the router, although it sends several requests and waits between them. The
    /// router's `cancel()` ends it.
    package func hold<Output: Sendable>(_ operation: @Sendable () async throws -> Output) async throws -> Output {
        try await environment.run { try await calls.hold(operation) }
    }

    /// Returns the request with its body encoded, for the interceptors.
    func finished(
        _ change: (inout NetworkRequest) throws(NetworkError) -> Void = { _ in }
    ) throws(NetworkError) -> NetworkRequest {
        var request = try request.get()
        do throws(NetworkError) {
            try request.makeReady()
            try change(&request)
        } catch {
            request.options.download?.progress?.end()
            throw error.attributed(to: request)
        }
        return request
    }
}

// MARK: Completions

extension PreparedCall {
    /// Sends the request in a new task, transforms the response into a value, and calls back once, on the router's
    /// queue.
    ///
    /// - Parameters:
    ///   - transform: Returns the value for a response. An error that it throws becomes the failure.
    ///   - completion: Called exactly once, never on the caller's stack. After a cancellation it receives
    ///     ``NetworkError/Code/cancelled``, even if the response had already arrived.
    /// - Returns: A handle that cancels only this call.
    package func start<Value: Sendable>(
        transform: @escaping @Sendable (NetworkResponse) throws -> Value,
        completion: @escaping @Sendable (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        calls.start(self) { [queue = calls.queue] call in
            let value = call.transform(transform)
            if let queue { queue.async { call.end(value, completion) } } else { call.end(value, completion) }
        }
    }

    /// Sends the request in a new task, transforms the response on the actor of the closure, and calls back once, on the
    /// router's queue.
    func start<Value>(
        transform: ActorBound<NetworkResponse, Value>,
        completion: @escaping @Sendable (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        calls.start(self) { [queue = calls.queue] call in
            let value = await call.transform(transform)
            if let queue {
                queue.async { call.end(value.value, completion) }
            } else {
                call.end(value.value, completion)
            }
        }
    }

    /// Sends the request in a new task, transforms the response outside of the main actor, and calls back there once.
    func start<Value: Sendable>(
        on actor: MainActor.Type, transform: @escaping @Sendable (NetworkResponse) throws -> Value,
        completion: @escaping @MainActor (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        calls.start(self) { call in
            let value = call.transform(transform)
            await MainActor.run { call.end(value, completion) }
        }
    }

    /// Sends the request in a new task, and transforms the response and calls back once on the main actor.
    func start<Value>(
        on actor: MainActor.Type, transformingThere transform: @escaping @MainActor (NetworkResponse) throws -> Value,
        completion: @escaping @MainActor (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        calls.start(self) { call in
            await MainActor.run { call.end(call.transform(transform), completion) }
        }
    }
}

extension PreparedCall {
    /// A call with a completion whose response or error has arrived.
    struct Completed: Sendable {
        let result: Result<NetworkResponse, NetworkError>
        let request: Result<NetworkRequest, NetworkError>
        let environment: CallEnvironment?
        let handle: RequestHandle
        let didEnd: @Sendable () -> Void

        /// Returns the value for the response, in the environment of the call.
        func transform<Value>(_ transform: (NetworkResponse) throws -> Value) -> Result<Value, NetworkError> {
            environment.run {
                do {
                    return .success(try transform(try result.get()))
                } catch {
                    return .failure(NetworkError.completion(error, request))
                }
            }
        }

        func transform<Value>(
            _ transform: ActorBound<NetworkResponse, Value>
        ) async -> Transferred<Result<Value, NetworkError>> {
            await environment.run {
                do {
                    return Transferred(.success(try await transform(try result.get()).value))
                } catch {
                    return Transferred(.failure(NetworkError.completion(error, request)))
                }
            }
        }

        /// Passes the value to the completion, unless the call was canceled before: it then gets the cancellation.
        func end<Value>(_ value: Result<Value, NetworkError>, _ completion: (Result<Value, NetworkError>) -> Void) {
            let value = handle.finish() ? value : .failure(NetworkError.completion(CancellationError(), request))
            if case .success(let response) = result {
                let error: NetworkError? = if case .failure(let error) = value { error } else { nil }
                response.endCall(with: error)
            }
            (environment?.afterwards).run { completion(value) }
            didEnd()
        }
    }
}
