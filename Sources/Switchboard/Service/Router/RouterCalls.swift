import Dispatch
import SwitchboardPlatform
import Foundation

/// The calls of a router that are in flight. It sends them, limits their total time, and cancels them together.
///
/// A ``Router`` has one. A fake ``NetworkRouter`` creates one with the session that answers its requests.
public final class RouterCalls: Sendable {
    private struct State {
        /// The calls in flight. Each one stores its index in this array.
        var calls: [Call] = []
        /// Waiters for the end of all calls. A waiter resumes when no call is in flight except those in `except`.
        var ended: [(except: Set<ObjectIdentifier>, continuation: CheckedContinuation<Void, Never>)] = []
    }

    let chain: InterceptorChain
    /// The queue that completions are called on. Nil for no specific queue.
    let queue: DispatchQueue?
    private let clock: any Clock<Duration>
    /// The manager's environment, in which calls begin. Nil without a manager.
    private let environment: Protected<NetworkEnvironment>?
    private let state = Protected(State())

    /// Creates an object without calls. The parameters are those of
    /// ``Router/init(session:interceptors:exchangeInterceptors:monitors:builder:completionQueue:clock:)``.
    public convenience init(
        session: any NetworkSession, interceptors: [any Interceptor] = [],
        exchangeInterceptors: [any ExchangeInterceptor] = [], completionQueue: DispatchQueue? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.init(InterceptorChain(interceptors, exchangeInterceptors, session), completionQueue, clock)
    }

    package init(
        _ chain: InterceptorChain, _ queue: DispatchQueue?, _ clock: any Clock<Duration>,
        in environment: Protected<NetworkEnvironment>? = nil
    ) {
        self.chain = chain
        self.queue = queue
        self.clock = clock
        self.environment = environment
        chain.gate.add(self)
    }

    deinit {
        chain.gate.remove(self)
    }

    /// Returns an object for calls over the same chain that are canceled separately.
    func sibling() -> RouterCalls {
        RouterCalls(chain, queue, clock, in: environment)
    }

    /// The environment of a call that begins now. Nil if none is set.
    package var environmentNow: CallEnvironment? { CallEnvironment(startingIn: environment) }

    /// Makes a call in a new task. Sends nothing if its request could not be built.
    ///
    /// - Parameters:
    ///   - prepared: The call.
    ///   - deliver: Called once with the response or the error. It ends the call.
    /// - Returns: A handle that cancels only this call.
    func start(
        _ prepared: PreparedCall, deliver: @escaping @Sendable (PreparedCall.Completed) async -> Void
    ) -> RequestHandle {
        let handle = RequestHandle()
        let call = Call(outer: .current)
        _ = call.add { handle.cancel() }
        let added = Result { () throws(NetworkError) in try add(call) }
        let task = Task {
            let result: Result<NetworkResponse, NetworkError>
            do {
                result = .success(
                    try await call.run {
                        try await prepared.answer { _ throws(NetworkError) in try added.get() }
                    })
            } catch {
                result = .failure(NetworkError.completion(error, prepared.request))
            }
            await deliver(
                PreparedCall.Completed(call: prepared, result: result, handle: handle) { self.remove(call) })
        }
        handle.run(task)
        return handle
    }

    func cancelAll() {
        for call in state.withLock({ $0.calls }) { call.cancel() }
    }

    // MARK: Steps of a call

    /// Runs an operation as one call, although it sends several requests and waits between them.
    package func asOneCall<Output: Sendable>(
        _ operation: @Sendable () async throws -> Output
    ) async throws -> Output {
        let call = Call(outer: .current)
        try add(call)
        defer { remove(call) }
        return try await call.run(operation)
    }

    /// Runs the call that sends a request. It is in flight until the body of the response has been read.
    @inline(__always)
    package func inFlight(
        _ request: NetworkRequest, _ send: (NetworkRequest) async throws -> NetworkResponse
    ) async throws -> NetworkResponse {
        var request = request
        let call: Call
        if request.call == nil {
            let elapsed = request.timeouts.total == nil ? nil : clock.stopwatch()
            call = Call(request.options.monitors, elapsed: elapsed, outer: .current)
            request.call = call
        } else {
            call = Call(outer: .current)
        }
        do throws(NetworkError) { try add(call) } catch { throw error.attributed(to: request) }
        do {
            var response = try await call.run { try await send(request) }
            guard let stream = response.stream else {
                remove(call)
                return response
            }
            response.stream = ResponseBytes(CallStream(stream, of: response, call) { self.remove(call) })
            return response
        } catch {
            remove(call)
            throw error
        }
    }

    /// Reports the start and the failure of a call to its monitors. A longer call reports its own.
    @inline(__always)
    package func reported(
        _ request: NetworkRequest, _ send: (NetworkRequest) async throws -> NetworkResponse
    ) async throws -> NetworkResponse {
        guard let call = request.call else { return try await send(request) }
        if !call.isLong { call.tell(.made, request) }
        do {
            try Call.check()
            var response = try await send(request)
            if response.request == nil { response.request = request }
            if response.request?.call !== call { response.request?.call = call }
            return response
        } catch {
            let error = NetworkError.caught(error, of: call, request)
            if !call.isLong { call.end(.failure(error), request) }
            throw error
        }
    }

    /// Limits a call to its total timeout.
    package func limited(
        _ request: NetworkRequest, to total: Duration,
        _ send: @escaping @Sendable () async throws -> NetworkResponse
    ) async throws -> NetworkResponse {
        // A limit of more than a century is no limit, and more than the clock's sleep can count.
        guard total < .century else { return try await send() }
        let error = NetworkError(
            .timedOut, reason: "no complete response within \(total.secondsText) (timeouts.total)")
        let elapsed = request.call?.elapsed?() ?? .zero
        guard elapsed < total else { throw error }
        return try await withTimeout(total - elapsed, by: clock, error: error, operation: send)
    }

    // MARK: Registration

    /// Adds a call, or throws during a reset.
    private func add(_ call: Call) throws(NetworkError) {
        // Checked under the lock: a reset ends the calls added before it, and rejects those after it.
        let added = state.withLock { state in
            Result { () throws(NetworkError) in
                try chain.gate.check()
                call.index = state.calls.count
                state.calls.append(call)
            }
        }
        try added.get()
    }

    private func remove(_ call: Call) {
        let continuations = state.withLock { state in
            guard let index = call.index, let last = state.calls.popLast() else {
                return [] as [CheckedContinuation<Void, Never>]
            }
            if last !== call {
                state.calls[index] = last
                last.index = index
            }
            call.index = nil
            guard !state.ended.isEmpty else { return [] }
            let left = state.calls.map(ObjectIdentifier.init)
            let ended = state.ended.filter { left.allSatisfy($0.except.contains) }
            state.ended.removeAll { left.allSatisfy($0.except.contains) }
            return ended.map(\.continuation)
        }
        for continuation in continuations { continuation.resume() }
        call.leaveOuter()
    }

    // MARK: Reset

    package func reset() async {
        await chain.gate.reset { [chain] in await chain.wipe() }
    }

    /// Waits until no call is in flight, except the calls that the running code is part of.
    func end() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                let own = Set(state.calls.filter(\.containsRunningCode).map(ObjectIdentifier.init))
                if own.count == state.calls.count { return true }
                state.ended.append((own, continuation))
                return false
            }
            if isOver { continuation.resume() }
        }
    }
}

extension NetworkError {
    /// Returns the error for the caller. It names the request and counts how often it was sent.
    static func caught(_ error: any Error, of call: Call, _ request: NetworkRequest?) -> any Error {
        let thrower = call.thrower(of: error)
        var error = caught(error)
        guard error.code != .cancelled else { return CancellationError() }
        if let thrower, let own = error.underlying, error.code == .unknown, error.reason == nil {
            error.reason = "\(thrower) threw \(NetworkError.text(of: own))"
        }
        error.attempts = max(error.attempts, call.totalAttempts)
        if error.code.isTransport, request?.options.hasValues == true,
            request?.options.responseHandling.statusMap.isPlain == false
        {
            error.classMessage = NetworkError.Code.publishedFailure
        }
        return request.map(error.attributed) ?? error
    }

    /// Returns the error for a completion, which receives a cancellation as a ``NetworkError``.
    package static func completion(
        _ error: any Error, _ request: Result<NetworkRequest, NetworkError>? = nil
    ) -> NetworkError {
        guard case .success(let request)? = request else { return caught(error) }
        return caught(error).attributed(to: request)
    }

    /// Returns the error for anything that a session, an interceptor or a transform threw, including an app's own
    /// errors.
    package static func caught(_ error: any Error) -> NetworkError {
        switch error {
        case is CancellationError: NetworkError(.cancelled)
        case is URLError: URLErrorMapping.networkError(error)
        case is EncodingError: encoding(error)
        case is DecodingError: NetworkError(.decodingFailed, underlying: error)
        default: transport(error)
        }
    }
}

/// The body of a router's call while it is read. The call is in flight until the end of the body, and its cancellation
/// ends the body.
final class CallStream: ResponseBytes.Source {
    private let bytes: Protected<ResponseBytes?>
    /// The response without its body.
    private let head: NetworkResponse
    private let isEndedByReader = Protected(false)
    private let isComplete = Protected(false)
    private let cancellation: Call
    private let didEnd: @Sendable () -> Void
    /// The identifier of the cancellation handler. The handler retains the body and `didEnd`, which retains the call:
    /// it is removed at the end to release both.
    private let handler: Int

    init(
        _ bytes: ResponseBytes, of response: NetworkResponse, _ cancellation: Call,
        didEnd: @escaping @Sendable () -> Void
    ) {
        var head = response
        head.stream = nil
        self.head = head
        let held = Protected<ResponseBytes?>(bytes)
        self.bytes = held
        self.cancellation = cancellation
        self.didEnd = didEnd
        // Releasing the body closes the exchange. A body that is being read receives the cancellation itself.
        handler = cancellation.add {
            _ = held.swap(nil)
            didEnd()
        }
    }

    deinit {
        cancellation.remove(handler)
        head.endCall(with: isComplete.value ? nil : CancellationError())
        didEnd()
    }

    var request: NetworkRequest? { head.request }

    func endsWithReader() { isEndedByReader.withLock { $0 = true } }

    func next() async throws -> Data? {
        guard let bytes = bytes.value else {
            if cancellation.isCancelled { throw CancellationError() }
            return nil
        }
        do {
            let chunk = try await cancellation.run {
                try Call.check()
                return try await bytes.next()
            }
            if chunk == nil {
                isComplete.withLock { $0 = true }
                if !isEndedByReader.value { head.endCall() }
                end()
            }
            return chunk
        } catch {
            let found = NetworkError.caught(error)
            let error: any Error =
                found.code == .cancelled ? CancellationError() : request.map(found.attributed) ?? found
            head.endCall(with: error)
            end()
            throw error
        }
    }

    private func end() {
        _ = bytes.swap(nil)
        cancellation.remove(handler)
        didEnd()
    }
}
