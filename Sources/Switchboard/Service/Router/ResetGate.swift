import SwitchboardPlatform

/// Stops the calls of a chain during a reset.
final class ResetGate: Sendable {
    /// Whether the running code is part of a reset. A nested reset would wait for itself.
    @TaskLocal private static var isResetting = false

    private struct State {
        var isResetting = false
        var waiters: [CheckedContinuation<Void, Never>] = []
        var calls: [ObjectIdentifier: WeakCalls] = [:]
        var lastNumber = 0
    }

    private struct WeakCalls {
        let number: Int
        weak var calls: RouterCalls?
    }

    private let state = Protected(State())

    /// Throws during a reset.
    ///
    /// - Throws: ``NetworkError/Code/resetInProgress``.
    func check() throws(NetworkError) {
        guard state.withLock({ $0.isResetting }) else { return }
        throw NetworkError(.resetInProgress, reason: "try again after the reset")
    }

    /// Registers calls that a reset ends.
    func add(_ calls: RouterCalls) {
        state.withLock { state in
            state.lastNumber += 1
            state.calls[ObjectIdentifier(calls)] = WeakCalls(number: state.lastNumber, calls: calls)
        }
    }

    /// Removes deallocated calls, because another object may get their identity.
    func remove(_ calls: RouterCalls) {
        state.withLock { $0.calls[ObjectIdentifier(calls)] = nil }
    }

    /// Cancels all calls, rejects new ones, and runs `wipe`. If a reset is running, waits for it instead.
    func reset(_ wipe: @Sendable () async -> Void) async {
        guard !Self.isResetting, await begin() else { return }
        // In the order of their creation, so that a simulation repeats: the order of a dictionary depends on addresses.
        let calls = state.withLock { $0.calls.values.sorted { $0.number < $1.number }.map(\.calls) }.compactMap { $0 }
        for calls in calls { calls.cancelAll() }
        for calls in calls { await calls.waitUntilEmpty() }
        await Self.$isResetting.withValue(true, operation: wipe)
        let waiters = state.withLock { state in
            state.isResetting = false
            defer { state.waiters = [] }
            return state.waiters
        }
        for continuation in waiters { continuation.resume() }
    }

    /// Begins a reset. If another one is running, waits until it ends and returns false.
    private func begin() async -> Bool {
        let isFirst = state.withLock { state in
            defer { state.isResetting = true }
            return !state.isResetting
        }
        if isFirst { return true }
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.isResetting { state.waiters.append(continuation) }
                return !state.isResetting
            }
            if isOver { continuation.resume() }
        }
        return false
    }
}

extension InterceptorChain {
    /// Resets the interceptors, the session and their parts, each object once.
    func wipe() async {
        var seen: Set<ObjectIdentifier> = []
        var parts = (links.map(\.interceptor) + [session] as [Any]).compactMap { $0 as? any Resettable }
        // A part may contain itself, or return new parts forever.
        for _ in 0..<10_000 where !parts.isEmpty {
            let part = parts.removeFirst()
            if type(of: part) is AnyClass, !seen.insert(ObjectIdentifier(part as AnyObject)).inserted { continue }
            await part.reset()
            parts += part.resettableParts
        }
    }
}
