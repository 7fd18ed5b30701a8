extension PreparedCall {
    /// Changes the finished request before the interceptors receive it. An error that it throws ends the call, and
    /// nothing is sent.
    package typealias Change = @Sendable (inout NetworkRequest) throws(NetworkError) -> Void

    /// Makes the call in the caller's task: each step in its order, outermost first. The caller then ends the call by
    /// `endCall()` or `endingCall` of the response. An error has ended it.
    ///
    /// - Parameter change: Nil for no change. The compiler would copy this function for a default closure of each
    ///   caller.
    /// - Returns: The response, whatever its status.
    /// - Throws: ``NetworkError``, and `CancellationError` when the task or the router was canceled.
    @inline(__always)
    func perform(_ change: Change? = nil) async throws -> NetworkResponse {
        let (calls, chain) = (calls, calls.chain)
        return try await progress.run {  // can cancel a download, and ends with it
            try await environment.run {  // for all closures of the app
                let request = try encodedRequest(change)  // encodes the body, outside of the caller's actor
                return try await calls.inFlight(request) { request in  // until `cancel()`, `reset()` or its end
                    try await calls.reported(request) { request in  // to the monitors
                        if let error = chain.listingError { throw error }
                        // The interceptors, with redirects between those of the call and those of each exchange.
                        let next = Next(chain) { request in
                            try Call.check()
                            try request.checkRequiredSignIn()
                            guard let call = request.call else { return try await chain.exchange(request) }
                            return try await call.exchange(request) { request in  // again after a dead connection
                                try await chain.exchange(request)  // the session
                            }
                        }
                        guard let total = request.timeouts.total else {
                            return try await chain.attempts(of: request, next)  // of a download, or of its own policy
                        }
                        return try await calls.limited(request, to: total) {
                            try await chain.attempts(of: request, next)
                        }
                    }
                }
            }
        }
    }

    // Inlining `perform` saves some hundred instructions and takes 12 KB, so only the most frequent calls do it.
    /// Makes the call by ``perform(_:)``. All callers share this code.
    @inline(never)
    package func performShared(_ change: Change? = nil) async throws -> NetworkResponse {
        try await perform(change)
    }
}
