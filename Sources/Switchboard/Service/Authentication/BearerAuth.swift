import Foundation

/// `Authorization: Bearer` ([RFC 6750 §2.1](https://www.rfc-editor.org/rfc/rfc6750#section-2.1)).
///
/// ```swift
/// BearerAuth(token)
/// BearerAuth { await account.token }        // nil: nobody is signed in
/// ```
///
/// A request that has an `Authorization`, or a user in its URL, keeps it. A 401 is the result; a token that is to be
/// refreshed is for `AuthenticationInterceptor`.
public struct BearerAuth: Interceptor, ExchangeInterceptor, RequestAdapter {
    private let source: CredentialSource<String>
    private let origins: CredentialOrigins

    /// Always the same token.
    public init(_ token: String, origins: CredentialOrigins = .asked) {
        source = CredentialSource(token)
        self.origins = origins
    }

    /// Asks for the token: once for all requests that wait at that time, and again for the next one. Nil sends none. What
    /// the provider throws ends those requests: a ``NetworkError`` as it is, anything else within
    /// ``NetworkError/Code/cannotAuthenticate``.
    public init(origins: CredentialOrigins = .asked, provider: @escaping @Sendable () async throws -> String?) {
        source = CredentialSource(provider)
        self.origins = origins
    }

    /// Adds the token.
    public func adapt(_ request: inout NetworkRequest) async throws {
        guard request.takesSignIn(for: origins), !request.hasAuthorization else { return }
        request.noteSignIn()
        guard let token = try await source.value(for: request) else { return try request.checkSignIn() }
        // RFC 6750 §2.1 has no empty one: most likely a setting is missing.
        guard !token.isEmpty else {
            throw NetworkError(.cannotAuthenticate, reason: "the bearer token is empty")
        }
        request.setCredential("Authorization", "Bearer \(token)")
    }
}

extension BearerAuth: CustomStringConvertible, CustomReflectable {
    /// Without the token.
    public var description: String { "BearerAuth" }
    /// Shows the redacted line only, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
