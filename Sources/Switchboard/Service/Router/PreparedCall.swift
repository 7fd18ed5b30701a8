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
        let calls = calls
        let environment = calls.currentEnvironment
        let request = environment.run {
            Result { try readRequest(for: endPoint, options: options) }
        }
        let download =
            switch request {
            case .success(let request): request.options.download
            case .failure: options.download ?? (try? endPoint.task._endPointValue)?.download
            }
        return PreparedCall(request, calls, environment, progress: download?.progress)
    }
}

/// A call of a router whose request is built and not sent. Any task may send it, several times too.
package struct PreparedCall: Sendable {
    /// The request, or the ``NetworkError`` that prevents it. `any Error` makes copies small.
    package let request: Result<NetworkRequest, any Error>
    package let calls: RouterCalls
    /// The environment in which the request was built and will be sent. Nil if none is set.
    package let environment: CallEnvironment?
    /// The progress of a download, which ends even if the request could not be built.
    let progress: TransferProgress?

    package init(
        _ request: Result<NetworkRequest, any Error>, _ calls: RouterCalls, _ environment: CallEnvironment? = nil,
        progress: TransferProgress? = nil
    ) {
        self.request = request
        self.calls = calls
        self.environment = environment
        self.progress = progress
    }

    /// Makes the call, and ends it with the response, whatever its status.
    @inline(__always)
    package func send(_ change: Change? = nil) async throws -> NetworkResponse {
        let response = try await performShared(change)
        response.endCall()
        return response
    }

    /// Returns the same call with a new identity for its request, to send it once more.
    package func copyWithNewID() -> PreparedCall {
        let request = request.map { request in
            var request = request
            request.id = NetworkRequest.ID()
            return request
        }
        return PreparedCall(request, calls, environment, progress: progress)
    }

    /// Returns the plan of the call, and sends nothing.
    func plan() async -> CallPlan {
        await environment.run {
            await calls.chain.plan(Result { try encodedRequest() })
        }
    }

    /// Returns the request with its body encoded, for the interceptors.
    func encodedRequest(_ change: Change? = nil) throws -> NetworkRequest {
        var request = try request.get()
        do throws(NetworkError) {
            // A chain without a router may complete the URL; its session validates the request.
            if !request.isPrepared, request.endPoint == nil {
                try request.encodeBody()
            } else {
                try request.encodeAndValidate()
            }
            try change?(&request)
        } catch {
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

    /// Sends the request in a new task, transforms the response on the actor of the closure, and calls back once, on
    /// the router's queue.
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
        on actor: MainActor.Type, transformOnActor transform: @escaping @MainActor (NetworkResponse) throws -> Value,
        completion: @escaping @MainActor (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        calls.start(self) { call in
            await MainActor.run { call.end(call.transform(transform), completion) }
        }
    }
}

extension PreparedCall {
    /// A call with a completion, and its response or error.
    struct Completed: Sendable {
        let call: PreparedCall
        let result: Result<NetworkResponse, NetworkError>
        let handle: RequestHandle
        let didEnd: @Sendable () -> Void

        /// Returns the value for the response, in the environment of the call.
        func transform<Value>(_ transform: (NetworkResponse) throws -> Value) -> Result<Value, NetworkError> {
            call.environment.run {
                do {
                    return .success(try transform(try result.get()))
                } catch {
                    return .failure(NetworkError.completion(error, call.request))
                }
            }
        }

        func transform<Value>(
            _ transform: ActorBound<NetworkResponse, Value>
        ) async -> Transferred<Result<Value, NetworkError>> {
            await call.environment.run {
                do {
                    return Transferred(.success(try await transform(try result.get()).value))
                } catch {
                    return Transferred(.failure(NetworkError.completion(error, call.request)))
                }
            }
        }

        /// Passes the value to the completion, or the cancellation if the call was canceled before.
        func end<Value>(_ value: Result<Value, NetworkError>, _ completion: (Result<Value, NetworkError>) -> Void) {
            let value = handle.finish() ? value : .failure(NetworkError.completion(CancellationError(), call.request))
            if case .success(let response) = result {
                let error: NetworkError? = if case .failure(let error) = value { error } else { nil }
                response.endCall(with: error)
            }
            (call.environment?.detached).run { completion(value) }
            didEnd()
        }
    }
}
