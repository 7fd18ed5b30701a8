import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardText

extension AuthenticationInterceptor {
    /// The next step of a caller.
    private enum Step {
        case use(Stored)
        /// Joined a refresh, or began one.
        case wait(SharedOperation<Stored>, id: Int, since: Partition, isNew: Bool)
        case fail(NetworkError)
        case limitReached
    }

    /// Returns the credential for a request. Nil when no user has signed in and the request does not require it.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - failures: The number of failed refreshes before the request. A failed early refresh is added, because it
    ///     does not prevent another one after a rejection.
    /// - Returns: The credential.
    /// - Throws: The error of the refresh, or `NetworkError.Code.cannotAuthenticate` at the limit of refreshes.
    func credential(for request: NetworkRequest, _ failures: inout Int) async throws -> Stored? {
        let current = partitionState(of: request)
        if current.pendingRefresh == nil, current.isSignedOut, request.options.authentication == .optional {
            return nil
        }
        if current.pendingRefresh == nil, !current.isRejected, let stored = current.stored, !isDue(stored) {
            return stored
        }
        do {
            if let stored = try await newCredential(replacing: current.stored, current.failures, for: request) {
                return stored
            }
            let times = refreshLimit.count.counted("time")
            throw NetworkError(
                .cannotAuthenticate,
                reason: "the credential expired, and was refreshed \(times) within " + refreshLimit.window.secondsText)
        } catch {
            if proceedsWithoutCredential(request, after: error) { return nil }
            // The credential stays in use if only an early refresh failed.
            let latest = partitionState(of: request)
            guard latest.removals == current.removals, let stored = latest.stored, !latest.isRejected,
                !authenticator.needsRefresh(stored.credential, at: now())
            else { throw error }
            try Call.check()
            if isDue(stored) { failures = latest.failures }
            request.report(.authentication("not refreshed; still valid"))
            return stored
        }
    }

    /// Returns the credential for the second attempt, in place of the rejected one. Nil when the refresh limit is
    /// reached. `failures` is the number of failed refreshes before the request was sent.
    func credentialAfterRejection(of stored: Stored, _ failures: Int, for request: NetworkRequest) async throws
        -> Stored?
    {
        let current = partitionState(of: request)
        if let newer = current.stored, current.pendingRefresh == nil, newer.generation != stored.generation,
            isDue(newer)
        {
            var failures = failures
            guard let valid = try await credential(for: request, &failures) else { throw NotSignedIn() }
            return valid
        }
        let replacement = try await newCredential(replacing: stored, failures, for: request)
        if replacement == nil { request.report(.authentication("rejected; refreshed too often to try again")) }
        return replacement
    }

    /// Returns a credential in place of another one: a newer one, or the result of a refresh, which it joins or starts.
    /// Nil when the refresh limit is reached.
    private func newCredential(replacing old: Stored?, _ failures: Int, for request: NetworkRequest) async throws
        -> Stored?
    {
        let partition = request.options.partition
        switch step(replacing: old, failures, in: partition, at: now()) {
        case .use(let stored):
            request.report(.authentication("a newer credential exists"))
            return stored
        case .fail(let error): throw error
        case .limitReached: return nil
        case .wait(let refresh, let id, let joined, let isNew):
            if isNew {
                request.report(.authentication(joined.stored == nil ? "load" : "refresh"))
                start(refresh, after: joined.stored, for: request)
            }
            do {
                return try await wait(for: refresh, id, since: joined, request)
            } catch is NotSignedIn where request.options.authentication != .optional {
                // Another request started the refresh. It did not require a credential, so no new one was requested.
                return try await newCredential(replacing: old, failures, for: request)
            }
        }
    }

    private func step(replacing old: Stored?, _ failures: Int, in partition: String?, at date: Date) -> Step {
        state.withLock { state in
            var current = state.partitions[partition] ?? Partition()
            if let refresh = current.pendingRefresh, let id = refresh.join() {
                return .wait(refresh, id: id, since: current, isNew: false)
            }
            if let stored = current.stored, stored.generation != old?.generation, !current.isRejected {
                return .use(stored)
            }
            // The refresh failed for other requests while this one was in flight.
            if current.failures > failures, let failure = current.failure { return .fail(failure) }
            if current.isLimitReached(at: date, refreshLimit) { return .limitReached }
            let refresh = SharedOperation<Stored>(cancelsWhenAbandoned: false)
            current.pendingRefresh = refresh
            state.partitions[partition] = current
            return .wait(refresh, id: refresh.join() ?? 0, since: current, isNew: true)
        }
    }

    /// Waits for a refresh. `joined` is the state at the moment when the request joined it.
    private func wait(
        for refresh: SharedOperation<Stored>, _ id: Int, since joined: Partition, _ request: NetworkRequest
    ) async throws -> Stored {
        request.report(.waiting(for: "a new credential"))
        let stored: Stored
        do {
            stored = try await refresh.value(for: id)
        } catch {
            try Call.check()
            // A sign-in may have ended before the lost credential was removed.
            let current = partitionState(of: request)
            guard !(error is NotSignedIn), current.removals == joined.removals, let newer = current.stored,
                newer.generation > (joined.stored?.generation ?? 0), !current.isRejected, !isDue(newer)
            else { throw error }
            request.report(.authentication("a newer credential exists"))
            return newer
        }
        // A sign-in or a sign-out may have replaced it, for example while it was saved.
        let current = partitionState(of: request)
        guard current.removals == joined.removals, let newest = current.stored else {
            throw NetworkError(
                .cannotAuthenticate, reason: "the credential was removed while the request waited for it")
        }
        request.report(.authentication(stored.isRefreshed ? "refreshed" : "loaded"))
        return newest
    }

    // MARK: Refresh

    private func start(_ refresh: SharedOperation<Stored>, after old: Stored?, for request: NetworkRequest) {
        let partition = request.options.partition
        let timer = startTimer(of: refresh, in: partition)
        refresh.start { [self] in
            do {
                let (last, loaded) = try await lastCredential(old, for: refresh, in: partition)
                timer.cancel()
                if let loaded { return .success(loaded) }
                guard last != nil || request.options.authentication != .optional else { throw NotSignedIn() }
                let stored = try await authenticator.withRefreshLock(in: partition) {
                    let timer = startTimer(of: refresh, in: partition)
                    defer { timer.cancel() }
                    let fresh = try await EnclosingOperations.run(of: self, obtainsCredential: true) {
                        try await authenticator.refresh(last, in: partition)
                    }
                    let stored = try store(fresh, ending: refresh, isRefreshed: true, in: partition)
                    timer.cancel()
                    // The credential is valid, even if the store does not answer.
                    let limit = afterTimeout { refresh.finish(.success(stored)) }
                    await save(stored, for: request)
                    limit.cancel()
                    return stored
                }
                return .success(stored)
            } catch let error as NotSignedIn {
                timer.cancel()
                state.withLock {
                    if $0.partitions[partition]?.pendingRefresh === refresh {
                        $0.partitions[partition]?.pendingRefresh = nil
                    }
                }
                return .failure(error)
            } catch {
                timer.cancel()
                let isLost = authenticator.isLost(after: error)
                var failure = Self.failure(error)
                if old == nil, isLost { failure.reason = failure.reason.map { $0 + hint(about: partition) } }
                if recordFailure(failure, isLost: isLost, of: refresh, in: partition) {
                    // The credential is lost, even if the store does not answer.
                    let limit = afterTimeout { [failure] in refresh.finish(.failure(failure)) }
                    await save(nil, for: request)
                    limit.cancel()
                }
                return .failure(failure)
            }
        }
    }

    /// Ends a refresh after the timeout, unless the task is canceled before.
    private func startTimer(of refresh: SharedOperation<Stored>, in partition: String?) -> Task<Void, any Error> {
        afterTimeout { [self] in
            let error = NetworkError(
                .timedOut, reason: "refreshing the credential took longer than \(refreshTimeout.secondsText)")
            recordFailure(error, isLost: false, of: refresh, in: partition)
            refresh.finish(.failure(error))
        }
    }

    /// Runs an operation after the timeout of a refresh, unless the task is canceled before.
    private func afterTimeout(_ operation: @escaping @Sendable () -> Void) -> Task<Void, any Error> {
        Task { [clock, refreshTimeout] in
            let elapsed = clock.stopwatch()
            try await clock.sleep(for: refreshTimeout)
            // The process was suspended. An answer that has arrived meanwhile is read first.
            if elapsed() > refreshTimeout + .seconds(1) {
                try await clock.sleep(for: min(refreshTimeout, .seconds(10)))
            }
            operation()
        }
    }

    /// Returns the credential to refresh: the old or the saved one, or nil without any. Returns the saved one as the result
    /// of the refresh if it is valid.
    private func lastCredential(
        _ old: Stored?, for refresh: SharedOperation<Stored>, in partition: String?
    ) async throws -> (last: A.Credential?, loaded: Stored?) {
        if let old { return (old.credential, nil) }
        let (isLoaded, removal) = state.withLock { state in
            let current = state.partitions[partition]
            return (current?.isLoaded == true, current?.removal ?? state.removal)
        }
        // A sign-out or a reset may not have removed the saved credential yet.
        if let removal { try? await saving.wait(for: removal) }
        if isLoaded { return (nil, nil) }
        let last = try await load(in: partition)
        if let last, !authenticator.needsRefresh(last, at: now().addingTimeInterval(leeway.seconds)) {
            return (last, try store(last, ending: refresh, isRefreshed: false, in: partition))
        }
        // A refresh that fails temporarily must not lose the saved credential.
        storeLoaded(last, for: refresh, in: partition)
        return (last, nil)
    }

    /// Returns the saved credential. Nil during a reset, which removes it.
    func load(in partition: String?) async throws -> A.Credential? {
        if state.withLock({ $0.resets > 0 }) { return nil }
        return try await EnclosingOperations.run(of: self, obtainsCredential: true) {
            try await authenticator.load(in: partition)
        }
    }

    /// Marks the saved credential as loaded, and stores it although it needs a refresh.
    private func storeLoaded(_ credential: A.Credential?, for refresh: SharedOperation<Stored>, in partition: String?) {
        state.withLock { state in
            guard state.partitions[partition]?.pendingRefresh === refresh else { return }
            state.partitions[partition]?.isLoaded = true
            guard let credential else { return }
            state.generation += 1
            state.partitions[partition]?.stored = Stored(
                credential: credential, generation: state.generation, leeway: leeway)
        }
    }

    /// Stores the credential of a partition, and ends its refresh. Throws `CancellationError` if a sign-in, a sign-out,
    /// a reset or the timeout has ended the refresh.
    private func store(
        _ credential: A.Credential, ending refresh: SharedOperation<Stored>, isRefreshed: Bool, in partition: String?
    ) throws -> Stored {
        let date = now()
        let leeway = effectiveLeeway(of: credential, at: date)
        return try state.withLock { state in
            guard var current = state.partitions[partition], current.pendingRefresh === refresh else {
                throw CancellationError()
            }
            state.generation += 1
            let stored = Stored(
                credential: credential, generation: state.generation, leeway: leeway, isRefreshed: isRefreshed)
            current.stored = stored
            (current.pendingRefresh, current.isLoaded, current.isRejected, current.failure) = (nil, true, false, nil)
            if isRefreshed { current.recordRefresh(at: date, refreshLimit) }
            state.partitions[partition] = current
            return stored
        }
    }

    /// Returns the leeway for a credential. It is zero for a credential that expires within the leeway, so that it is
    /// not refreshed before each request. Nil when it is already expired.
    func effectiveLeeway(of credential: A.Credential, at date: Date) -> Duration? {
        if !authenticator.needsRefresh(credential, at: date.addingTimeInterval(leeway.seconds)) { return leeway }
        return authenticator.needsRefresh(credential, at: date) ? nil : .zero
    }

    /// Saves a credential, or removes the saved one for nil, unless it was replaced. If that fails, the monitors of the
    /// request receive an event, and a new credential stays in use.
    private func save(_ stored: Stored?, for request: NetworkRequest) async {
        let partition = request.options.partition
        do {
            try await saving.run { [self] in
                let current = state.withLock { $0.partitions[partition]?.stored?.generation }
                guard current == stored?.generation else { return }
                try await authenticator.save(stored?.credential, in: partition)
            }
        } catch {
            let problem =
                stored == nil ? "the saved credential could not be removed" : "the new credential could not be saved"
            request.report(.note("\(problem): \(NetworkError.caught(error).summary)"))
        }
    }

    /// Records a failed refresh, unless it was superseded. Returns whether a credential was lost.
    @discardableResult
    private func recordFailure(
        _ error: NetworkError, isLost: Bool, of refresh: SharedOperation<Stored>, in partition: String?
    ) -> Bool {
        state.withLock { state in
            guard var current = state.partitions[partition], current.pendingRefresh === refresh else { return false }
            (current.pendingRefresh, current.failure) = (nil, error)
            current.failures += 1
            let isRemoved = isLost && current.stored != nil
            if isRemoved { current.stored = nil }
            state.partitions[partition] = current
            return isRemoved
        }
    }

    private static func failure(_ error: any Error) -> NetworkError {
        var problem = "refreshing the credential"
        guard let error = error as? NetworkError else {
            let cause = error is CancellationError ? "its refresh was cancelled" : NetworkError.text(of: error)
            return NetworkError(.cannotAuthenticate, reason: "\(problem) failed: \(cause)", underlying: error)
        }
        if let url = error.url { problem += " from \(Redaction.standard.url(url.absoluteString))" }
        // The URL is not directly before the colon: "token: …" would be redacted.
        problem += " failed"
        // The status of the refresh is not the status of the waiting request.
        let isResponse = error.code.isStatus || error.code.isKind(of: .cannotDecodeResponse)
        let code = isResponse || error.code == .cancelled ? .cannotAuthenticate : error.code
        // With the same code, the title already describes the failure.
        guard error.code == code else {
            return NetworkError(code, reason: "\(problem): \(error.summary)", underlying: error)
        }
        let isComplete = code == .cannotAuthenticate && error.url == nil
        let reason = error.reason.map { isComplete ? $0 : "\(problem): \($0)" } ?? problem
        var failure = NetworkError(code, reason: reason, underlying: error)
        failure.isOffline = error.isOffline
        return failure
    }
}

/// No saved credential exists, and the request does not require one.
struct NotSignedIn: Error {}
