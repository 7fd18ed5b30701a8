import Switchboard

/// An interceptor that runs a closure.
package struct AdHocInterceptor: Interceptor {
    package let body: @Sendable (NetworkRequest, Next) async throws -> NetworkResponse

    package init(_ body: @escaping @Sendable (NetworkRequest, Next) async throws -> NetworkResponse) {
        self.body = body
    }

    package func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        try await body(request, next)
    }
}

/// A session that runs a closure, which may throw any error.
package struct AdHocSession: NetworkSession {
    package let body: @Sendable (NetworkRequest) async throws -> NetworkResponse

    package init(_ body: @escaping @Sendable (NetworkRequest) async throws -> NetworkResponse) {
        self.body = body
    }

    package func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        try await body(request)
    }
}
