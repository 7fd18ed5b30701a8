import SwitchboardPlatform

/// Stops the calls of a chain while what it holds is wiped.
final class ResetGate: Sendable {
    /// Whether the running code is part of a reset: one that it asks for would wait for itself.
    @TaskLocal private static var isInside = false

    private struct State {
        var isResetting = false
        var joined: [CheckedContinuation<Void, Never>] = []
        var calls: [ObjectIdentifier: WeakCalls] = [:]
    }

    private struct WeakCalls {
        weak var calls: RouterCalls?
    }

    private let state = Protected(State())

    /// - Throws: ``NetworkError/Code/resetInProgress``.
    func check() throws(NetworkError) {
        guard state.withLock({ $0.isResetting }) else { return }
        throw NetworkError(.resetInProgress, reason: "try again after the reset")
    }

    /// Adds calls that a reset ends.
    func add(_ calls: RouterCalls) {
        state.withLock { $0.calls[ObjectIdentifier(calls)] = WeakCalls(calls: calls) }
    }

    /// Forgets calls that end to exist: others may have their identity then.
    func remove(_ calls: RouterCalls) {
        state.withLock { $0.calls[ObjectIdentifier(calls)] = nil }
    }

    /// Ends all calls as cancelled, lets none begin, and wipes; joins a reset that is under way.
    func reset(_ wipe: @Sendable () async -> Void) async {
        guard !Self.isInside, await begin() else { return }
        let calls = state.withLock { $0.calls.values.map(\.calls) }.compactMap { $0 }
        for calls in calls { calls.cancelAll() }
        for calls in calls { await calls.end() }
        await Self.$isInside.withValue(true, operation: wipe)
        let joined = state.withLock { state in
            state.isResetting = false
            defer { state.joined = [] }
            return state.joined
        }
        for continuation in joined { continuation.resume() }
    }

    /// False when another reset was under way, once that has ended.
    private func begin() async -> Bool {
        let isFirst = state.withLock { state in
            defer { state.isResetting = true }
            return !state.isResetting
        }
        if isFirst { return true }
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.isResetting { state.joined.append(continuation) }
                return !state.isResetting
            }
            if isOver { continuation.resume() }
        }
        return false
    }
}

extension InterceptorChain {
    /// Wipes what the interceptors and the session hold, each object once.
    func wipe() async {
        var seen: Set<ObjectIdentifier> = []
        var parts = (links.map(\.interceptor) + [session] as [Any]).compactMap { $0 as? any Resettable }
        // A part may hold itself, or make up new ones for ever.
        for _ in 0..<10_000 where !parts.isEmpty {
            let part = parts.removeFirst()
            if type(of: part) is AnyClass, !seen.insert(ObjectIdentifier(part as AnyObject)).inserted { continue }
            await part.reset()
            parts += part.resettableParts
        }
    }
}
