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
