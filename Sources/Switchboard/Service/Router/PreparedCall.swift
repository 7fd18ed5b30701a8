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
    package func start<Value>(
        transform: @escaping @Sendable (NetworkResponse) async throws -> Transferred<Value>,
        completion: @escaping @Sendable (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        start(transform) { [queue = calls.queue] end in
            if let queue { queue.async { end.call(completion) } } else { end.call(completion) }
        }
    }

    /// Sends the request in a new task, transforms the response into a value, and calls back once, on the main actor.
    func start<Value>(
        on actor: MainActor.Type,
        transform: @escaping @Sendable (NetworkResponse) async throws -> Transferred<Value>,
        completion: @escaping @MainActor (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        start(transform) { end in
            await MainActor.run { end.call(completion) }
        }
    }

    /// Sends the request in a new task, and transforms the response and calls back once in one turn of the main actor.
    func start<Value>(
        on actor: MainActor.Type, transformOnActor transform: @escaping @MainActor (NetworkResponse) throws -> Value,
        completion: @escaping @MainActor (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        start({ Transferred($0) }) { end in
            await MainActor.run { end.transformed(transform).call(completion) }
        }
    }

    private func start<Value>(
        _ transform: @escaping @Sendable (NetworkResponse) async throws -> Transferred<Value>,
        deliver: @escaping @Sendable (End<Value>) async -> Void
    ) -> RequestHandle {
        let handle = RequestHandle()
        let (call, added) = calls.begin(handle)
        let task = Task {
            var response: NetworkResponse?
            let result: Transferred<Result<Value, NetworkError>>
            do {
                let received = try await call.run {
                    try await performShared { _ throws(NetworkError) in try added.get() }
                }
                response = received
                result = Transferred(.success(try await environment.run { try await transform(received) }.value))
            } catch {
                result = Transferred(.failure(NetworkError.completion(error, request)))
            }
            await deliver(
                End(prepared: self, response: response, result: result, handle: handle) { calls.remove(call) })
        }
        handle.run(task)
        return handle
    }

    /// The end of a call with a completion.
    private struct End<Value>: Sendable {
        let prepared: PreparedCall
        /// The response, also if its value could not be read. Nil without one.
        let response: NetworkResponse?
        let result: Transferred<Result<Value, NetworkError>>
        let handle: RequestHandle
        let didEnd: @Sendable () -> Void

        /// Transforms the value in the environment of the call.
        func transformed<Output>(_ transform: (Value) throws -> Output) -> End<Output> {
            let transformed = prepared.environment.run {
                Result { try transform(try result.value.get()) }
                    .mapError { NetworkError.completion($0, prepared.request) }
            }
            return End<Output>(
                prepared: prepared, response: response, result: Transferred(transformed), handle: handle,
                didEnd: didEnd)
        }

        /// Calls the completion with the result, or with the cancellation if the call was canceled before.
        func call(_ completion: (Result<Value, NetworkError>) -> Void) {
            let isFinished = handle.finish()
            let result =
                isFinished ? result.value : .failure(NetworkError.completion(CancellationError(), prepared.request))
            let error: NetworkError? = if case .failure(let error) = result { error } else { nil }
            response?.endCall(with: error)
            (prepared.environment?.detached).run { completion(result) }
            didEnd()
        }
    }
}
