import SwitchboardPlatform

/// The calls in flight of all routers over a chain. A reset ends them, and refuses new ones meanwhile.
final class CallsInFlight: Sendable {
    private struct State {
        /// Each call stores its index in this array.
        var calls: [(call: Call, router: ObjectIdentifier)] = []
        var reset: SharedOperation<Void>?
        /// The reset that waits for the end of the calls.
        var waiters = WaitingTasks()
    }

    private let state = Protected(State())

    /// Adds a call of a router.
    ///
    /// - Throws: ``NetworkError/Code/resetInProgress`` during a reset.
    func add(_ call: Call, of router: RouterCalls) throws(NetworkError) {
        let isAdded = state.withLock { state in
            guard state.reset == nil else { return false }
            call.index = state.calls.count
            state.calls.append((call, ObjectIdentifier(router)))
            return true
        }
        guard isAdded else { throw NetworkError(.resetInProgress, reason: "try again after the reset") }
    }

    func remove(_ call: Call) {
        let waiters: WaitingTasks? = state.withLock { state in
            guard let index = call.index, let last = state.calls.popLast() else { return nil }
            if last.call !== call {
                state.calls[index] = last
                last.call.index = index
            }
            call.index = nil
            return state.waiters.isEmpty ? nil : state.waiters.take()
        }
        waiters?.resume()
        call.releaseParent()
    }

    func cancelAll(of router: RouterCalls) {
        // Only its calls: a copy of the whole array would be copied again by the next call that begins or ends.
        let calls = state.withLock { state in
            state.calls.compactMap { $0.router == ObjectIdentifier(router) ? $0.call : nil }
        }
        for call in calls { call.cancel() }
    }

    /// Cancels all calls, refuses new ones, and runs `wipe`. During another reset, waits for that one instead. The wait
    /// ends early when the caller is canceled, because that reset may be waiting for the caller.
    func reset(_ wipe: @Sendable () async -> Void) async {
        guard !EnclosingOperations.contain(self) else { return }
        let reset = SharedOperation<Void>(cancelsWhenAbandoned: false)
        let (running, calls) = state.withLock { state in
            defer { state.reset = state.reset ?? reset }
            return (state.reset, state.calls.map(\.call))
        }
        if let running {
            if let caller = running.join() { try? await running.value(for: caller) }
            return
        }
        // Found before the cancellation, which releases the parents of calls that it ends.
        let own = Set(calls.filter(\.containsRunningCode).map(ObjectIdentifier.init))
        for call in calls { call.cancel() }
        await waitUntilEmpty(except: own)
        await EnclosingOperations.run(of: self, wipe)
        state.withLock { $0.reset = nil }
        reset.finish(.success(()))
    }

    private func waitUntilEmpty(except own: Set<ObjectIdentifier>) async {
        // A separate task, because a cancellation of the caller does not end the wait.
        await Task { [state] in
            await state.wait(
                while: { state in
                    // Most calls end while others are in flight, which are not compared then.
                    state.calls.count > own.count
                        || !state.calls.allSatisfy { own.contains(ObjectIdentifier($0.call)) }
                }, in: \.waiters)
        }.value
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
