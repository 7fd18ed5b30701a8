import Foundation
import Switchboard
import SwitchboardText

/// A client of an OAuth 2 authorization server. It requests, refreshes and revokes tokens, and stores none.
///
/// ```swift
/// let client = OAuth2Client(
///     id: "films-app",
///     tokenURL: URL(string: "https://login.example.com/token")!,
///     authorizationURL: URL(string: "https://login.example.com/auth")!,
///     redirectURI: "films://login", scope: "films:read offline_access")
///
/// let request = try client.authorizationRequest()
/// let redirect = try await showBrowser(request.url)
/// let token = try await client.token(for: redirect, of: request)
/// ```
///
/// It sends its requests directly with ``session``, through no interceptor. They never carry the expired token, follow
/// no redirect and are not logged. The limit for a response is 1 MiB.
public struct OAuth2Client: Sendable {
    /// The method by which a client with a secret authenticates itself.
    public enum Authentication: Sendable, Hashable {
        /// `Authorization: Basic`, with id and secret form-encoded first ([RFC 6749
        /// §2.3.1](https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1)). Every server must support it.
        case basic
        /// `client_id` and `client_secret` in the body, for servers that do not support `Authorization: Basic`.
        case body
    }

    /// The identifier of the client at the server.
    public var id: String
    /// The client's secret. Nil for an app on a user's device, which cannot protect a secret.
    public var secret: String?
    /// The endpoint that issues tokens.
    public var tokenURL: URL
    /// The page where users sign in. Nil without logins.
    public var authorizationURL: URL?
    /// The endpoint that revokes tokens. Nil when the server has none.
    public var revocationURL: URL?
    /// The endpoint that begins a login on a device without a browser ([RFC
    /// 8628](https://www.rfc-editor.org/rfc/rfc8628)). Nil without such logins.
    public var deviceAuthorizationURL: URL?
    /// The URI that the server redirects to after a login, byte for byte as it is registered at the server.
    public var redirectURI: String?
    /// The scopes to request, separated by blanks. Nil for the server's default.
    public var scope: String?
    /// The method by which the client authenticates itself. Default ``Authentication/basic``.
    public var authentication = Authentication.basic
    /// More parameters for the token endpoint, such as `audience`. Default none.
    public var tokenParameters: Parameters = [:]
    /// Whether URLs may be plain http to another machine. Default false: only to loopback.
    public var allowsPlainHTTP = false
    /// The timeouts of its requests. Default `Timeouts.standard` with 30 seconds for each attempt.
    public var timeouts: Timeouts
    /// The session that performs the exchanges.
    public var session: any NetworkSession
    var now: @Sendable () -> Date

    /// Creates a client. Its other properties can be set afterwards.
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

    /// A mirror with only the redacted line, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
