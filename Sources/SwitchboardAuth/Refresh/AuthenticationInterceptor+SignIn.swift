import Switchboard
import SwitchboardPlatform

extension AuthenticationInterceptor {
    /// Returns the current or saved credential, or nil without one. It is not refreshed.
    ///
    /// The requests of a manager are in the partition of its environment: `credential(in: manager.environment)`. Those
    /// of a router without a manager are in no partition: nil.
    ///
    /// - Throws: The error of loading the credential.
    public func credential(in partition: String?) async throws -> A.Credential? {
        let current = state.withLock { $0.partitions[partition] ?? Partition() }
        if let stored = current.stored { return stored.credential }
        return current.isLoaded ? nil : try await load(in: partition)
    }

    /// Sets and saves a credential, for example after a login. The requests of a manager are in the partition of its
    /// environment: `signIn(token, in: manager.environment)`. Those of a router without a manager are in no partition:
    /// nil. The credential supersedes a refresh in flight, and requests that wait for that refresh use it. An expired
    /// credential is sent unchanged, because a clock may be wrong: a 401 refreshes it.
    ///
    /// - Throws: The error of saving the credential. It is used in any case.
    public func signIn(_ credential: A.Credential, in partition: String?) async throws {
        let leeway = effectiveLeeway(of: credential, at: now())
        let (stored, refresh, save) = state.withLock { state in
            state.generation += 1
            let stored = Stored(credential: credential, generation: state.generation, leeway: leeway)
            let current = state.partitions[partition] ?? Partition()
            state.partitions[partition] = Partition(stored: stored, isLoaded: true, removals: current.removals)
            return (
                stored, current.pendingRefresh,
                saving.start { try await self.authenticator.save(credential, in: partition) }
            )
        }
        refresh?.finish(.success(stored))
        try await saving.wait(for: save)
    }

    /// Removes the credential of a partition, including the saved one; see `signIn(_:in:)` for the partition. Requests
    /// that wait for a new credential fail with `NetworkError.Code.cannotAuthenticate`.
    ///
    /// - Throws: The error of removing the saved credential. It is not used again in any case.
    public func signOut(in partition: String?) async throws {
        let (refresh, removal) = state.withLock { state in
            let current = state.partitions[partition] ?? Partition()
            let removal = saving.start { try await self.authenticator.save(nil, in: partition) }
            state.partitions[partition] = Partition(isLoaded: true, removals: current.removals + 1, removal: removal)
            return (current.pendingRefresh, removal)
        }
        refresh?.finish(
            .failure(
                NetworkError(
                    .cannotAuthenticate, reason: "a sign-out removed the credential while the request waited for it")))
        try await saving.wait(for: removal)
    }
}

extension AuthenticationInterceptor: Resettable {
    /// Removes the credentials of all partitions, including saved ones, and cancels refreshes in flight.
    public func reset() async {
        let (refreshes, removal) = state.withLock { state in
            defer { state.partitions = state.partitions.mapValues { Partition(removals: $0.removals + 1) } }
            state.resets += 1
            let refreshes = state.partitions.values.compactMap(\.pendingRefresh)
            let removal = saving.start {
                await self.authenticator.reset()
                self.state.withLock { $0.resets -= 1 }
            }
            state.removal = removal
            return (refreshes, removal)
        }
        for refresh in refreshes {
            refresh.finish(
                .failure(
                    NetworkError(
                        .cannotAuthenticate, reason: "a reset removed the credential while the request waited for it")))
        }
        try? await saving.wait(for: removal)
    }
}

// Credentials belong to partitions. The partition of a manager's requests is its environment.
extension AuthenticationInterceptor {
    /// Returns the credential of an environment, or nil without one. See ``credential(in:)-(String?)``.
    public func credential(in environment: NetworkEnvironment) async throws -> A.Credential? {
        try await NetworkEnvironment.withCurrent(environment) { try await credential(in: environment.name) }
    }

    /// Sets and saves the credential of an environment.
    ///
    /// - Throws: The error of saving the credential. It is used in any case.
    public func signIn(_ credential: A.Credential, in environment: NetworkEnvironment) async throws {
        try await NetworkEnvironment.withCurrent(environment) { try await signIn(credential, in: environment.name) }
    }

    /// Removes the credential of an environment, including the saved one.
    ///
    /// - Throws: The error of removing the saved credential. It is not used again in any case.
    public func signOut(in environment: NetworkEnvironment) async throws {
        try await NetworkEnvironment.withCurrent(environment) { try await signOut(in: environment.name) }
    }
}

// Requests that do not require a credential; see `RequestOptions.authentication`.
extension AuthenticationInterceptor {
    /// Returns whether a request is sent without a credential: it requires none, and no user is signed in. A temporary
    /// failure does not sign the user out.
    func proceedsWithoutCredential(_ request: NetworkRequest, after error: any Error) -> Bool {
        guard request.options.authentication == .optional, !(error is CancellationError),
            error is NotSignedIn || partitionState(of: request).isSignedOut
        else { return false }
        request.report(.authentication("not signed in; sent without a credential"))
        return true
    }

    /// Returns a hint for the text of an error if a credential exists outside of partitions, or else an empty text.
    func hint(about partition: String?) -> String {
        guard partition != nil, state.withLock({ $0.partitions[nil]?.stored != nil }) else { return "" }
        return "; there is a sign-in without an environment (in: nil), which managers do not use"
    }
}
