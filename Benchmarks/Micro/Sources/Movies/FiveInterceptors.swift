import Switchboard
import Synchronization

/// A typical chain of an app: two interceptors that set a header, one that measures time, `RetryPolicy` and
/// `RedirectInterceptor`.
public enum FiveInterceptors {
    /// Creates the interceptors, in order.
    public static func make() -> [any Interceptor] {
        [Timing(), HeaderStamp("X-Client", "bench"), Bearer(), RetryPolicy(), RedirectInterceptor()]
    }
}

/// Sets a header.
private struct HeaderStamp: Interceptor {
    let name: String
    let value: String

    init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        var request = request
        request.headers[name] = value
        return try await next(request)
    }
}

/// Sets a token that a lock protects.
private final class Bearer: Interceptor {
    private let token = Mutex("0123456789abcdef")

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        var request = request
        request.headers["Authorization"] = "Bearer \(token.withLock { $0 })"
        return try await next(request)
    }
}

/// Sums up the number and the duration of calls.
private final class Timing: Interceptor {
    private let sum = Mutex((calls: 0, time: Duration.zero))

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        let start = ContinuousClock.now
        let response = try await next(request)
        sum.withLock { $0 = ($0.calls + 1, $0.time + (.now - start)) }
        return response
    }
}
