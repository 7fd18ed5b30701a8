import SwitchboardPlatform
import Foundation

/// A call that sends several requests: an upload in pieces, or a stream that reconnects. Its requests share one record,
/// so that they count attempts together, and together with a ``RetryPolicy`` in the chain.
package final class LongCall: Sendable {
    private struct State {
        var policy = RetryPolicy()
        var record = Call([], isLong: true)
        /// The last request. Nil before the first one, and for routers that do not show their requests.
        var request: NetworkRequest?
    }

    private let state = Protected(State())
    private let shared: RetryPolicy?
    private let usual: RetryPolicy?
    private let statuses: Set<Int>

    /// Creates a call that has not sent a request yet.
    ///
    /// - Parameters:
    ///   - calls: The calls of the router. The retry policy of its chain applies, or the request's own.
    ///   - usual: The policy for this kind of call, used when the request has none.
    ///   - statuses: More statuses that are retried.
    package init(
        on calls: RouterCalls, usually usual: RetryPolicy? = nil, after statuses: Set<Int> = []
    ) {
        shared = calls.chain.retryPolicy
        self.usual = usual
        self.statuses = statuses
    }

    deinit {
        end(.failure(CancellationError()))
    }

    /// The last request. Nil before the first one, and for routers that do not show their requests.
    package var request: NetworkRequest? { state.value.request }
    /// The policy that applies to the call.
    package var policy: RetryPolicy { state.value.policy }
    /// Whether the last request may be sent a second time.
    package var isRepeatable: Bool { policy.fault(of: question) == nil }

    /// Makes a request part of the call, changed by a closure. The first request begins the call.
    package func join(
        _ request: inout NetworkRequest, _ change: (inout NetworkRequest) throws(NetworkError) -> Void
    ) throws(NetworkError) {
        if let last = self.request { (request.id, request.call) = (last.id, last.call) } else { begin(&request) }
        defer { state.withLock { $0.request = request } }
        try change(&request)
    }

    private func begin(_ request: inout NetworkRequest) {
        var policy = shared?.policy(for: request, usually: usual) ?? request.options.retry ?? usual ?? RetryPolicy()
        policy.statuses.formUnion(statuses)
        let record = Call(request.options.monitors, isLong: true)
        state.withLock { ($0.record, $0.policy) = (record, policy) }
        if shared == nil { policy.limit?.countCall() }
        request.call = record
        record.tell(.made, request)
    }

    // MARK: Attempts

    /// Begins a new series of attempts, because the call has made progress. `count` is 0 when the last attempt did not
    /// fail.
    package func restartAttempts(at count: Int = 1) {
        state.value.record.restartAttempts(at: count)
    }

    /// Counts an attempt that begins at once. Returns false when the limit is reached.
    package func takeAttempt() -> Bool {
        state.value.record.takeAttempt(within: policy.maximumAttempts)
    }

    /// Waits for the next attempt. Returns false when none is allowed.
    package func goesOn(after error: NetworkError) async throws -> Bool {
        let answer = error.code.isStatus ? error.response : nil
        return try await policy.goesOn(
            after: answer.map { .success($0) } ?? .failure(error), of: question, within: nil)
    }

    /// Waits a known time for the next attempt. Returns false when none is allowed.
    package func goesOn(after wait: Duration, because cause: String) async throws -> Bool {
        try await policy.goesOn(after: wait, because: cause, with: question)
    }

    /// The last request, or an empty one before the first.
    private var question: NetworkRequest {
        let state = state.value
        var question = state.request ?? NetworkRequest(.get, nil)
        question.call = state.record
        return question
    }

    // MARK: The end

    /// Runs the call and reports its end.
    package func run(_ operation: () async throws -> NetworkResponse) async throws -> NetworkResponse {
        do {
            let response = try await operation()
            end(.success(response.statusCode))
            return response
        } catch {
            throw end(with: error)
        }
    }

    /// Ends the call with an error. Returns the error with the request's name.
    package func end(with error: any Error) -> any Error {
        let error = NetworkError.caught(error, of: state.value.record, request)
        end(.failure(error))
        return error
    }

    /// Reports the end of the call to the monitors. A second report is ignored.
    package func end(_ result: Result<Int, any Error>) {
        if let request { state.value.record.end(result, request) }
    }
}
