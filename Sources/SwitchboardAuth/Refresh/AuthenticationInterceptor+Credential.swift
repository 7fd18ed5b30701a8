import SwitchboardPlatform
import Switchboard

extension AuthenticationInterceptor {
    /// Returns the current or saved credential, or nil without one. It is not refreshed.
    ///
    /// The requests of a manager are in the partition of its environment: `credential(in: manager.environment)`. Those
    /// of a router without a manager are in no partition: nil.
    ///
    /// - Throws: The error of loading the credential.
    public func credential(in partition: String?) async throws -> A.Credential? {
        let space = state.withLock { $0.spaces[partition] ?? Space() }
        if let held = space.held { return held.credential }
        return space.isLoaded ? nil : try await authenticator.load(in: partition)
    }

    /// Uses a credential from now on, for example after a login, and saves it. The requests of a manager are in the
    /// partition of its environment: `signIn(token, in: manager.environment)`. Those of a router without a manager are
    /// in no partition: nil. The credential supersedes a refresh in flight, and requests that wait for that refresh use
    /// it. An expired credential is sent as it is, because a clock may be wrong: the 401 refreshes it.
    ///
    /// - Throws: The error of saving the credential. It is used in any case.
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

    /// Removes the credential of this partition, including the saved one: the partition that `signIn(_:in:)` got.
    /// Requests that wait for a new credential fail with `NetworkError.Code.cannotAuthenticate`.
    ///
    /// - Throws: The error of removing the saved credential. It is not used again in any case.
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
    /// Removes the credentials of all partitions, including saved ones, and cancels refreshes in flight.
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
