import SwitchboardPlatform
import Foundation

/// A call that sends several requests: an upload in pieces, or a stream that reconnects. Its requests, and a
/// ``RetryPolicy`` in the chain, share one count of attempts.
package final class LongCall: Sendable {
    private struct State {
        var policy = RetryPolicy()
        var call = Call(isLong: true)
        var request: NetworkRequest?
    }

    private let state = Protected(State())
    private let calls: RouterCalls
    private let shared: RetryPolicy?
    private let defaultPolicy: RetryPolicy?

    /// Creates a call without requests.
    ///
    /// - Parameters:
    ///   - calls: The calls of the router. The retry policy of its chain applies, or the request's own.
    ///   - defaultPolicy: The policy of a stream or a socket when neither the chain nor the request has one. Such a
    ///     call reconnects after an open circuit too. Nil for other calls.
    package init(on calls: RouterCalls, default defaultPolicy: RetryPolicy? = nil) {
        self.calls = calls
        shared = calls.chain.retryPolicy
        self.defaultPolicy = defaultPolicy
    }

    deinit {
        end(.failure(CancellationError()))
    }

    /// The last request. Nil before the first one.
    package var request: NetworkRequest? { state.value.request }
    package var policy: RetryPolicy { state.value.policy }
    /// Whether the router canceled the call, which stays in flight from its first request to its end.
    package var isCancelled: Bool { state.value.call.isCancelled }
    /// Whether the last request may be sent again.
    package var isRepeatable: Bool { policy.reasonNotToRetry(lastRequest) == nil }

    /// Adds a request to the call, and changes it with a closure. The first request begins the call.
    package func join(
        _ request: inout NetworkRequest, _ change: (inout NetworkRequest) throws(NetworkError) -> Void
    ) throws(NetworkError) {
        if let last = self.request { (request.id, request.call) = (last.id, last.call) } else { try begin(&request) }
        defer {
            // Keeps the last request until here, because its values are the app's.
            withExtendedLifetime(self.request) { state.withLock { $0.request = request } }
        }
        try change(&request)
    }

    private func begin(_ request: inout NetworkRequest) throws(NetworkError) {
        var policy =
            shared?.policy(for: request, default: defaultPolicy) ?? request.options.retry ?? defaultPolicy
            ?? RetryPolicy()
        if defaultPolicy != nil { policy.errorCodes.insert(.circuitOpen) }
        let call = Call(request.options.monitors, isLong: true)
        try calls.add(call)
        // Between two requests, nothing else removes the canceled call, and a reset would wait for it.
        _ = call.add { [weak calls = self.calls, weak call] in
            if let call { calls?.remove(call) }
        }
        state.withLock { [policy] in ($0.call, $0.policy) = (call, policy) }
        if shared == nil { policy.budget?.countCall() }
        request.call = call
        call.report(.started, request)
    }

    // MARK: Attempts

    /// Restarts the count of attempts after progress. `count` is 0 if the last attempt did not fail.
    package func restartAttempts(at count: Int = 1) {
        state.value.call.restartAttempts(at: count)
    }

    /// Counts an attempt without a wait. Returns false when the limit is reached.
    package func takeAttempt() -> Bool {
        state.value.call.takeAttempt(within: policy.maximumAttempts)
    }

    /// Returns whether a stream or a socket may reconnect after an error. The status of a failed refresh counts.
    package func reconnects(after error: NetworkError) -> Bool {
        let policy = self.policy
        return policy.errorCodes.contains(error.code)
            || error.refreshResponse.map { policy.statusCodes.contains($0.statusCode) } ?? false
    }

    /// Waits for the next attempt. Returns false when none is allowed. `statuses` extend those of the policy.
    package func waitForRetry(after error: NetworkError, or statuses: Set<Int> = []) async throws -> Bool {
        var policy = self.policy
        policy.statusCodes.formUnion(statuses)
        let response =
            error.code.isStatus ? error.response : defaultPolicy != nil ? error.refreshResponse : nil
        return try await policy.waitForRetry(
            after: response.map { .success($0) } ?? .failure(error), of: lastRequest, within: nil)
    }

    /// Waits for a given time before the next attempt. Returns false when none is allowed.
    package func waitForRetry(after wait: Duration, because cause: String) async throws -> Bool {
        let policy = self.policy
        guard policy.takeAttempt(after: wait, because: cause, with: lastRequest, within: nil) else { return false }
        try await policy.sleep(for: wait)
        return true
    }

    /// The last request, or an empty one before the first.
    private var lastRequest: NetworkRequest {
        let state = state.value
        var request = state.request ?? NetworkRequest(.get, nil)
        request.call = state.call
        return request
    }

    // MARK: End

    package func run(_ operation: () async throws -> NetworkResponse) async throws -> NetworkResponse {
        do {
            let response = try await operation()
            end(.success(response.statusCode))
            return response
        } catch {
            throw end(with: error)
        }
    }

    /// Ends the call with an error. Returns the error with the request attached.
    package func end(with error: any Error) -> any Error {
        let error = NetworkError.caught(error, of: state.value.call, request)
        end(.failure(error))
        return error
    }

    /// Reports the end of the call to the monitors, once.
    package func end(_ result: Result<Int, any Error>) {
        guard let request else { return }
        let call = state.value.call
        call.end(result, request)
        calls.remove(call)
    }
}

extension NetworkError {
    /// The response to a refresh of the credential, if its failure is the reason.
    fileprivate var refreshResponse: NetworkResponse? {
        code == .cannotAuthenticate ? (underlying as? NetworkError)?.response : nil
    }
}
