import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardText

/// Stops sending requests to a server that fails repeatedly, so that the server can recover and callers do not wait.
///
/// ```swift
/// let breaker = CircuitBreaker(
///     failures: 5, within: .seconds(30), openFor: .seconds(30))
/// let manager = NetworkManager(interceptors: [RetryPolicy(), breaker])
/// ```
///
/// A closed circuit passes requests. It opens after a number of failures within a time window. An open circuit rejects
/// requests with `NetworkError.Code.circuitOpen` and sends nothing. When its time has passed, it is half open: the next
/// request is sent as a probe, and other requests still fail. The circuit closes when the probe succeeds, and opens
/// again when it fails. If the probe takes longer than the open time, such as a large upload, the next request is a
/// probe too. A canceled call does not count, nor one that ends at `Timeouts.total`, which includes waits in queues: set
/// `Timeouts.attempt` too. After a probe that was canceled, that failed with an error that does not count, or that a
/// cache answered without an exchange, the next request is the probe. A probe may need a new credential, so requests
/// that refresh the credential of an `AuthenticationInterceptor`, or that a credential provider or an interceptor after
/// the breaker sends, pass too. Only their failure counts.
///
/// An open circuit does not end event streams and WebSockets that reconnect: they wait for their next attempt.
///
/// List it after a ``ConcurrencyLimiter``, whose waiting requests would otherwise be sent while the circuit is open.
///
/// Each host and port has a separate circuit. The head of a response decides; an error in a streamed body does not
/// count. A reset closes all circuits.
public final class CircuitBreaker: Interceptor, ExchangeInterceptor, Resettable {
    /// The state of a circuit.
    public enum State: Sendable, Hashable {
        /// Requests pass.
        case closed
        /// Requests fail for this time from now.
        case open(for: Duration)
        /// The next request is a probe, or a probe is in flight.
        case halfOpen
    }

    private let rules: Circuit.Rules
    private let isFailure: @Sendable (Result<NetworkResponse, NetworkError>) -> Bool
    private let key: @Sendable (NetworkRequest) -> String
    private let elapsed: @Sendable () -> Duration
    private let circuits = Protected(Circuits())

    /// Creates a breaker whose circuits are closed.
    ///
    /// - Parameters:
    ///   - failures: The number of failures that opens a circuit, at least 1. Default 5.
    ///   - window: The time window of these failures. Default 30 seconds.
    ///   - time: The time for which a circuit stays open. Default 30 seconds.
    ///   - clock: The clock that measures both times.
    ///   - key: Returns the name of a request's circuit, which error texts show. By default host and port, as in
    ///     `api.example.com:443`.
    ///   - isFailure: Returns whether a result counts as a failure of the server. By default ``isFailure(_:)``.
    public init(
        failures: Int = 5, within window: Duration = .seconds(30), openFor time: Duration = .seconds(30),
        clock: any Clock<Duration> = ContinuousClock(), key: (@Sendable (NetworkRequest) -> String)? = nil,
        isFailure: (@Sendable (Result<NetworkResponse, NetworkError>) -> Bool)? = nil
    ) {
        rules = Circuit.Rules(failures: max(1, failures), window: window.clamped, openTime: time.clamped)
        elapsed = clock.stopwatch()
        self.key = key ?? { $0.authority }
        self.isFailure = isFailure ?? Self.isFailure
    }

    /// Returns whether a result counts as a failure by default: status 500, 502, 503 or 504, no connection, a lost
    /// connection, a timeout, or a response that is incomplete or not HTTP. An offline machine does not count.
    public static func isFailure(_ result: Result<NetworkResponse, NetworkError>) -> Bool {
        switch result {
        case .success(let response): [500, 502, 503, 504].contains(response.statusCode)
        case .failure(let error):
            [.timedOut, .cannotConnect, .cannotFindHost, .connectionLost, .truncatedBody, .invalidResponse]
                .contains(error.code) && !error.isOffline
        }
    }

    /// Returns the state of a circuit by its name: `api.example.com:443`, unless the breaker has a custom key.
    public func state(of key: String) -> State {
        let now = elapsed()
        return circuits.withLock { $0.byKey[key]?.state(at: now) ?? .closed }
    }

    /// Returns the state of the circuit that a request belongs to.
    public func state(for request: NetworkRequest) -> State {
        state(of: key(request))
    }

    var circuitCount: Int { circuits.withLock { $0.byKey.count } }

    /// Sends the request, or throws `NetworkError.Code.circuitOpen` while the circuit is open.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        let key = key(request)
        let admission = try admit(request, key)
        do {
            let isProbe = admission.exchangeCount != nil
            let response =
                try await isProbe
                ? EnclosingOperations.run(of: self) { try await next(request) } : next(request)
            record(outcome(of: response, to: request, admission.exchangeCount), key, admission, request)
            return response
        } catch {
            let caught = NetworkError.caught(error)
            let isFailure = caught.code != .cancelled && isFailure(.failure(caught))
            record(isFailure ? .failure : .neutral, key, admission, request)
            throw error
        }
    }

    /// Closes all circuits.
    public func reset() async {
        _ = circuits.swap(Circuits())
    }

    // MARK: One request

    /// The epoch of the circuit, and for a probe the number of exchanges of its call so far.
    private typealias Admission = (epoch: Int, exchangeCount: Int?)

    private func admit(_ request: NetworkRequest, _ key: String) throws(NetworkError) -> Admission {
        let now = elapsed()
        let isOfProbe = EnclosingOperations.obtainCredential || EnclosingOperations.contain(self)
        switch circuits.withLock({ $0.byKey[key]?.admit(at: now, isOfProbe, rules) ?? .admitted(0) }) {
        case .admitted(let epoch): return (epoch, nil)
        case .probe(let epoch):
            request.report(.note("the circuit of \(key) is half open: this request is the probe"))
            return (epoch, request.call?.history.count ?? 0)
        case .rejected(let time):
            let reason =
                time.map { "the circuit of \(key) is open for another \($0.wholeSecondsText)" }
                ?? "the circuit of \(key) is half open, and a probe is in flight"
            throw NetworkError(.circuitOpen, reason: reason)
        }
    }

    /// Returns the outcome of a request. If a cache answered a probe, the exchange that produced that answer decides,
    /// such as a failed revalidation. Neutral without one.
    private func outcome(
        of response: NetworkResponse, to request: NetworkRequest, _ exchangeCount: Int?
    ) -> Circuit.Outcome {
        if isFailure(.success(response)) { return .failure }
        guard let exchangeCount, response.cacheAge != nil, let call = request.call else { return .success }
        let record = call.history.dropFirst(exchangeCount).last
        switch record?.outcome {
        case .status(let status): return isFailure(.success(NetworkResponse(statusCode: status))) ? .failure : .success
        case .failure(let code):
            var error = NetworkError(code)
            error.isOffline = record?.isOffline ?? false
            return isFailure(.failure(error)) ? .failure : .neutral
        case .cancelled, nil: return .neutral
        }
    }

    private func record(
        _ outcome: Circuit.Outcome, _ key: String, _ admission: Admission, _ request: NetworkRequest
    ) {
        // Only the probe closes a circuit.
        guard outcome == .failure || admission.exchangeCount != nil else { return }
        let now = elapsed()
        let change: String? = circuits.withLock { circuits in
            if circuits.byKey[key] == nil {
                guard outcome == .failure else { return nil }
                circuits.removeIdle(at: now, rules)
            }
            return circuits.byKey[key, default: Circuit()].record(outcome, admission.epoch, at: now, rules)
        }
        if let change { request.report(.note("the circuit of \(key) \(change)")) }
    }
}

/// The circuits of a ``CircuitBreaker``. Callers may choose the keys: hosts of links for instance.
private struct Circuits {
    var byKey: [String: Circuit] = [:]
    /// The number of circuits at which idle ones are removed.
    private var limit = 256

    mutating func removeIdle(at now: Duration, _ rules: Circuit.Rules) {
        guard byKey.count >= limit else { return }
        byKey = byKey.filter { !$0.value.isIdle(at: now, rules) }
        limit = max(256, 2 * byKey.count)
    }
}

/// The state of one circuit of a ``CircuitBreaker``.
struct Circuit: Sendable {
    struct Rules: Sendable {
        let failures: Int
        let window: Duration
        let openTime: Duration
    }

    enum Outcome {
        case success, failure
        /// The outcome is not about the server, as after a cancellation.
        case neutral
    }

    /// The decision about a request. The caller passes the epoch to ``record(_:_:at:_:)``.
    enum Decision {
        case admitted(Int), probe(Int)
        /// The time until the next probe, or nil while a probe is in flight.
        case rejected(Duration?)
    }

    private enum Phase {
        case closed(failures: ArraySlice<Duration>)
        case open(until: Duration)
        /// The next request after `until` is a probe too.
        case halfOpenProbe(until: Duration)
    }

    private var phase = Phase.closed(failures: [])
    /// The number of phase changes. The outcome of a request that began in an earlier phase is ignored.
    private var epoch = 0

    func state(at now: Duration) -> CircuitBreaker.State {
        switch phase {
        case .closed: .closed
        case .open(let until): until > now ? .open(for: until - now) : .halfOpen
        case .halfOpenProbe: .halfOpen
        }
    }

    /// Returns the decision about a request. The first request after the open time becomes the probe.
    mutating func admit(at now: Duration, _ isOfProbe: Bool, _ rules: Rules) -> Decision {
        switch phase {
        case .closed: return .admitted(epoch)
        case .halfOpenProbe(let until):
            // The probe may wait for it: for a new credential, or an interceptor that sends a request.
            guard !isOfProbe else { return .admitted(epoch) }
            guard until <= now else { return .rejected(nil) }
            // Both are of the same epoch: the first outcome decides.
            phase = .halfOpenProbe(until: now + rules.openTime)
            return .probe(epoch)
        case .open(let until):
            guard until <= now else { return .rejected(until - now) }
            transition(.halfOpenProbe(until: now + rules.openTime))
            return .probe(epoch)
        }
    }

    /// Records the outcome of a request, and returns a description of the resulting change, or nil.
    mutating func record(_ outcome: Outcome, _ epoch: Int, at now: Duration, _ rules: Rules) -> String? {
        guard epoch == self.epoch else { return nil }
        switch (phase, outcome) {
        case (.closed(var failures), .failure):
            phase = .closed(failures: [])  // so that the change copies nothing
            failures.removeFirst(failures.prefix { now - $0 >= rules.window }.count)
            failures.append(now)
            guard failures.count >= rules.failures else {
                phase = .closed(failures: failures)
                return nil
            }
            transition(.open(until: now + rules.openTime))
            return "opens for \(rules.openTime.secondsText): \(failures.count.counted("failure"))"
        case (.halfOpenProbe, .failure):
            transition(.open(until: now + rules.openTime))
            return "opens again for \(rules.openTime.secondsText): the probe failed"
        case (.halfOpenProbe, .success):
            transition(.closed(failures: []))
            return "closes: the probe succeeded"
        case (.halfOpenProbe, .neutral):
            transition(.open(until: now))
            return nil
        case (.closed, _), (.open, _): return nil
        }
    }

    /// Returns whether the circuit can be removed: it is closed without recent failures, or no request came within a
    /// window after the time of a probe.
    func isIdle(at now: Duration, _ rules: Rules) -> Bool {
        switch phase {
        case .closed(let failures): failures.allSatisfy { now - $0 >= rules.window }
        case .open(let until): now - until >= rules.window
        case .halfOpenProbe: false
        }
    }

    private mutating func transition(_ phase: Phase) {
        self.phase = phase
        epoch += 1
    }
}

extension NetworkRequest {
    /// The host and port that identify a server: `api.example.com:443`.
    var authority: String {
        guard let url else { return "" }
        return "\(url.host?.lowercased() ?? ""):\(url.effectivePort)"
    }
}
