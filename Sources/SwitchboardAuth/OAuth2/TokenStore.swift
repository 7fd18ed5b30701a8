import Switchboard

/// Keeps tokens, one for each partition: see `RequestOptions.partition`.
///
/// Adopt it for a keychain. Its functions are called one at a time by one ``AuthenticationInterceptor``.
public protocol TokenStore: Sendable {
    /// The token; nil when there is none.
    func load(_ partition: String?) async throws -> OAuthToken?
    /// Keeps a token in place of the one before.
    func save(_ token: OAuthToken, _ partition: String?) async throws
    /// Removes the token. It is no error when there is none.
    func remove(_ partition: String?) async throws
    /// Removes the tokens of all partitions.
    func removeAll() async throws
}

/// Keeps tokens for as long as the process lives.
public actor MemoryTokenStore: TokenStore {
    private var tokens: [String?: OAuthToken]

    /// Makes a store, with a token to begin with for requests without a partition.
    public init(_ token: OAuthToken? = nil) {
        tokens = token.map { [nil: $0] } ?? [:]
    }

    /// The token; nil when there is none.
    public func load(_ partition: String?) -> OAuthToken? { tokens[partition] }
    /// Keeps a token in place of the one before.
    public func save(_ token: OAuthToken, _ partition: String?) { tokens[partition] = token }
    /// Removes the token.
    public func remove(_ partition: String?) { tokens[partition] = nil }
    /// Removes the tokens of all partitions.
    public func removeAll() { tokens = [:] }
}
