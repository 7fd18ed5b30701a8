import Switchboard

/// An interceptor made of a closure.
struct AdHocInterceptor: Interceptor {
    let body: @Sendable (NetworkRequest, Next) async throws -> NetworkResponse

    init(_ body: @escaping @Sendable (NetworkRequest, Next) async throws -> NetworkResponse) {
        self.body = body
    }

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        try await body(request, next)
    }
}

/// A session made of a closure, which may throw whatever it likes.
struct AdHocSession: NetworkSession {
    let body: @Sendable (NetworkRequest) async throws -> NetworkResponse

    init(_ body: @escaping @Sendable (NetworkRequest) async throws -> NetworkResponse) {
        self.body = body
    }

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        try await body(request)
    }
}
