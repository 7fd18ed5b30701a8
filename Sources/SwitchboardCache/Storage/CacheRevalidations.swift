import SwitchboardPlatform
import Switchboard

/// The revalidations that run in the background: one per variant of a key at a time. Each one is a separate call, with
/// the monitors and the total timeout of its request.
final class CacheRevalidations: Sendable {
    private struct Target: Hashable {
        let key: CacheKey
        /// The request's values of the fields that `Vary` names.
        let variant: String
    }

    private let calls = RouterCalls(
        InterceptorChain([.call(RevalidationLink())], RevalidationSession(), notesExchanges: false), nil,
        ContinuousClock())
    /// The running revalidations, with the number of each.
    private let running = Protected<(last: Int, targets: [Target: Int])>((0, [:]))

    /// Starts a revalidation of a stored response, unless one is running. It does not end with the running call.
    func start(
        _ request: NetworkRequest, _ key: CacheKey, _ stored: StoredResponse,
        _ revalidate: @escaping @Sendable (NetworkRequest) async throws -> NetworkResponse
    ) {
        let variant = CacheVariant.text(CacheVariant.names(stored.headers) ?? [], of: request)
        let target = Target(key: key, variant: variant)
        let number: Int? = running.withLock { running in
            guard running.targets[target] == nil else { return nil }
            running.last += 1
            running.targets[target] = running.last
            return running.last
        }
        guard let number else { return }
        var request = request
        request.call = nil
        // The target is free before the monitors receive the end of the call.
        request[RevalidationOption.self] = { [self] request in
            defer { free(target, number) }
            return try await revalidate(request)
        }
        Call.$current.withValue(nil) {
            _ = Task { [self, request] in
                _ = try? await calls.send(request)
                free(target, number)
            }
        }
    }

    private func free(_ target: Target, _ number: Int) {
        running.withLock { if $0.targets[target] == number { $0.targets[target] = nil } }
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
