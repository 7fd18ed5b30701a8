import Switchboard

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
