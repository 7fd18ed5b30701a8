import Dispatch
import SwitchboardPlatform
import SwitchboardText
import Foundation

/// The calls of a router that are in flight. It sends them, limits their total time, and cancels them together.
///
/// A ``Router`` has one. A fake ``NetworkRouter`` creates one with the session that answers its requests.
public final class RouterCalls: Sendable {
    let chain: InterceptorChain
    /// The queue that completions are called on. Nil for no specific queue.
    let queue: DispatchQueue?
    private let clock: any Clock<Duration>
    /// The manager's environment, in which calls begin. Nil without a manager.
    private let environment: Protected<NetworkEnvironment>?

    /// Creates an object without calls. The parameters are those of
    /// ``Router/init(session:interceptors:exchangeInterceptors:headers:options:monitors:decoder:encoder:completionQueue:clock:)``.
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
    }

    /// Returns an object for calls over the same chain that are canceled separately.
    func sibling() -> RouterCalls {
        RouterCalls(chain, queue, clock, in: environment)
    }

    /// The environment of a new call. Nil if none is set.
    package var currentEnvironment: CallEnvironment? { CallEnvironment(startingIn: environment) }

    /// The environment of a new call whose endpoint or closures are used several times. If none is set, it is the
    /// process's default now, which may change later.
    package var pinnedEnvironment: CallEnvironment { currentEnvironment ?? CallEnvironment(.current) }

    /// Returns a new call that cancels the handle, and the error if it begins during a reset. It is in flight from now
    /// until ``remove(_:)``.
    package func begin(_ handle: RequestHandle) -> (call: Call, added: Result<Void, NetworkError>) {
        let call = Call(parent: .current)
        _ = call.add { handle.cancel() }
        return (call, Result { () throws(NetworkError) in try add(call) })
    }

    func cancelAll() { chain.inFlight.cancelAll(of: self) }

    // MARK: Steps of a call

    /// Runs an operation as one call, although it sends several requests and waits between them.
    package func asOneCall<Output: Sendable>(
        _ operation: @Sendable () async throws -> Output
    ) async throws -> Output {
        let call = Call(parent: .current)
        try add(call)
        defer { remove(call) }
        return try await call.run(operation)
    }

    /// Starts a task that runs an operation as one call, outside of the running call. It is in flight before the task
    /// runs, so that a reset ends it.
    package func startAsOneCall(_ operation: @escaping @Sendable () async -> Void) throws(NetworkError) {
        let call = Call()
        try add(call)
        Call.$current.withValue(nil) {
            _ = Task {
                await call.run(operation)
                self.remove(call)
            }
        }
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
            call = Call(request.options.monitors, elapsed: elapsed, parent: .current)
            request.call = call
        } else {
            call = Call(parent: .current)
        }
        do throws(NetworkError) { try add(call) } catch { throw error.attributed(to: request) }
        do {
            var response = try await call.run { try await send(request) }
            if request.streams(response.statusCode), response.stream == nil, !response.body.isEmpty {
                // A cache or a custom session may have the whole body. The call ends with its reader.
                response.stream = ResponseBytes(response.body)
                response.body = Data()
            }
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

    /// Reports the start and the failure of a call to its monitors. A ``LongCall`` reports its own.
    @inline(__always)
    package func reported(
        _ request: NetworkRequest, _ send: (NetworkRequest) async throws -> NetworkResponse
    ) async throws -> NetworkResponse {
        guard let call = request.call else { return try await send(request) }
        if !call.isLong { call.report(.started, request) }
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

    package func limited(
        _ request: NetworkRequest, to total: Duration,
        _ send: @escaping @Sendable () async throws -> NetworkResponse
    ) async throws -> NetworkResponse {
        // A century is no limit, and would overflow the sleep of the clock.
        guard total < .century else { return try await send() }
        let error = NetworkError.exceeded(total)
        let elapsed = request.call?.elapsed?() ?? .zero
        guard elapsed < total else { throw error }
        // A download whose file is in place when the limit passes has succeeded.
        return try await withTimeout(
            total - elapsed, by: clock, error: error, keepingLate: { $0.fileURL != nil }, operation: send)
    }

    // MARK: Registration

    /// Adds a call, or throws during a reset.
    func add(_ call: Call) throws(NetworkError) { try chain.inFlight.add(call, of: self) }

    package func remove(_ call: Call) { chain.inFlight.remove(call) }

    package func reset() async {
        await chain.inFlight.reset { [chain] in await chain.wipe() }
    }
}

extension NetworkError {
    /// Returns the error for the caller, with the request and the number of attempts.
    static func caught(_ error: any Error, of call: Call, _ request: NetworkRequest?) -> any Error {
        let thrower = call.thrower(of: error)
        var error = caught(error).naming(thrower)
        guard error.code != .cancelled else { return CancellationError() }
        error.attempts = max(error.attempts, call.totalAttempts)
        if error.code.isTransport, request?.options.hasValues == true,
            request?.options.statusMap.message != nil
        {
            error.statusMapMessage = NetworkError.Code.connectionMessage
        }
        return request.map(error.attributed) ?? error
    }

    /// Returns the error with the name of the interceptor that threw it, unless it has a code or a reason.
    func naming(_ thrower: String?) -> NetworkError {
        guard let thrower, let underlying, code == .unknown, reason == nil else { return self }
        var error = self
        error.reason = "\(thrower) threw \(NetworkError.text(of: underlying))"
        return error
    }

    /// Returns the error for a completion, which receives a cancellation as a ``NetworkError``.
    static func completion(_ error: any Error, _ request: Result<NetworkRequest, any Error>) -> NetworkError {
        guard case .success(let request) = request else { return caught(error) }
        return caught(error).attributed(to: request)
    }

    /// Returns the error for any error of a session, an interceptor or a transform.
    package static func caught(_ error: any Error) -> NetworkError {
        switch error {
        case is CancellationError: NetworkError(.cancelled)
        case is URLError: URLErrorMapping.networkError(error)
        case is EncodingError: encoding(error)
        case is DecodingError:
            NetworkError(.decodingFailed, reason: DecodingFailure.cause(of: error), underlying: error)
        default: transport(error)
        }
    }
}

extension NetworkError {
    fileprivate static func exceeded(_ total: Duration) -> NetworkError {
        .timedOut("no complete response within", total, "total")
    }
}

extension NetworkRequest {
    /// The error of a call that has exceeded its ``Timeouts/total``, or nil.
    var totalTimeout: NetworkError? {
        guard let total = timeouts.total, let elapsed = call?.elapsed, elapsed() >= total else { return nil }
        return .exceeded(total)
    }
}
