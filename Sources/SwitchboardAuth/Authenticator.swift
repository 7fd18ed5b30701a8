import Foundation
import Switchboard

/// Applies and refreshes one kind of credential, for an ``AuthenticationInterceptor``.
///
/// ```swift
/// struct SessionKeys: Authenticator {
///     let login: Router<LoginApi>
///
///     func apply(_ key: SessionKey, to request: inout NetworkRequest) {
///         request.headers["X-Session"] = key.value
///     }
///
///     func refresh(
///         _ key: SessionKey?, in partition: String?
///     ) async throws -> SessionKey {
///         try await login.request(.renew(key), as: SessionKey.self)
///     }
/// }
/// ```
///
/// The interceptor records the credential of each request. An authenticator need not compare credentials.
public protocol Authenticator: Sendable {
    /// The credential that authenticates a request. Give it a `description` without secrets.
    associatedtype Credential: Sendable

    /// Writes a credential into a request. The fields that it changes are not sent to another origin.
    func apply(_ credential: Credential, to request: inout NetworkRequest) throws

    /// Returns a new credential. One call runs at a time for each partition. A request that it sends through the same
    /// router carries no credential, so it starts no second refresh.
    ///
    /// - Parameters:
    ///   - credential: The credential that has expired or was rejected. Nil when none exists.
    ///   - partition: The partition of the credential; see `RequestOptions.partition`.
    /// - Returns: The new credential, which may be the old one with a new date.
    /// - Throws: An error for the waiting requests. Those whose credential is still valid are sent with it; see
    ///   ``isLost(after:)``.
    func refresh(_ credential: Credential?, in partition: String?) async throws -> Credential

    /// Returns whether the server rejected the credential. By default, for status 401.
    func isAuthenticationFailure(_ response: NetworkResponse) -> Bool

    /// Returns whether a credential has expired at a date, so that it is refreshed before it is used. By default,
    /// false.
    func needsRefresh(_ credential: Credential, at date: Date) -> Bool

    /// Returns whether the credential is removed after a failed refresh. By default,
    /// true for `NetworkError.Code.cannotAuthenticate`. After any other failure the credential is kept, and the next
    /// request tries again.
    func isLost(after error: any Error) -> Bool

    /// Returns the saved credential, or nil when none is saved. It is called when the credential of a partition is
    /// needed, and was neither loaded nor set. A request that it sends through the same router carries no credential.
    /// By default, nil.
    func load(in partition: String?) async throws -> Credential?

    /// Saves a new credential, or removes the saved one for nil. Calls run one at a time: a sign-in, sign-out or reset
    /// from within one neither waits for its own call nor throws its error. A request that a call sends through the same
    /// router may wait for a refresh, which waits for the call: give it `RequestOptions.Authentication.none`. By default,
    /// it does nothing.
    func save(_ credential: Credential?, in partition: String?) async throws

    /// Removes all saved credentials, of every partition. For requests that it sends, see ``save(_:in:)``. By default, it
    /// does nothing.
    func reset() async

    /// Runs a refresh: calls of ``refresh(_:in:)`` and ``save(_:in:)``. An authenticator whose credentials are shared by
    /// several processes lets one of them refresh at a time. Its ``refresh(_:in:)`` then looks for a credential that
    /// another process has saved. By default, runs the refresh at once.
    ///
    /// Calls the closure once, even if the lock is not available. The wait is limited, and ends when the task is
    /// canceled. A type that wraps another one forwards the call.
    ///
    /// - Throws: The error of the refresh, or `CancellationError` while it waits.
    func withRefreshLock<Value: Sendable>(
        in partition: String?, _ refresh: @Sendable () async throws -> Value
    ) async throws -> Value
}

extension Authenticator {
    /// Returns whether the status is 401.
    public func isAuthenticationFailure(_ response: NetworkResponse) -> Bool { response.statusCode == 401 }
    /// Returns false.
    public func needsRefresh(_ credential: Credential, at date: Date) -> Bool { false }
    /// Returns true for `NetworkError.Code.cannotAuthenticate`.
    public func isLost(after error: any Error) -> Bool { NetworkError.Code.cannotAuthenticate ~= error }
    /// Returns nil.
    public func load(in partition: String?) async throws -> Credential? { nil }
    /// Does nothing.
    public func save(_ credential: Credential?, in partition: String?) async throws {}
    /// Does nothing.
    public func reset() async {}
    /// Runs the refresh at once.
    public func withRefreshLock<Value: Sendable>(
        in partition: String?, _ refresh: @Sendable () async throws -> Value
    ) async throws -> Value {
        try await refresh()
    }
}
