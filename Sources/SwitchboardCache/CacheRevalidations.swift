import Foundation
import SwitchboardPlatform
import Switchboard

/// The revalidations in the background: at most one per variant of a key. Each is a call with the monitors and the
/// total timeout of its request.
final class CacheRevalidations: Sendable {
    private struct Target: Hashable {
        let key: CacheKey
        /// The request's values of the fields that `Vary` names.
        let variant: String
    }

    private let calls = RouterCalls(session: NoSession())
    /// The running revalidations, with the number of each.
    private let running = Protected<(last: Int, targets: [Target: Int])>((0, [:]))

    /// Starts a revalidation of a stored response, unless one is running. The revalidation outlives the running call.
    func start(
        _ request: NetworkRequest, _ key: CacheKey, _ stored: StoredResponse,
        _ revalidate: @escaping @Sendable (NetworkRequest) async throws -> NetworkResponse
    ) {
        let variant = CacheVariant.text(stored.varyNames ?? [], of: request)
        let target = Target(key: key, variant: variant)
        let number: Int? = running.withLock { running in
            guard running.targets[target] == nil else { return nil }
            running.last += 1
            running.targets[target] = running.last
            return running.last
        }
        guard let number else { return }
        var request = request
        // A call of its own: the events of the answered one have the former id.
        request.call = nil
        request.id = NetworkRequest.ID()
        // The limit of a shared exchange is that of its callers.
        if request.timeouts.total == nil { request.timeouts.total = request.sharedTimeLeft?() }
        request.sharedTimeLeft = nil
        do throws(NetworkError) {
            try calls.startAsOneCall { [self, request] in
                let response = try? await calls.inFlight(request) { request in
                    try await calls.reported(request) { request in
                        // Removes the target before the monitors receive the end of the call.
                        defer { remove(target, number) }
                        guard let total = request.timeouts.total else { return try await revalidate(request) }
                        return try await calls.limited(request, to: total) { try await revalidate(request) }
                    }
                }
                remove(target, number)
                response?.endCall()
            }
        } catch {
            remove(target, number)
        }
    }

    private func remove(_ target: Target, _ number: Int) {
        running.withLock { if $0.targets[target] == number { $0.targets[target] = nil } }
    }

    /// Cancels all revalidations, and waits until they have ended, except one that contains the running code.
    func end() async {
        await calls.reset()
    }
}

/// The session of the calls: they send their requests through the rest of the app's chain.
private struct NoSession: NetworkSession {
    func send(_ request: NetworkRequest) async throws -> NetworkResponse { throw CancellationError() }
}

extension ResponseCache {
    /// Revalidates a stored response in the background. `removals` is ``CacheStorage/State/removals`` before the response
    /// was found.
    func revalidate(
        _ stored: StoredResponse, _ request: NetworkRequest, _ next: Next, _ key: CacheKey, _ removals: Int
    ) {
        revalidations.start(request, key, stored) { [self] request in
            request.report(.revalidation, "revalidation in the background")
            do {
                var response = try await perform(
                    CacheLoad(
                        key: key, stored: stored, found: stored, removals: removals, request: request, next: next,
                        reason: .expired, isInBackground: true))
                let isFailed = response.cacheOutcome == .stale(.serverFailed)
                if isFailed || response.statusCode >= 500 {
                    let why = isFailed ? "the stored response stays" : "HTTP \(response.statusCode)"
                    request.report(.cache("revalidation failed: \(why)"))
                }
                // Reads a body that is stored while it is read. Nobody reads another body, so its release cancels the exchange.
                if response.isStoredWhileRead { for try await _ in response.bytes {} }
                (response.stream, response.body) = (nil, Data())
                return response
            } catch {
                request.report(.cache("revalidation failed: \((error as? NetworkError)?.summary ?? "cancelled")"))
                throw error
            }
        }
    }
}

extension NetworkResponse {
    /// Whether the body is that of the server, and is stored while it is read.
    fileprivate var isStoredWhileRead: Bool {
        guard stream != nil, notStoredReason == nil, case .miss = cacheOutcome else { return false }
        return true
    }
}
