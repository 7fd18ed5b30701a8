import Switchboard

/// Stores tokens, one for each partition; see `RequestOptions.partition`.
///
/// Conform to it for a keychain. One ``AuthenticationInterceptor`` saves and removes one token at a time, and may load
/// tokens meanwhile.
public protocol TokenStore: Sendable {
    /// Returns the token, or nil without one.
    func load(_ partition: String?) async throws -> OAuthToken?
    /// Stores a token in place of the previous one.
    func save(_ token: OAuthToken, _ partition: String?) async throws
    /// Removes the token. A missing token is no error.
    func remove(_ partition: String?) async throws
    /// Removes the tokens of all partitions.
    func removeAll() async throws
}
