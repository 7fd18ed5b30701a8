import Dispatch
import Foundation

/// The calls of a router that are under way: sends them, times them as a whole, cancels them together.
final class RouterCalls: Sendable {
    private struct State {
        var nextID = 0
        var calls: [Int: Call] = [:]
    }

    /// What cancels a call under way.
    private enum Call {
        case async(CallCancellation)
        case handle(RequestHandle)
    }

    let chain: InterceptorChain
    private let queue: DispatchQueue?
    private let clock: any Clock<Duration>
    private let state = Protected(State())

    init(_ chain: InterceptorChain, _ queue: DispatchQueue?, _ clock: any Clock<Duration>) {
        self.chain = chain
        self.queue = queue
        self.clock = clock
    }

    /// Calls over the same chain that are cancelled apart from these.
    func sibling() -> RouterCalls {
        RouterCalls(chain, queue, clock)
    }

    /// Sends a request and waits, in the caller's task.
    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        let cancellation = CallCancellation()
        let id = add(.async(cancellation))
        do {
            var response = try await cancellation.run { try await perform(request) }
            guard let stream = response.stream else {
                remove(id)
                return response
            }
            // A call is under way until its stream has been read.
            response.stream = ResponseBytes(
                CallStream(stream, of: response.request ?? request, cancellation) { [weak self] in self?.remove(id) })
            return response
        } catch {
            remove(id)
            throw error
        }
    }

    /// Runs what is one call though it sends several requests, and waits between them.
    func hold<Output: Sendable>(_ operation: @Sendable () async throws -> Output) async throws -> Output {
        let cancellation = CallCancellation()
        let id = add(.async(cancellation))
        defer { remove(id) }
        return try await cancellation.run(operation)
    }

    /// Starts a request and calls back once. A request that could not be made starts nothing.
    func start<Value: Sendable>(
        _ makeRequest: @escaping @Sendable () throws(NetworkError) -> NetworkRequest,
        _ transform: @escaping @Sendable (NetworkResponse) throws -> Value,
        _ completion: @escaping @Sendable (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        let handle = RequestHandle()
        let id = add(.handle(handle))
        let task = Task {
            let request = Result { () throws(NetworkError) in try makeRequest() }
            let result: Result<Value, NetworkError>
            do {
                result = .success(try transform(try await self.perform(request.get())))
            } catch {
                result = .failure(NetworkError.completion(error))
            }
            let deliver: @Sendable () -> Void = {
                self.remove(id)
                // A cancellation that came before this moment wins: nobody gets a value after having cancelled.
                completion(handle.finish() ? result : .failure(NetworkError.completion(CancellationError(), request)))
            }
            if let queue = self.queue { queue.async(execute: deliver) } else { deliver() }
        }
        handle.run(task)
        return handle
    }

    func cancelAll() {
        let calls = state.withLock { Array($0.calls.values) }
        for call in calls {
            switch call {
            case .async(let cancellation): cancellation.cancel()
            case .handle(let handle): handle.cancel()
            }
        }
    }

    // MARK: One call

    private func perform(_ request: NetworkRequest) async throws -> NetworkResponse {
        var request = request
        request.call = CallRecord(request.options.monitors)
        request.report(.made)
        do {
            try CallCancellation.check()
            var response = try await sendWithinTotal(request)
            if response.request == nil { response.request = request }
            if response.url == nil { response.url = response.request?.url }
            request.report(.finished(status: response.statusCode))
            return response
        } catch {
            let error = NetworkError.caught(error)
            guard error.code != .cancelled else {
                request.report(.cancelled)
                throw CancellationError()
            }
            let attributed = error.attributed(to: request)
            request.report(.failed(attributed))
            throw attributed
        }
    }

    private func sendWithinTotal(_ request: NetworkRequest) async throws -> NetworkResponse {
        // A longer one than a century is no limit, and more than the clock's sleep can count.
        guard let total = request.timeouts.total, total < .century else {
            return try await chain.send(request)
        }
        return try await withTimeout(
            total, by: clock,
            error: NetworkError.overTotal(total).attributed(to: request)
        ) { [chain] in
            try await chain.send(request)
        }
    }

    private func add(_ call: Call) -> Int {
        state.withLock { state in
            state.nextID += 1
            state.calls[state.nextID] = call
            return state.nextID
        }
    }

    private func remove(_ id: Int) {
        state.withLock { $0.calls[id] = nil }
    }
}

extension NetworkError {
    /// The error of a call that took longer than ``Timeouts/total``.
    static func overTotal(_ total: Duration) -> NetworkError {
        NetworkError(.timedOut, reason: "the whole call took longer than \(total.secondsText)")
    }

    /// The error for a completion, where a cancellation is a ``NetworkError`` too.
    static func completion(_ error: any Error, _ request: Result<NetworkRequest, NetworkError>? = nil) -> NetworkError {
        guard case .success(let request)? = request else { return caught(error) }
        return caught(error).attributed(to: request)
    }

    /// The error for whatever a session, an interceptor or a transform threw, those of an app included.
    static func caught(_ error: any Error) -> NetworkError {
        switch error {
        case is CancellationError: NetworkError(.cancelled)
        case is URLError: URLErrorMapping.networkError(error)
        case is EncodingError: encoding(error)
        case is DecodingError: NetworkError(.decodingFailed, underlying: error)
        default: transport(error)
        }
    }
}
