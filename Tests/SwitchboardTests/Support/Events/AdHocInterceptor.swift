import Switchboard

/// An interceptor that runs a closure.
struct AdHocInterceptor: Interceptor {
    let body: @Sendable (NetworkRequest, Next) async throws -> NetworkResponse

    init(_ body: @escaping @Sendable (NetworkRequest, Next) async throws -> NetworkResponse) {
        self.body = body
    }

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        try await body(request, next)
    }
}

/// A session that runs a closure, which may throw any error.
struct AdHocSession: NetworkSession {
    let body: @Sendable (NetworkRequest) async throws -> NetworkResponse

    init(_ body: @escaping @Sendable (NetworkRequest) async throws -> NetworkResponse) {
        self.body = body
    }

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        try await body(request)
    }
}
