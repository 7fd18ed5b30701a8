import SwitchboardPlatform
import Switchboard

/// The revalidations that run in the background: one per key at a time. Each one is a separate call, with the
/// monitors and the total timeout of its request.
final class CacheRevalidations: Sendable {
    private let calls = RouterCalls(
        InterceptorChain([.call(RevalidationLink())], RevalidationSession(), notesExchanges: false), nil,
        ContinuousClock())
    /// The keys of the running revalidations, with the number of each.
    private let running = Protected<(last: Int, keys: [CacheKey: Int])>((0, [:]))

    /// Starts a revalidation, unless one of this key is running. It does not end with the running call.
    func start(
        _ request: NetworkRequest, _ key: CacheKey,
        _ revalidate: @escaping @Sendable (NetworkRequest) async throws -> NetworkResponse
    ) {
        let number: Int? = running.withLock { running in
            guard running.keys[key] == nil else { return nil }
            running.last += 1
            running.keys[key] = running.last
            return running.last
        }
        guard let number else { return }
        var request = request
        request.call = nil
        // The key is free before the monitors receive the end of the call.
        request[RevalidationOption.self] = { [self] request in
            defer { free(key, number) }
            return try await revalidate(request)
        }
        CallCancellation.$current.withValue(nil) {
            _ = Task { [self, request] in
                _ = try? await calls.send(request)
                free(key, number)
            }
        }
    }

    private func free(_ key: CacheKey, _ number: Int) {
        running.withLock { if $0.keys[key] == number { $0.keys[key] = nil } }
    }

    /// Cancels all revalidations, and waits until they have ended.
    func end() async {
        // A reset of the chain runs this. A detached task does not count as part of it.
        await Task.detached { [calls] in await calls.reset() }.value
    }
}

/// Runs the revalidation that a request carries.
private struct RevalidationLink: Interceptor {
    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        guard let revalidate = request[RevalidationOption.self] else { return try await next(request) }
        var request = request
        request[RevalidationOption.self] = nil
        return try await revalidate(request)
    }
}

/// The end of the chain, which no request reaches.
private struct RevalidationSession: NetworkSession {
    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        throw NetworkError(.invalidRequest, reason: "it carries no revalidation")
    }
}

private enum RevalidationOption: RequestOption {
    static let defaultValue: (@Sendable (NetworkRequest) async throws -> NetworkResponse)? = nil
}
