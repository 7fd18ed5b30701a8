import Foundation

/// `Authorization: Basic`, with the first sending: no answer has to ask for it ([RFC
/// 7617](https://www.rfc-editor.org/rfc/rfc7617)).
///
/// ```swift
/// BasicAuth(user: "anna", password: password)
/// BasicAuth { try await keychain.credentials() }
/// ```
///
/// A request that has an `Authorization`, or a user in its URL, keeps it. ``RequestOptions/credentials`` give a request
/// others. A 401 is the result: it would come again.
public struct BasicAuth: Interceptor, ExchangeInterceptor, RequestAdapter {
    private let source: CredentialSource<BasicCredentials>
    private let origins: CredentialOrigins

    /// Always the same user and password, in UTF-8. A user with a colon ends each request with
    /// ``NetworkError/Code/invalidRequest``.
    public init(user: String, password: String, origins: CredentialOrigins = .asked) {
        source = CredentialSource(BasicCredentials(user: user, password: password))
        self.origins = origins
    }

    /// Asks for them: once for all requests that wait at that time, and again for the next one. Nil sends none. What
    /// the provider throws ends those requests: a ``NetworkError`` as it is, anything else within
    /// ``NetworkError/Code/cannotAuthenticate``.
    public init(
        origins: CredentialOrigins = .asked, provider: @escaping @Sendable () async throws -> BasicCredentials?
    ) {
        source = CredentialSource(provider)
        self.origins = origins
    }

    /// Adds the credentials.
    public func adapt(_ request: inout NetworkRequest) async throws {
        guard request.takesSignIn(for: origins), !request.hasAuthorization else { return }
        request.noteSignIn()
        let asked = request
        guard let credentials = try await request.options.credentials.orElse({ try await source.value(for: asked) })
        else { return try request.checkSignIn() }
        request.setCredential("Authorization", try credentials.headerValue())
    }
}

extension Optional {
    /// This value, or what an operation gives when there is none.
    package func orElse(_ other: () async throws -> Wrapped?) async rethrows -> Wrapped? {
        if let self { return self }
        return try await other()
    }
}

extension BasicAuth: CustomStringConvertible, CustomReflectable {
    /// Without the credentials.
    public var description: String { "BasicAuth" }
    /// Shows the redacted line only, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
