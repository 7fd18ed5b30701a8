import SwitchboardPlatform
import Switchboard

extension AuthenticationInterceptor {
    /// The credential there is, the saved one included; nil when there is none. It is not refreshed.
    ///
    /// The requests of a manager are in the partition of its environment: `credential(in: manager.environment)`. Those of a
    /// router without one are in none: nil.
    ///
    /// - Throws: What loading it threw.
    public func credential(in partition: String?) async throws -> A.Credential? {
        let space = state.withLock { $0.spaces[partition] ?? Space() }
        if let held = space.held { return held.credential }
        return space.isLoaded ? nil : try await authenticator.load(in: partition)
    }

    /// Uses a credential from now on, after a login for instance, and saves it: for the requests of a partition,
    /// `signIn(token, in: manager.environment)`, or of none, nil, as those of a router without a manager are. A refresh under way has no say any more:
    /// those who wait for it go on with this one.
    ///
    /// - Throws: What saving it threw. It is used all the same.
    public func signIn(_ credential: A.Credential, in partition: String?) async throws {
        let leeway = usefulLeeway(of: credential, at: now())
        let (held, renewal) = state.withLock { state in
            state.generation += 1
            let held = Held(credential: credential, generation: state.generation, leeway: leeway)
            let renewal = state.spaces[partition]?.renewal
            state.spaces[partition] = Space(held: held, isLoaded: true)
            return (held, renewal)
        }
        renewal?.finish(.success(held))
        try await saving.run { [authenticator] in
            try await authenticator.save(credential, in: partition)
        }
    }

    /// Forgets the credential, the saved one too. Requests that wait for a new one fail with
    /// `NetworkError.Code.cannotAuthenticate`.
    ///
    /// - Throws: What removing the saved one threw. It is forgotten all the same.
    public func signOut(in partition: String?) async throws {
        let renewal = state.withLock { state in
            let renewal = state.spaces[partition]?.renewal
            state.spaces[partition] = Space(isLoaded: true)
            return renewal
        }
        renewal?.finish(.failure(NetworkError(.cannotAuthenticate, reason: "the credential was discarded")))
        try await saving.run { [authenticator] in
            try await authenticator.save(nil, in: partition)
        }
    }
}

extension AuthenticationInterceptor: Resettable {
    /// Forgets the credentials of all partitions, those that are saved too. A refresh under way is cancelled.
    public func reset() async {
        let renewals = state.withLock { state in
            defer { state.spaces = [:] }
            return state.spaces.values.compactMap(\.renewal)
        }
        for renewal in renewals {
            renewal.finish(.failure(NetworkError(.cannotAuthenticate, reason: "the credentials were reset")))
        }
        try? await saving.run { [authenticator] in await authenticator.reset() }
    }
}
