import Foundation
import Switchboard
import SwitchboardPlatform

/// Limits the requests in flight, in total and per host. Other requests wait in order of arrival.
///
/// ```swift
/// let limiter = ConcurrencyLimiter(20, perHost: 6)
/// let manager = NetworkManager(interceptors: [RetryPolicy(), limiter])
/// // Starts no new request. Requests in flight continue.
/// limiter.limit = 0
/// ```
///
/// List it behind `RetryPolicy`, so that a request does not occupy a slot while it waits for a retry. A streamed
/// response keeps its slot until its end or until it is released. A canceled request leaves the queue at once. Several
/// routers may share a limiter. The request by which an `AuthenticationInterceptor` refreshes its credential does not
/// wait.
public final class ConcurrencyLimiter: Interceptor, ExchangeInterceptor {
    private let state: Protected<Places>

    /// Creates a limiter.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of requests in flight. 0 pauses, and nil means no limit.
    ///   - perHost: The maximum number of requests in flight to one host and port. 0 pauses, and nil means no limit.
    public init(_ limit: Int? = nil, perHost: Int? = nil) {
        state = Protected(Places(limit: limit, perHost: perHost))
    }

    /// The maximum number of requests in flight. 0 pauses, and nil means no limit. A smaller number does not affect
    /// requests in flight; no new one starts until enough have ended.
    public var limit: Int? {
        get { state.withLock { $0.limit } }
        set { change { $0.limit = newValue } }
    }

    /// The maximum number of requests in flight to one host and port. The values mean the same as for ``limit``.
    public var perHost: Int? {
        get { state.withLock { $0.perHost } }
        set { change { $0.perHost = newValue } }
    }

    /// The number of requests in flight, without those that bypass the limiter.
    public var inFlight: Int { state.withLock { $0.inFlight } }

    /// The number of waiting requests.
    public var waiting: Int { state.withLock { $0.hosts.values.reduce(0) { $0 + $1.waiters.count } } }

    /// Waits for a slot, sends the request, and releases the slot.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        // A refresh must not wait for requests that wait for its credential.
        guard !request.options.bypassesLimits, !CredentialRefresh.isRunning else { return try await next(request) }
        let place = try await place(for: request)
        defer { withExtendedLifetime(place) {} }
        var response = try await next(request)
        if let stream = response.stream { response.stream = ResponseBytes(PlacedStream(stream, place)) }
        return response
    }

    // MARK: Slots

    private func place(for request: NetworkRequest) async throws -> Place {
        let name = request.authority
        let leave: @Sendable () -> Void = { [weak self] in self?.change { $0.leave(name) } }
        guard !state.withLock({ $0.enter(name) }) else { return Place(leave) }
        request.report(.waiting(for: "a slot"))
        let start = ContinuousClock.now
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await waitForTurn {
            enqueue($0, id, name)
        } leave: { [self] in
            let turn = state.withLock { $0.remove(id, name) }
            turn?.resume(throwing: CancellationError())
        }
        request.report(.admitted(after: .now - start))
        return Place(leave)
    }

    private func enqueue(_ turn: Waiters.Turn, _ id: Int, _ name: String) {
        let enters = state.withLock { state in
            // A slot may have become free meanwhile.
            if state.enter(name) { return true }
            state.hosts[name, default: Places.Host()].waiters.append(turn, id)
            return false
        }
        if enters { turn.resume() }
    }

    /// Changes the state, and resumes the requests that have a slot afterwards.
    private func change(_ change: (inout Places) -> Void) {
        let turns = state.withLock { state in
            change(&state)
            return state.nextTurns()
        }
        for turn in turns { turn.resume() }
    }
}

/// A slot of the limiter. Its deallocation frees the slot.
private final class Place: Sendable {
    private let onLeave: @Sendable () -> Void

    init(_ onLeave: @escaping @Sendable () -> Void) {
        self.onLeave = onLeave
    }

    deinit { onLeave() }
}

/// A body that frees its slot at its end or when it is deallocated.
private final class PlacedStream: ResponseBytes.Source {
    private let bytes: ResponseBytes
    private let place: Protected<Place?>

    init(_ bytes: ResponseBytes, _ place: Place) {
        self.bytes = bytes
        self.place = Protected(place)
    }

    var request: NetworkRequest? {
        get async { await bytes.request }
    }

    var result: (trailers: HTTPHeaders, metrics: ExchangeMetrics)? { bytes.result }
    var storedCount: Int64 { bytes.storedCount }

    func isAppended(to file: URL, after count: Int64) {
        bytes.isAppended(to: file, after: count)
    }

    func next() async throws -> Data? {
        do {
            let chunk = try await bytes.next()
            if chunk == nil { _ = place.swap(nil) }
            return chunk
        } catch {
            _ = place.swap(nil)
            throw error
        }
    }
}

extension RequestOptions {
    /// Whether the request bypasses every ``ConcurrencyLimiter`` and ``RateLimiter``, and does not count there. Default
    /// false.
    public var bypassesLimits: Bool {
        get { self[BypassesLimitsOption.self] }
        set { self[BypassesLimitsOption.self] = newValue }
    }
}

private enum BypassesLimitsOption: RequestOption { static let defaultValue = false }
