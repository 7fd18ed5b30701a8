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
/// List it after `RetryPolicy`, so that a request does not occupy a slot while it waits for a retry. A streamed
/// response occupies its slot until its end or until it is released. A canceled request leaves the queue immediately.
/// Several routers may share a limiter. Requests that refresh the credential of an `AuthenticationInterceptor`, or that
/// a credential provider sends, do not wait. Nor does a request that an interceptor after the limiter sends, because the
/// one that waits for it has a slot.
public final class ConcurrencyLimiter: Interceptor, ExchangeInterceptor {
    private let state: Protected<ConcurrencySlots>

    /// Creates a limiter.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of requests in flight. 0 pauses, and nil means no limit.
    ///   - perHost: The maximum number of requests in flight to one host and port. 0 pauses, and nil means no limit.
    public init(_ limit: Int? = nil, perHost: Int? = nil) {
        state = Protected(ConcurrencySlots(limit: limit, perHost: perHost))
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

    /// The number of hosts that were examined to assign slots.
    var examinedCount: Int { state.withLock { $0.examinedCount } }

    /// Waits for a slot, sends the request, and releases the slot.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        // A refresh must not wait for requests that wait for its credential, and no request for the one that sent it.
        guard !request.options.bypassesLimits, !EnclosingOperations.obtainCredential,
            !EnclosingOperations.contain(self)
        else { return try await next(request) }
        let slot = try await slot(for: request)
        defer { withExtendedLifetime(slot) {} }
        var response = try await EnclosingOperations.run(of: self) { try await next(request) }
        if let stream = response.stream { response.stream = ResponseBytes(SlotStream(stream, slot)) }
        return response
    }

    // MARK: Slots

    private func slot(for request: NetworkRequest) async throws -> Slot {
        let name = request.authority
        let release: @Sendable () -> Void = { [weak self] in self?.change { $0.release(name) } }
        guard !state.withLock({ $0.acquire(name) }) else { return Slot(release) }
        request.report(.waiting(for: "a slot"))
        let start = ContinuousClock.now
        try await waitInQueue { waiter, id in
            enqueue(waiter, id, name)
        } onCancel: { [self] id in
            let waiter = state.withLock { $0.remove(id, name) }
            waiter?.resume(throwing: CancellationError())
        }
        request.report(.resumed(after: .now - start))
        return Slot(release)
    }

    private func enqueue(_ waiter: Waiters.Waiter, _ id: Int, _ name: String) {
        let isAcquired = state.withLock { state in
            // A slot may have become free since the first attempt.
            if state.acquire(name) { return true }
            state.append(waiter, id, name)
            return false
        }
        if isAcquired { waiter.resume() }
    }

    /// Changes the state, and resumes the requests that have a slot afterwards.
    private func change(_ change: (inout ConcurrencySlots) -> Void) {
        let ready = state.withLock { state in
            change(&state)
            return state.takeReady()
        }
        for waiter in ready { waiter.resume() }
    }
}

/// A slot of the limiter, freed by its deallocation.
private final class Slot: Sendable {
    private let onRelease: @Sendable () -> Void

    init(_ onRelease: @escaping @Sendable () -> Void) {
        self.onRelease = onRelease
    }

    deinit { onRelease() }
}

/// A body that frees its slot at its end or when it is deallocated.
private final class SlotStream: ResponseBytes.Source {
    private let bytes: ResponseBytes
    private let slot: Protected<Slot?>

    init(_ bytes: ResponseBytes, _ slot: Slot) {
        self.bytes = bytes
        self.slot = Protected(slot)
    }

    var request: NetworkRequest? {
        get async { await bytes.request }
    }

    var result: (trailers: HTTPHeaders, metrics: ExchangeMetrics)? { bytes.result }
    var storedCount: Int64 { bytes.storedCount }
    var isUnchanged: Bool { bytes.isUnchanged }

    func next() async throws -> Data? {
        do {
            let chunk = try await bytes.next()
            if chunk == nil { _ = slot.swap(nil) }
            return chunk
        } catch {
            _ = slot.swap(nil)
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

/// The slots of a ``ConcurrencyLimiter``, and the requests that wait for one. Not thread-safe.
struct ConcurrencySlots: Sendable {
    struct Host: Sendable {
        var inFlight = 0
        var waiters = Waiters()
    }

    var limit: Int?
    var perHost: Int? { didSet { findCandidates() } }
    private(set) var inFlight = 0
    private(set) var hosts: [String: Host] = [:]
    /// The first waiting request of each host that has a free slot. Also some that have left or have no free slot.
    private var candidates = CandidateHeap()
    /// The number of candidates examined so far. Tests check that it stays low.
    private(set) var examinedCount = 0

    init(limit: Int?, perHost: Int?) {
        self.limit = limit
        self.perHost = perHost
    }

    mutating func acquire(_ name: String) -> Bool {
        guard inFlight < limit ?? .max, hosts[name]?.inFlight ?? 0 < perHost ?? .max,
            hosts[name]?.waiters.isEmpty ?? true
        else { return false }
        inFlight += 1
        hosts[name, default: Host()].inFlight += 1
        return true
    }

    mutating func release(_ name: String) {
        inFlight -= 1
        hosts[name]?.inFlight -= 1
        addCandidate(of: name)
        removeIfIdle(name)
    }

    mutating func append(_ waiter: Waiters.Waiter, _ id: Int, _ name: String) {
        hosts[name, default: Host()].waiters.append(waiter, id)
        if hosts[name]?.waiters.count == 1 { addCandidate(of: name) }
    }

    mutating func remove(_ id: Int, _ name: String) -> Waiters.Waiter? {
        let isFirst = hosts[name]?.waiters.first == id
        let waiter = hosts[name]?.waiters.remove(id)
        if isFirst { addCandidate(of: name) }
        removeIfIdle(name)
        return waiter
    }

    /// Assigns free slots to waiting requests. Removes and returns their continuations.
    mutating func takeReady() -> [Waiters.Waiter] {
        var ready: [Waiters.Waiter] = []
        while inFlight < limit ?? .max, let (id, name) = candidates.removeFirst() {
            examinedCount += 1
            guard hosts[name]?.inFlight ?? .max < perHost ?? .max, hosts[name]?.waiters.first == id,
                let waiter = hosts[name]?.waiters.removeFirst()
            else { continue }
            inFlight += 1
            hosts[name]?.inFlight += 1
            addCandidate(of: name)
            ready.append(waiter)
        }
        return ready
    }

    private mutating func addCandidate(of name: String) {
        guard let id = hosts[name]?.waiters.first else { return }
        candidates.insert((id, name))
        // Most of them have left.
        if candidates.count > 64 + 2 * hosts.count { findCandidates() }
    }

    private mutating func findCandidates() {
        candidates = CandidateHeap()
        for name in hosts.keys {
            if let id = hosts[name]?.waiters.first { candidates.insert((id, name)) }
        }
    }

    private mutating func removeIfIdle(_ name: String) {
        if let host = hosts[name], host.inFlight == 0, host.waiters.isEmpty { hosts[name] = nil }
    }
}

/// Waiting requests with their hosts, in a binary heap with the least id first.
private struct CandidateHeap: Sendable {
    typealias Element = (id: Int, name: String)

    private var elements: [Element] = []

    var count: Int { elements.count }

    mutating func insert(_ element: Element) {
        var index = elements.count
        elements.append(element)
        while index > 0, elements[index].id < elements[(index - 1) / 2].id {
            elements.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    mutating func removeFirst() -> Element? {
        guard let first = elements.first else { return nil }
        let last = elements.removeLast()
        guard !elements.isEmpty else { return first }
        elements[0] = last
        var index = 0
        while true {
            let children = [2 * index + 1, 2 * index + 2].filter { $0 < elements.count }
            guard let least = children.min(by: { elements[$0].id < elements[$1].id }),
                elements[least].id < elements[index].id
            else { return first }
            elements.swapAt(index, least)
            index = least
        }
    }
}
