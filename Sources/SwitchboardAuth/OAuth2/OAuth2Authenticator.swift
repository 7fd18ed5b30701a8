import Foundation
import Switchboard

/// Authenticates with the tokens of an OAuth 2 server, for an ``AuthenticationInterceptor``.
///
/// ```swift
/// let login = AuthenticationInterceptor(OAuth2Authenticator(client, store: FileTokenStore(tokenFile)))
/// let manager = NetworkManager(interceptors: [login])
///
/// let request = try client.authorizationRequest()
/// let token = try await client.token(for: try await showBrowser(request.url), of: request)
/// try await login.signIn(token, in: manager.environment)                // from now on it is used there, and saved
/// try await login.signOut(in: manager.environment)
/// ```
///
/// The saved token is loaded with the first request. A token that has ended, or that a server refuses, is refreshed, or had
/// anew with ``Grant/clientCredentials``. After `invalid_grant`, and where there is nothing to refresh, the token is
/// forgotten, and requests fail with `NetworkError.Code.cannotAuthenticate` until somebody signs in.
public struct OAuth2Authenticator: Authenticator {
    /// Where new tokens come from.
    public enum Grant: Sendable, Hashable {
        /// From the refresh token of the one before. The first comes from a login.
        case refreshToken
        /// From the client's own id and secret, the first one too.
        case clientCredentials
    }

    /// What talks to the server.
    public let client: OAuth2Client
    /// Where new tokens come from.
    public let grant: Grant
    private let store: any TokenStore

    /// Makes an authenticator. By default tokens are kept in memory alone.
    public init(
        _ client: OAuth2Client, grant: Grant = .refreshToken, store: any TokenStore = MemoryTokenStore()
    ) {
        self.client = client
        self.grant = grant
        self.store = store
    }

    /// Writes `Authorization: Bearer`.
    public func apply(_ credential: OAuthToken, to request: inout NetworkRequest) {
        request.headers.set(.authorization(bearerToken: credential.accessToken))
    }

    /// Whether it has ended by then.
    public func needsRefresh(_ credential: OAuthToken, at date: Date) -> Bool {
        credential.isExpired(at: date)
    }

    /// Asks the server.
    public func refresh(_ credential: OAuthToken?, in partition: String?) async throws -> OAuthToken {
        switch grant {
        case .clientCredentials: return try await client.clientCredentials()
        case .refreshToken:
            guard let credential else {
                let place = partition.map { " for \($0)" } ?? ""
                throw OAuthError(.notSignedIn, text: "not signed in\(place)").thrown()
            }
            return try await client.refresh(credential)
        }
    }

    /// After `invalid_grant`, and when there is no refresh token. A server that is down says nothing about the token.
    public func isLost(after error: any Error) -> Bool {
        let code = (error as? NetworkError)?.oauthError?.code
        return code == .invalidGrant || code == .notSignedIn
    }

    /// The token in the store.
    public func load(in partition: String?) async throws -> OAuthToken? {
        try await store.load(partition)
    }

    /// Puts the token into the store.
    public func save(_ credential: OAuthToken?, in partition: String?) async throws {
        if let credential { try await store.save(credential, partition) } else { try await store.remove(partition) }
    }

    /// Empties the store.
    public func reset() async {
        try? await store.removeAll()
    }
}
