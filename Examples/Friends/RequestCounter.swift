import ExampleKit
import Switchboard

/// Counts what gets as far as the network: an interceptor of one's own, behind the cache.
struct RequestCounter: Interceptor {
    private let memory = Memory(0)

    var count: Int { memory.use { $0 } }

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        memory.use { $0 += 1 }
        return try await next(request)
    }
}
