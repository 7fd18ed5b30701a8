import SwitchboardPlatform

/// Stops the calls of a chain during a reset.
final class ResetGate: Sendable {
    private struct State {
        var reset: SharedOperation<Void>?
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
        guard state.withLock({ $0.reset != nil }) else { return }
        throw NetworkError(.resetInProgress, reason: "try again after the reset")
    }

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

    /// Cancels all calls, rejects new ones, and runs `wipe`. During another reset, waits for that one instead. The wait
    /// ends early when the caller is canceled, because that reset may be waiting for the caller.
    func reset(_ wipe: @Sendable () async -> Void) async {
        guard !EnclosingOperations.contain(self) else { return }
        let reset = SharedOperation<Void>(cancelsWhenAbandoned: false)
        let running = state.withLock { state in
            defer { state.reset = state.reset ?? reset }
            return state.reset
        }
        if let running {
            if let caller = running.join() { try? await running.value(for: caller) }
            return
        }
        // In the order of their creation, so that a simulation repeats: the order of a dictionary depends on addresses.
        let calls = state.withLock { $0.calls.values.sorted { $0.number < $1.number }.map(\.calls) }.compactMap { $0 }
        for calls in calls { calls.cancelAll() }
        for calls in calls { await calls.waitUntilEmpty() }
        await EnclosingOperations.run(of: self, wipe)
        state.withLock { $0.reset = nil }
        reset.finish(.success(()))
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
