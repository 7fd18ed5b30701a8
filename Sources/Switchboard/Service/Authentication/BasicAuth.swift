import SwitchboardText
import Foundation

/// Adds `Authorization: Basic` to each request, without waiting for a challenge ([RFC
/// 7617](https://www.rfc-editor.org/rfc/rfc7617)).
///
/// ```swift
/// BasicAuth(user: "anna", password: password)
/// BasicAuth {
///     BasicCredentials(
///         user: "anna", password: await account.token ?? "")
/// }
/// ```
///
/// A request that has an `Authorization` field, or a user in its URL, keeps it. ``RequestOptions/credentials`` replaces
/// the credentials for one request. A 401 is returned as the result, because a second attempt would end the same way.
public struct BasicAuth: Interceptor, ExchangeInterceptor, RequestAdapter {
    private let source: CredentialSource<BasicCredentials>
    private let origins: CredentialOrigins

    /// Creates an interceptor with a fixed user and password, in UTF-8. A user with a colon fails each request with
    /// ``NetworkError/Code/invalidRequest``.
    public init(user: String, password: String, origins: CredentialOrigins = .endPoints) {
        source = CredentialSource(BasicCredentials(user: user, password: password))
        self.origins = origins
    }

    /// Creates an interceptor that requests the credentials from a provider. The provider runs once for all requests of
    /// an environment and a partition that wait at the same time, and again for the next one. If it returns nil, no
    /// credentials are sent. If it throws, those requests fail: a ``NetworkError`` is thrown unchanged, any other error
    /// within ``NetworkError/Code/cannotAuthenticate``. A request that the provider itself sends through the same
    /// router carries no credentials.
    public init(
        origins: CredentialOrigins = .endPoints, provider: @escaping @Sendable () async throws -> BasicCredentials?
    ) {
        source = CredentialSource(provider)
        self.origins = origins
    }

    /// Adds the credentials to a request.
    public func adapt(_ request: inout NetworkRequest) async throws {
        guard request.acceptsSignIn(for: origins), !request.hasAuthorization else { return }
        request.recordSignIn()
        var credentials = request.options.credentials
        if credentials == nil { credentials = try await source.value(request) }
        guard let credentials else { return try request.requireNoSignIn() }
        request.setCredential("Authorization", try credentials.headerValue())
    }
}

extension BasicAuth: DumpedAsDescription {
    /// The name of the type, without the credentials.
    public var description: String { "BasicAuth" }
}

/// A user and a password for `Basic` and `Digest`.
public struct BasicCredentials: Sendable, Hashable {
    /// The user's name.
    public var user: String
    /// The password.
    public var password: String

    /// Creates credentials without any check.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// Returns the value of an `Authorization` field, in UTF-8 and NFC ([RFC 7617
    /// §2](https://www.rfc-editor.org/rfc/rfc7617#section-2)).
    ///
    /// - Throws: ``NetworkError/Code/invalidRequest`` for a user with a colon, which would end the name, and for
    ///   control characters in user or password.
    func headerValue() throws(NetworkError) -> String {
        guard !user.utf8.contains(.colon) else {
            throw NetworkError(.invalidRequest, reason: "the user's name for Basic contains a colon (RFC 7617 §2)")
        }
        try refuseControlCharacters(
            "the user's name or password for Basic contains a control character (RFC 7617 §2)")
        return .basicAuthorization(
            user.precomposedStringWithCanonicalMapping, password.precomposedStringWithCanonicalMapping)
    }

    package func refuseControlCharacters(_ reason: String) throws(NetworkError) {
        guard (user + password).unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            return
        }
        throw NetworkError(.invalidRequest, reason: reason)
    }
}

extension BasicCredentials: DumpedAsDescription {
    /// The name of the type and a mask, without user and password.
    public var description: String { "BasicCredentials(\(Redaction.standard.mask))" }
}

extension RequestOptions {
    /// The user and password for this request, in place of those of ``BasicAuth`` or `DigestAuth`. Nil, the default,
    /// selects theirs.
    public var credentials: BasicCredentials? {
        get { self[CredentialsOption.self] }
        set { self[CredentialsOption.self] = newValue }
    }
}

private enum CredentialsOption: RequestOption { static let defaultValue: BasicCredentials? = nil }
