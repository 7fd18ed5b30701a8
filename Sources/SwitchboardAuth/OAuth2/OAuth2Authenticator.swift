import Foundation
import Switchboard
import SwitchboardPlatform

/// Authenticates with the tokens of an OAuth 2 server, for an ``AuthenticationInterceptor``.
///
/// ```swift
/// let login = AuthenticationInterceptor(
///     client, store: FileTokenStore(tokenFile))
/// let manager = NetworkManager(interceptors: [login])
///
/// let request = try client.authorizationRequest()
/// let redirect = try await showBrowser(request.url)
/// let token = try await client.token(for: redirect, of: request)
/// // Saves the token and sends it in this environment.
/// try await login.signIn(token, in: manager.environment)
/// try await login.signOut(in: manager.environment)
/// ```
///
/// The first request loads the saved token. A token that has expired, or that a server rejects, is refreshed, or
/// requested again with ``Grant/clientCredentials``. After `invalid_grant`, and without a refresh token, the token is
/// removed. Requests then fail with `NetworkError.Code.cannotAuthenticate` until the user signs in.
///
/// Several processes may share a store. A token that another process has refreshed and saved is used in place of a
/// refresh. Over a ``FileTokenStore``, a process waits up to 10 seconds for the refresh of another one. A token that another
/// process has removed is not refreshed. A sign-in or sign-out reaches each process at its next refresh. A process that
/// could not remove its token at a sign-out uses none of the store until its next sign-in or launch.
///
/// If the response of a refresh is lost, the next request sends the same refresh token again. A server that rotates
/// refresh tokens may have replaced it (RFC 9700, §4.14.2), and then responds with a new token or with `invalid_grant`.
public struct OAuth2Authenticator: Authenticator {
    /// The source of new tokens.
    public enum Grant: Sendable, Hashable {
        /// The refresh token of the previous token. The first token comes from a login.
        case refreshToken
        /// The id and secret of the client, also for the first token.
        case clientCredentials
    }

    /// The client that requests tokens from the server.
    public let client: OAuth2Client
    /// The source of new tokens.
    public let grant: Grant
    private let store: any TokenStore
    /// The partitions saved since a reset that failed, whose store still has older tokens of the others. Nil without
    /// one.
    private let savedSinceReset = Protected<Set<String?>?>(nil)
    /// The states of the tokens in the store.
    private let states = Protected<[String?: StoreState]>([:])

    /// The state of a partition's token in the store.
    private struct StoreState {
        /// The identity of the token that this authenticator last used from the store or saved in it. Empty for a store
        /// without one. Nil if no token of the store may be used.
        var last: String?
        var result: RefreshResult?
    }

    /// The result of a refresh that is not saved yet.
    private enum RefreshResult {
        /// A token of the store. Saving it could overwrite a newer token of another process.
        case taken(OAuthToken)
        /// A new token, and the identities of the tokens in the store that it replaces.
        case refreshed(OAuthToken, replacing: Set<String>)
        /// The identity of a token whose refresh ended with `invalid_grant`, or that another process removed. Another
        /// process may have replaced it.
        case refused(String)
    }

    /// Creates an authenticator. By default tokens are stored only in memory.
    public init(
        _ client: OAuth2Client, grant: Grant = .refreshToken, store: any TokenStore = MemoryTokenStore()
    ) {
        self.client = client
        self.grant = grant
        self.store = store
    }

    /// Sets `Authorization: Bearer`.
    public func apply(_ credential: OAuthToken, to request: inout NetworkRequest) {
        request.headers.set(.authorization(bearerToken: credential.accessToken))
    }

    /// Returns whether the token has expired at a date. False for a token that has not expired yet and cannot be
    /// refreshed.
    public func needsRefresh(_ credential: OAuthToken, at date: Date) -> Bool {
        guard credential.isExpired(at: date) else { return false }
        let canBeRefreshed = grant == .clientCredentials || credential.nonemptyRefreshToken != nil
        return canBeRefreshed || credential.isExpired(at: client.now())
    }

    /// Obtains a new token from the server, or the token that another process saved in the store meanwhile.
    public func refresh(_ credential: OAuthToken?, in partition: String?) async throws -> OAuthToken {
        switch grant {
        case .clientCredentials:
            let replacement = try? await replacement(of: credential, in: partition)
            if let replacement, !replacement.isExpired(at: client.now()) { return try take(replacement, in: partition) }
            return try await client.clientCredentials()
        case .refreshToken:
            guard let credential else {
                guard let newer = try await replacement(of: nil, in: partition) else {
                    throw Self.notSignedIn(in: partition)
                }
                guard newer.isExpired(at: client.now()) else { return try take(newer, in: partition) }
                states.withLock { $0[partition, default: StoreState()].last = newer.identity }
                do {
                    return try await refresh(newer, storedIn: partition)
                } catch {
                    states.withLock { states in
                        // The interceptor has not used the token, and does not remove it.
                        if case .refused? = states[partition]?.result { states[partition]?.result = nil }
                        // The next request finds it again, unless the server refused it.
                        if !isLost(after: error), states[partition]?.last == newer.identity {
                            states[partition]?.last = ""
                        }
                    }
                    throw error
                }
            }
            return try await refresh(credential, storedIn: partition)
        }
    }

    private static func notSignedIn(in partition: String?, _ cause: String = "") -> NetworkError {
        let suffix = partition.map { " for \($0)" } ?? ""
        return OAuthError(.notSignedIn, text: "not signed in\(suffix)\(cause)").asNetworkError()
    }

    /// Refreshes a token, unless another process has replaced it in the store: servers accept a refresh token once.
    private func refresh(_ token: OAuthToken, storedIn partition: String?) async throws -> OAuthToken {
        let replacement = try await replacement(of: token, in: partition)
        // A server may have rejected the access token, and another process replaced only the refresh token.
        if let replacement, replacement.accessToken != token.accessToken, !replacement.isExpired(at: client.now()) {
            return try take(replacement, in: partition)
        }
        let sent = replacement ?? token
        let fresh: OAuthToken
        do {
            fresh = try await client.refresh(sent)
        } catch let error as NetworkError where error.oauthError?.code == .invalidGrant {
            // Another process may have refreshed the token at the same time.
            guard let newer = try await self.replacement(of: sent, in: partition) else {
                refuse(sent, in: partition)
                throw error
            }
            return try take(newer, in: partition)
        }
        // Another process may have signed out or in meanwhile.
        let newer = try await self.replacement(of: token, in: partition)
        if let newer, newer.identity != sent.identity { return try take(newer, in: partition) }
        states.withLock { states in
            // The interceptor discards the result of a canceled refresh, and the next one may have its own by now.
            guard !Task.isCancelled, let last = states[partition]?.last else { return }
            states[partition]?.result = .refreshed(fresh, replacing: [last, token.identity, sent.identity])
        }
        return fresh
    }

    /// Uses a token of the store. The interceptor discards the result of a canceled refresh, so the next one must find
    /// the token again.
    private func take(_ token: OAuthToken, in partition: String?) throws -> OAuthToken {
        try Task.checkCancellation()
        states.withLock { $0[partition] = StoreState(last: token.identity, result: .taken(token)) }
        return token
    }

    /// Returns the token that another process saved in place of this authenticator's, or nil without one. A save of the
    /// rejected token may be unfinished, or have failed after writing it.
    ///
    /// - Throws: ``OAuthError/Code/notSignedIn`` when another process removed the token: its sign-out is for all
    ///   processes.
    private func replacement(of rejected: OAuthToken?, in partition: String?) async throws -> OAuthToken? {
        guard let last = states.withLock({ $0[partition]?.last }) else { return nil }
        let token: OAuthToken?
        do {
            token = try await saved(in: partition)
        } catch {
            return nil
        }
        guard let token else {
            guard let rejected, rejected.identity == last else { return nil }
            refuse(rejected, in: partition)
            throw Self.notSignedIn(in: partition, ": another process removed the token")
        }
        // A store may keep no refresh tokens.
        if token.nonemptyRefreshToken == nil, token.accessToken == rejected?.accessToken { return nil }
        return [last, rejected?.identity].contains(token.identity) ? nil : token
    }

    /// Records a token that a refresh found to be of no use. A sign-in or sign-out cancels the refresh, and a later
    /// removal is not about this token.
    private func refuse(_ token: OAuthToken, in partition: String?) {
        guard !Task.isCancelled else { return }
        states.withLock { $0[partition, default: StoreState()].result = .refused(token.identity) }
    }

    /// Returns true after `invalid_grant`, and without a refresh token. A failed connection does not invalidate the
    /// token.
    public func isLost(after error: any Error) -> Bool {
        let code = (error as? NetworkError)?.oauthError?.code
        return code == .invalidGrant || code == .notSignedIn
    }

    /// Returns the token in the store, unless it should have been removed by a ``reset()`` that failed.
    public func load(in partition: String?) async throws -> OAuthToken? {
        let token = try await saved(in: partition)
        states.withLock { $0[partition, default: StoreState()].last = token?.identity ?? "" }
        return token
    }

    private func saved(in partition: String?) async throws -> OAuthToken? {
        guard savedSinceReset.withLock({ $0?.contains(partition) ?? true }) else { return nil }
        return try await store.load(in: partition)
    }

    /// Saves the token in the store, or removes it for nil. After a refresh or `invalid_grant`, a token that another
    /// process has saved meanwhile stays there; a ``FileTokenStore`` checks that under its lock.
    public func save(_ credential: OAuthToken?, in partition: String?) async throws {
        let (last, result) = states.withLock { states in
            defer { states[partition]?.result = nil }
            return (states[partition]?.last, states[partition]?.result)
        }
        guard let credential else {
            if case .refused(let refused)? = result, let last {
                // The state keeps the lost token, so that a later refresh finds one of another process.
                return try await remove(in: partition) { [last, refused].contains($0.identity) }
            }
            // If the removal fails, no token of the store is used until the next sign-in.
            states.withLock { $0[partition]?.last = nil }
            try await store.remove(in: partition)
            return states.withLock { $0[partition, default: StoreState()].last = "" }
        }
        if case .taken(credential)? = result { return }
        if let store = store as? FileTokenStore, case .refreshed(credential, replacing: let replaced)? = result {
            // A sign-in or sign-out of another process stays, and this one notices it at its next refresh.
            try await store.save(credential, in: partition, replacing: replaced)
        } else {
            try await store.save(credential, in: partition)
        }
        savedSinceReset.withLock { _ = $0?.insert(partition) }
        states.withLock { $0[partition, default: StoreState()].last = credential.identity }
    }

    private func remove(in partition: String?, where isRemoved: @escaping @Sendable (OAuthToken) -> Bool) async throws {
        if let store = store as? FileTokenStore { return try await store.remove(in: partition, where: isRemoved) }
        if let token = try? await store.load(in: partition), !isRemoved(token) { return }
        try await store.remove(in: partition)
    }

    /// Removes all tokens from the store. If that fails, this authenticator does not load them again.
    public func reset() async {
        _ = states.swap([:])
        do {
            try await store.removeAll()
            savedSinceReset.withLock { $0 = nil }
        } catch {
            savedSinceReset.withLock { $0 = [] }
            StandardError.write("Switchboard: a reset could not remove the saved tokens; the next launch loads them\n")
        }
    }

    /// Runs a refresh under the lock of the store.
    public func withRefreshLock<Value: Sendable>(
        in partition: String?, _ refresh: @Sendable () async throws -> Value
    ) async throws -> Value {
        try await store.withRefreshLock(in: partition, refresh)
    }
}

extension AuthenticationInterceptor where A == OAuth2Authenticator {
    /// Creates an interceptor that sends the tokens of an OAuth 2 server. By default tokens are stored only in memory.
    ///
    /// - Parameters:
    ///   - client: The client that requests tokens from the server.
    ///   - grant: The source of new tokens.
    ///   - store: The store of tokens.
    ///   - origins: The origins that tokens may be sent to.
    public convenience init(
        _ client: OAuth2Client, grant: OAuth2Authenticator.Grant = .refreshToken,
        store: any TokenStore = MemoryTokenStore(), origins: CredentialOrigins = .endPoints
    ) {
        self.init(OAuth2Authenticator(client, grant: grant, store: store), origins: origins)
    }
}
