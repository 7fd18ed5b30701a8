import Foundation
import Switchboard
import SwitchboardPlatform

/// Lets no more than so many requests be under way, in all and to each host. The others wait, first come first served.
///
/// ```swift
/// let limiter = ConcurrencyLimiter(20, perHost: 6)
/// let manager = NetworkManager(interceptors: [RetryPolicy(), limiter])
/// limiter.limit = 0        // pauses: what is under way goes on, nothing new begins
/// ```
///
/// List it behind `RetryPolicy`, so that a request that waits to be sent again takes nobody's place. A response that
/// is read as it arrives keeps its place until its end, or until it is let go of. Somebody who waits and is cancelled
/// leaves at once. One limiter may serve several routers. A request by which an `AuthenticationInterceptor` refreshes its
/// credential does not wait.
public final class ConcurrencyLimiter: Interceptor, ExchangeInterceptor {
    private let state: Protected<Places>

    /// Makes a limiter.
    ///
    /// - Parameters:
    ///   - limit: The requests under way in all. 0 pauses; nil is no limit.
    ///   - perHost: The requests under way to one host and port. 0 pauses; nil is no limit.
    public init(_ limit: Int? = nil, perHost: Int? = nil) {
        state = Protected(Places(limit: limit, perHost: perHost))
    }

    /// The requests that may be under way in all: 0 pauses, nil is no limit. With less than are under way, these go on
    /// and nothing begins until enough have ended.
    public var limit: Int? {
        get { state.withLock { $0.limit } }
        set { change { $0.limit = newValue } }
    }

    /// The requests that may be under way to one host and port; as ``limit``.
    public var perHost: Int? {
        get { state.withLock { $0.perHost } }
        set { change { $0.perHost = newValue } }
    }

    /// How many are under way, those that bypass it left out.
    public var inFlight: Int { state.withLock { $0.inFlight } }

    /// How many wait.
    public var waiting: Int { state.withLock { $0.hosts.values.reduce(0) { $0 + $1.waiters.count } } }

    /// Waits for a place, sends the request, and gives the place to the next.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        // What a credential is refreshed by must not wait for those who wait for the credential.
        guard !request.options.bypassesLimits, !CredentialRefresh.isRunning else { return try await next(request) }
        let place = try await place(for: request)
        defer { withExtendedLifetime(place) {} }
        var response = try await next(request)
        if let stream = response.stream { response.stream = ResponseBytes(PlacedStream(stream, place)) }
        return response
    }

    // MARK: Places

    private func place(for request: NetworkRequest) async throws -> Place {
        let name = request.authority
        let leave: @Sendable () -> Void = { [weak self] in self?.change { $0.leave(name) } }
        guard !state.withLock({ $0.enter(name) }) else { return Place(leave) }
        request.report(.waiting(for: "a place"))
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
            // A place may have become free meanwhile.
            if state.enter(name) { return true }
            state.hosts[name, default: Places.Host()].waiters.append(turn, id)
            return false
        }
        if enters { turn.resume() }
    }

    /// Changes something, and gives turns to those who have a place then.
    private func change(_ change: (inout Places) -> Void) {
        let turns = state.withLock { state in
            change(&state)
            return state.nextTurns()
        }
        for turn in turns { turn.resume() }
    }
}

/// A place among those under way, given back when nobody holds it any more.
private final class Place: Sendable {
    private let onLeave: @Sendable () -> Void

    init(_ onLeave: @escaping @Sendable () -> Void) {
        self.onLeave = onLeave
    }

    deinit { onLeave() }
}

/// A body whose place is given back at its end, or when it is let go of.
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
    /// Whether the request waits at no ``ConcurrencyLimiter`` and no ``RateLimiter``, and is not counted there. Default
    /// false.
    public var bypassesLimits: Bool {
        get { self[BypassesLimitsOption.self] }
        set { self[BypassesLimitsOption.self] = newValue }
    }
}

private enum BypassesLimitsOption: RequestOption { static let defaultValue = false }
