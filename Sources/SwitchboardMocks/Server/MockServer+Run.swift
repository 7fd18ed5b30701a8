import Switchboard

extension MockServer {
    /// Runs a server while `body` runs, and returns the value that `body` returns.
    ///
    /// The server stops when `body` returns or throws. It stops at once when the task is canceled, so that nothing
    /// waits for a stalled answer.
    public static func run<Output>(
        configuration: Configuration = Configuration(), isolation: isolated (any Actor)? = #isolation,
        _ body: (MockServer) async throws -> Output
    ) async throws -> Output {
        try await MockServer(configuration: configuration).serve(isolation: isolation, during: body)
    }

    /// Runs a server with a handler while `body` runs; see ``run(configuration:isolation:_:)``.
    ///
    /// ```swift
    /// try await MockServer.run { request in
    ///     request.path == "/health" ? .text("up") : .status(404)
    /// } body: { server in
    ///     let health = server.url.appending(path: "health")
    ///     let answer = try await manager.data(from: health)
    /// }
    /// ```
    public static func run<Output>(
        configuration: Configuration = Configuration(), isolation: isolated (any Actor)? = #isolation,
        handler: @escaping Handler, body: (MockServer) async throws -> Output
    ) async throws -> Output {
        try await MockServer(configuration: configuration, handler: handler).serve(isolation: isolation, during: body)
    }

    private func serve<Output>(
        isolation: isolated (any Actor)?, during body: (MockServer) async throws -> Output
    ) async throws -> Output {
        defer { stop() }
        return try await withTaskCancellationHandler {
            try await body(self)
        } onCancel: {
            core.beginStopping()
        }
    }
}
