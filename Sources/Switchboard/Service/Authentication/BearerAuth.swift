import Foundation

/// Adds `Authorization: Bearer` to each request ([RFC 6750 §2.1](https://www.rfc-editor.org/rfc/rfc6750#section-2.1)).
///
/// ```swift
/// BearerAuth("token")
/// BearerAuth { await account.token }        // nil: no user is signed in
/// ```
///
/// A request that has an `Authorization` field, or a user in its URL, keeps it. An empty token fails with
/// ``NetworkError/Code/cannotAuthenticate``. A 401 is returned as the result. To refresh tokens, use
/// `AuthenticationInterceptor`.
public struct BearerAuth: Interceptor, ExchangeInterceptor, RequestAdapter {
    private let source: CredentialSource<String>
    private let origins: CredentialOrigins

    /// Creates an interceptor with a fixed token.
    public init(_ token: String, origins: CredentialOrigins = .endPoints) {
        source = CredentialSource(token)
        self.origins = origins
    }

    /// Creates an interceptor that requests the token from a provider. The provider runs once for all requests of an
    /// environment and a partition that wait at the same time, and again for the next one. If it returns nil, no token
    /// is sent. If it throws, those requests fail: a ``NetworkError`` is thrown unchanged, any other error within
    /// ``NetworkError/Code/cannotAuthenticate``. A request that the provider itself sends through the same router
    /// carries no token.
    public init(origins: CredentialOrigins = .endPoints, provider: @escaping @Sendable () async throws -> String?) {
        source = CredentialSource(provider)
        self.origins = origins
    }

    /// Adds the token to a request.
    public func adapt(_ request: inout NetworkRequest) async throws {
        guard request.acceptsSignIn(for: origins), !request.hasAuthorization else { return }
        request.recordSignIn()
        guard let token = try await source.value(request) else { return try request.requireNoSignIn() }
        // RFC 6750 §2.1 allows no empty token. A setting is probably missing.
        guard !token.isEmpty else {
            throw NetworkError(.cannotAuthenticate, reason: "the bearer token is empty")
        }
        request.setCredential("Authorization", "Bearer \(token)")
    }
}

extension BearerAuth: DumpedAsDescription {
    /// The name of the type, without the token.
    public var description: String { "BearerAuth" }
}
