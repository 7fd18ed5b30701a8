import Foundation
import Switchboard

/// Knows one kind of credential: how a request carries it, and how it is renewed. ``AuthenticationInterceptor`` does the
/// rest.
///
/// ```swift
/// struct SessionKeys: Authenticator {
///     let login: Router<LoginApi>
///
///     func apply(_ key: SessionKey, to request: inout NetworkRequest) {
///         request.headers["X-Session"] = key.value
///     }
///
///     func refresh(_ key: SessionKey?, in partition: String?) async throws -> SessionKey {
///         try await login.request(.renew(key), as: SessionKey.self)
///     }
/// }
/// ```
///
/// Which credential a request was sent with is noted by the interceptor: nothing has to be compared.
public protocol Authenticator: Sendable {
    /// What a request is authenticated with. Give it a `description` without secrets.
    associatedtype Credential: Sendable

    /// Writes a credential into a request. The fields that it changes are not sent to another origin.
    func apply(_ credential: Credential, to request: inout NetworkRequest) throws

    /// Gets a new credential. Never called twice at a time for one partition, and never called again from within itself:
    /// a request that it sends through the same router goes out without a credential.
    ///
    /// - Parameters:
    ///   - credential: The one that has expired or was refused; nil when there is none yet.
    ///   - partition: Whose credential it is; see `RequestOptions.partition`.
    /// - Returns: The new one, which may be the old one with another date.
    /// - Throws: What ends every request that waits; see ``isLost(after:)``.
    func refresh(_ credential: Credential?, in partition: String?) async throws -> Credential

    /// Whether a response means that the credential was refused. By default, status 401.
    func isAuthenticationFailure(_ response: NetworkResponse) -> Bool

    /// Whether a credential is no longer good at a date, so that it is refreshed before it is used. Default never.
    func needsRefresh(_ credential: Credential, at date: Date) -> Bool

    /// Whether a refresh that failed with this error has shown that the credential is worth nothing, and is to be
    /// forgotten. By default, for `NetworkError.Code.cannotAuthenticate`. After any other failure it is kept, and the next
    /// request tries again.
    func isLost(after error: any Error) -> Bool

    /// The credential that was saved; nil when none was. Asked once for each partition, before its first request. Default
    /// nil.
    func load(in partition: String?) async throws -> Credential?

    /// Saves a new credential, or removes the saved one when it is nil. Called one at a time. Default nothing.
    func save(_ credential: Credential?, in partition: String?) async throws

    /// Removes everything that was saved, of every partition. Default nothing.
    func reset() async
}

extension Authenticator {
    /// Status 401.
    public func isAuthenticationFailure(_ response: NetworkResponse) -> Bool { response.statusCode == 401 }
    /// Never.
    public func needsRefresh(_ credential: Credential, at date: Date) -> Bool { false }
    /// For `NetworkError.Code.cannotAuthenticate`.
    public func isLost(after error: any Error) -> Bool { NetworkError.Code.cannotAuthenticate ~= error }
    /// Nil.
    public func load(in partition: String?) async throws -> Credential? { nil }
    /// Nothing.
    public func save(_ credential: Credential?, in partition: String?) async throws {}
    /// Nothing.
    public func reset() async {}
}
