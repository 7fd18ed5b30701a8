import Switchboard

/// Stores tokens, one for each partition; see `RequestOptions.partition`.
///
/// Conform to it for a keychain. An ``AuthenticationInterceptor`` saves and removes one token at a time, and may load
/// tokens concurrently.
public protocol TokenStore: Sendable {
    /// Returns the token, or nil without one. Nil for a token that this process has saved or loaded means that another
    /// process has signed out. Throw when the store cannot be read.
    func load(in partition: String?) async throws -> OAuthToken?
    /// Stores a token in place of the previous one.
    func save(_ token: OAuthToken, in partition: String?) async throws
    /// Removes the token. A missing token is not an error.
    func remove(in partition: String?) async throws
    /// Removes the tokens of all partitions.
    func removeAll() async throws
    /// Runs a refresh, which loads the token, requests a new one and saves it. A store that several processes share lets
    /// one of them refresh at a time: a server may take a refresh token that arrives twice for stolen, and end the
    /// sign-in. By default, runs it at once.
    ///
    /// Calls the closure once, even if the lock is not available. The wait is limited, and ends when the task is
    /// canceled. A type that wraps another one forwards the call.
    ///
    /// - Throws: The error of the refresh, or `CancellationError` while it waits.
    func withRefreshLock<Value: Sendable>(
        in partition: String?, _ refresh: @Sendable () async throws -> Value
    ) async throws -> Value
}

extension TokenStore {
    /// Runs the refresh at once.
    public func withRefreshLock<Value: Sendable>(
        in partition: String?, _ refresh: @Sendable () async throws -> Value
    ) async throws -> Value {
        try await refresh()
    }
}

/// Stores tokens in memory, until the process ends.
public actor MemoryTokenStore: TokenStore {
    private var tokens: [String?: OAuthToken]

    /// Creates a store. `token` is the first token for requests without a partition.
    public init(_ token: OAuthToken? = nil) {
        tokens = token.map { [nil: $0] } ?? [:]
    }

    /// Returns the token, or nil without one.
    public func load(in partition: String?) -> OAuthToken? { tokens[partition] }
    /// Stores a token in place of the previous one.
    public func save(_ token: OAuthToken, in partition: String?) { tokens[partition] = token }
    /// Removes the token.
    public func remove(in partition: String?) { tokens[partition] = nil }
    /// Removes the tokens of all partitions.
    public func removeAll() { tokens = [:] }
}
