import Foundation
import Switchboard
import SwitchboardText

/// A client of an OAuth 2 authorization server: it gets, refreshes and revokes tokens, and keeps none.
///
/// ```swift
/// let client = OAuth2Client(
///     id: "films-app", tokenURL: URL(string: "https://login.example.com/token")!,
///     authorizationURL: URL(string: "https://login.example.com/authorize")!,
///     redirectURI: "films://login", scope: "films:read offline_access")
///
/// let request = try client.authorizationRequest()
/// let redirect = try await showBrowser(request.url)
/// let token = try await client.token(for: redirect, of: request)
/// ```
///
/// Its requests go straight to ``session``, through no interceptor: they never carry the token that has ended, follow no
/// redirect and are not logged. Answers are held to 1 MiB.
public struct OAuth2Client: Sendable {
    /// How the client proves who it is, when it has a secret.
    public enum Authentication: Sendable, Hashable {
        /// `Authorization: Basic`, id and secret form-encoded first ([RFC 6749
        /// §2.3.1](https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1)). Every server has to take it.
        case basic
        /// `client_id` and `client_secret` in the body, for servers that do not.
        case body
    }

    /// What the server knows the client by.
    public var id: String
    /// The client's secret. Nil for an app on a user's device, which can keep none.
    public var secret: String?
    /// Where tokens are had.
    public var tokenURL: URL
    /// Where users sign in. Nil without logins.
    public var authorizationURL: URL?
    /// Where tokens are revoked. Nil when they cannot be.
    public var revocationURL: URL?
    /// Where the user comes back after a login, byte by byte as the server knows it.
    public var redirectURI: String?
    /// What is asked for, as words with blanks between. Nil for what the server gives anyway.
    public var scope: String?
    /// How the client proves who it is. Default ``Authentication/basic``.
    public var authentication = Authentication.basic
    /// More parameters for the token endpoint, such as `audience`. Default none.
    public var tokenParameters: Parameters = [:]
    /// Whether the URLs may be plain http on another machine. Default false: loopback alone.
    public var allowsPlainHTTP = false
    /// The timeouts of its requests. Default a total of 30 seconds for each attempt.
    public var timeouts: Timeouts
    /// What performs the exchanges.
    public var session: any NetworkSession
    var now: @Sendable () -> Date

    /// Makes a client. The other properties may be set afterwards.
    public init(
        id: String, secret: String? = nil, tokenURL: URL, authorizationURL: URL? = nil, revocationURL: URL? = nil,
        redirectURI: String? = nil, scope: String? = nil, session: any NetworkSession = DefaultSession.shared,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.id = id
        self.secret = secret
        self.tokenURL = tokenURL
        self.authorizationURL = authorizationURL
        self.revocationURL = revocationURL
        self.redirectURI = redirectURI
        self.scope = scope
        self.session = session
        self.now = now
        timeouts = .standard
        timeouts.attempt = .seconds(30)
    }
}

extension OAuth2Client: CustomStringConvertible, CustomReflectable {
    /// The id and the token endpoint, without the secret.
    public var description: String {
        "OAuth2Client(\(id.quotedForMessage), \(Redaction.standard.url(tokenURL.absoluteString)))"
    }

    /// Shows the redacted line only, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
