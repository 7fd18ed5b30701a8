import Switchboard

// Credentials belong to partitions. The partition of a manager's requests is its environment.
extension AuthenticationInterceptor {
    /// Returns the credential of an environment, or nil without one. See ``credential(in:)-(String?)``.
    public func credential(in environment: NetworkEnvironment) async throws -> A.Credential? {
        try await NetworkEnvironment.withCurrent(environment) { try await credential(in: environment.name) }
    }

    /// Uses a credential for the requests of an environment from now on, and saves it.
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
