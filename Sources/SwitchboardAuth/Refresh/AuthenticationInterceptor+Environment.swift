import Switchboard

// Credentials are kept by partition, which for the requests of a manager is its environment.
extension AuthenticationInterceptor {
    /// The credential of an environment; nil when there is none. See ``credential(in:)-(String?)``.
    public func credential(in environment: NetworkEnvironment) async throws -> A.Credential? {
        try await NetworkEnvironment.withCurrent(environment) { try await credential(in: environment.name) }
    }

    /// Uses a credential for the requests of an environment from now on, and saves it.
    ///
    /// - Throws: What saving it threw. It is used all the same.
    public func signIn(_ credential: A.Credential, in environment: NetworkEnvironment) async throws {
        try await NetworkEnvironment.withCurrent(environment) { try await signIn(credential, in: environment.name) }
    }

    /// Forgets the credential of an environment, the saved one too.
    ///
    /// - Throws: What removing the saved one threw. It is forgotten all the same.
    public func signOut(in environment: NetworkEnvironment) async throws {
        try await NetworkEnvironment.withCurrent(environment) { try await signOut(in: environment.name) }
    }
}
