import SwitchboardPlatform
import Foundation

/// A call that sends several requests: an upload in pieces, or a stream that connects again. They share one record, so that they
/// draw from one number of attempts, with each other and with a ``RetryPolicy`` in the chain.
package final class LongCall: Sendable {
    private struct State {
        var policy = RetryPolicy()
        var record = CallRecord([])
        /// Nil before the first request, and for routers that show none.
        var request: NetworkRequest?
    }

    private let state = Protected(State())
    private let shared: RetryPolicy?
    private let usual: RetryPolicy?
    private let statuses: Set<Int>

    /// - Parameters:
    ///   - router: Its policy, or the request's own, says how often it is sent again.
    ///   - usual: The policy of this kind of call where the request has none of its own.
    ///   - statuses: More statuses after which it is sent again.
    package init(
        on router: some NetworkRouter, usually usual: RetryPolicy? = nil, after statuses: Set<Int> = []
    ) {
        shared = (router as? any CallHolder)?.retryPolicy
        self.usual = usual
        self.statuses = statuses
    }

    deinit {
        end(.failure(CancellationError()))
    }

    /// The last request.
    package var request: NetworkRequest? { state.value.request }
    /// The policy in force.
    package var policy: RetryPolicy { state.value.policy }
    /// Whether the last request may be sent a second time.
    package var isRepeatable: Bool { policy.fault(of: question) == nil }

    /// Makes a request, changed by a closure, part of the call. The first one begins it.
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
        let record = CallRecord(request.options.monitors)
        state.withLock { ($0.record, $0.policy) = (record, policy) }
        if shared == nil { policy.limit?.countCall() }
        request.call = record
        record.tell(.made, request)
    }

    // MARK: Attempts

    /// The call got on: a new row of attempts begins. `count` is 0 when the last attempt did not fail.
    package func restartAttempts(at count: Int = 1) {
        state.value.record.restartAttempts(at: count)
    }

    /// Counts an attempt that begins at once; false when there were as many as are allowed.
    package func takeAttempt() -> Bool {
        state.value.record.takeAttempt(within: policy.maximumAttempts)
    }

    /// Waits for the next attempt; false when there is none.
    package func goesOn(after error: NetworkError) async throws -> Bool {
        let answer = error.code.isStatus ? error.response : nil
        return try await policy.goesOn(
            after: answer.map { .success($0) } ?? .failure(error), of: question, within: nil)
    }

    /// The same with a wait that is known.
    package func goesOn(after wait: Duration, because cause: String) async throws -> Bool {
        try await policy.goesOn(after: wait, because: cause, with: question)
    }

    /// The last request, or one in its place.
    private var question: NetworkRequest {
        let state = state.value
        var question = state.request ?? NetworkRequest(.get, nil)
        question.call = state.record
        return question
    }

    // MARK: The end

    /// Runs the call.
    package func run(_ operation: () async throws -> NetworkResponse) async throws -> NetworkResponse {
        do {
            let response = try await operation()
            end(.success(response.statusCode))
            return response
        } catch {
            throw end(with: error)
        }
    }

    /// Ends the call with an error, and names the request in it.
    package func end(with error: any Error) -> any Error {
        let error = NetworkError.caught(error, of: state.value.record, request)
        end(.failure(error))
        return error
    }

    /// Tells the monitors of the end. A second one is none.
    package func end(_ result: Result<Int, any Error>) {
        if let request { state.value.record.end(result, request) }
    }
}
