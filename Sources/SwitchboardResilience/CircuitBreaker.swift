import Switchboard
import SwitchboardPlatform

/// Stops asking a server that fails again and again, so that it can recover and callers need not wait for it.
///
/// ```swift
/// let breaker = CircuitBreaker(failures: 5, within: .seconds(30), openFor: .seconds(30))
/// let manager = NetworkManager(interceptors: [RetryPolicy(), breaker])
/// ```
///
/// Closed, requests pass. With so many failures within a time it opens: requests fail at once with
/// `NetworkError.Code.circuitOpen`, and nothing is sent. When it has been open for its time it is half open: the next
/// request is sent as a probe, the others still fail. It closes when the probe succeeds, and opens again when it fails.
/// A cancelled call says nothing; a cancelled probe leaves its place to the next request.
///
/// Each host and port has a circuit of its own. The head of a response decides, not the rest of a body that is read as
/// it arrives. A reset closes all circuits.
public final class CircuitBreaker: Interceptor, ExchangeInterceptor, Resettable {
    /// What a circuit does with requests.
    public enum State: Sendable, Hashable {
        /// They pass.
        case closed
        /// They fail, for so long from now.
        case open(for: Duration)
        /// The next one is a probe, or one is under way.
        case halfOpen
    }

    /// Whether what became of a request speaks against the server.
    public typealias Judge = @Sendable (Result<NetworkResponse, NetworkError>) -> Bool
    /// The name of the circuit that a request belongs to, which texts of errors show.
    public typealias Key = @Sendable (NetworkRequest) -> String

    private let rules: Circuit.Rules
    private let isFailure: Judge
    private let key: Key
    private let elapsed: @Sendable () -> Duration
    private let circuits = Protected<[String: Circuit]>([:])

    /// Makes a breaker whose circuits are closed.
    ///
    /// - Parameters:
    ///   - failures: How many failures open a circuit; at least 1.
    ///   - window: The time they must be in.
    ///   - time: How long it stays open.
    ///   - clock: What measures both.
    ///   - key: What has a circuit of its own. By default host and port, as `api.example.com:443`.
    ///   - isFailure: What speaks against the server. By default ``isFailure(_:)``.
    public init(
        failures: Int = 5, within window: Duration = .seconds(30), openFor time: Duration = .seconds(30),
        clock: any Clock<Duration> = ContinuousClock(), key: Key? = nil, isFailure: Judge? = nil
    ) {
        rules = Circuit.Rules(failures: max(1, failures), window: window.clamped, time: time.clamped)
        elapsed = clock.stopwatch()
        self.key = key ?? { $0.authority }
        self.isFailure = isFailure ?? Self.isFailure
    }

    /// What speaks against a server unless it is told otherwise: the statuses 500, 502, 503 and 504; no connection, a
    /// lost one, a timeout, an answer that ends early or is not HTTP. Not that this machine is offline.
    public static func isFailure(_ result: Result<NetworkResponse, NetworkError>) -> Bool {
        switch result {
        case .success(let response): [500, 502, 503, 504].contains(response.statusCode)
        case .failure(let error):
            [.timedOut, .cannotConnect, .cannotFindHost, .connectionLost, .truncatedBody, .invalidResponse]
                .contains(error.code)
        }
    }

    /// The state of a circuit: `api.example.com:443`, unless it has other keys.
    public func state(of key: String) -> State {
        let now = elapsed()
        return circuits.withLock { $0[key]?.state(at: now) ?? .closed }
    }

    /// The state of the circuit that a request belongs to.
    public func state(for request: NetworkRequest) -> State {
        state(of: key(request))
    }

    /// How many circuits are remembered.
    var circuitCount: Int { circuits.withLock { $0.count } }

    /// Sends the request, unless the circuit is open.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        let key = key(request)
        let epoch = try admit(request, key)
        do {
            let response = try await next(request)
            note(isFailure(.success(response)) ? .failure : .success, key, epoch, request)
            return response
        } catch {
            let caught = NetworkError.caught(error)
            let isFailure = caught.code != .cancelled && isFailure(.failure(caught))
            note(isFailure ? .failure : .nothing, key, epoch, request)
            throw error
        }
    }

    /// Closes all circuits.
    public func reset() async {
        _ = circuits.swap([:])
    }

    // MARK: One request

    private func admit(_ request: NetworkRequest, _ key: String) throws(NetworkError) -> Int {
        let now = elapsed()
        switch circuits.withLock({ $0[key]?.admit(at: now) ?? .passes(0) }) {
        case .passes(let epoch): return epoch
        case .probes(let epoch):
            request.report(.note("the circuit of \(key) is half open: this request is the probe"))
            return epoch
        case .refused(let time):
            let reason =
                time.map { "the circuit of \(key) is open for another \($0.wholeSecondsText)" }
                ?? "the circuit of \(key) is half open, and a probe is in flight"
            throw NetworkError(.circuitOpen, reason: reason)
        }
    }

    private func note(_ outcome: Circuit.Outcome, _ key: String, _ epoch: Int, _ request: NetworkRequest) {
        let now = elapsed()
        let change: String? = circuits.withLock { circuits in
            if circuits[key] == nil {
                guard outcome == .failure else { return nil }
                // Those that have nothing to remember make room for what a caller may choose, hosts of links for
                // instance.
                if circuits.count >= 256 { circuits = circuits.filter { !$0.value.isIdle(at: now, rules) } }
            }
            return circuits[key, default: Circuit()].note(outcome, epoch, at: now, rules)
        }
        if let change { request.report(.note("the circuit of \(key) \(change)")) }
    }
}
