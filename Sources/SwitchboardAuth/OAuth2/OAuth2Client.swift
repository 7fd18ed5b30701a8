import Foundation
import Switchboard
import SwitchboardPlatform
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
    /// More parameters for the token endpoint, such as `audience`. Those that a request has already, such as `scope`,
    /// are not added to it. Default none.
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

extension OAuth2Client: DumpedAsDescription {
    /// The id and the token endpoint, without the secret.
    public var description: String {
        "OAuth2Client(\(id.quotedForMessage), \(Redaction.standard.url(tokenURL.absoluteString)))"
    }
}

extension OAuth2Client {
    /// Begins a login by authorization code ([RFC 6749 §4.1](https://www.rfc-editor.org/rfc/rfc6749#section-4.1)) with
    /// PKCE and a state, both random. Sends nothing.
    ///
    /// - Parameters:
    ///   - scope: The scopes to request, in place of ``scope``.
    ///   - parameters: More parameters for the server's page, such as `prompt`. Those that the request has already,
    ///     such as `state`, are ignored.
    /// - Returns: The request, with the URL for the user.
    /// - Throws: `NetworkError.Code.invalidRequest` without an ``authorizationURL`` or ``redirectURI``,
    ///   `NetworkError.Code.insecureConnection` for a page over plain http, `NetworkError.Code.unsupported` when the
    ///   system lacks SHA-256.
    public func authorizationRequest(
        scope: String? = nil, parameters: Parameters = [:]
    ) throws(NetworkError) -> AuthorizationRequest {
        try authorizationRequest(scope, parameters, state: Data.random(32).base64URLText, PKCE())
    }

    func authorizationRequest(
        _ scope: String?, _ parameters: Parameters, state: String, _ pkce: PKCE
    ) throws(NetworkError) -> AuthorizationRequest {
        guard let authorizationURL, let redirectURI else {
            throw NetworkError(.invalidRequest, reason: "a login needs an authorizationURL and a redirectURI")
        }
        try check(authorizationURL)
        var items = [
            URLQueryItem(name: "response_type", value: "code"), URLQueryItem(name: "client_id", value: id),
            URLQueryItem(name: "redirect_uri", value: redirectURI), URLQueryItem(name: "state", value: state),
            URLQueryItem(name: "code_challenge", value: try pkce.challenge),
            URLQueryItem(name: "code_challenge_method", value: "S256"),
        ]
        if let scope = scope ?? self.scope { items.append(URLQueryItem(name: "scope", value: scope)) }
        var url = try URLText(authorizationURL)
        url.append(query: Array(try Self.form(items, parameters).utf8))
        return AuthorizationRequest(url: try url.url, state: state, redirectURI: redirectURI, verifier: pkce.verifier)
    }

    /// Completes a login. Returns the token for the code in the URL that the server redirected to.
    ///
    /// - Throws: `NetworkError.Code.cannotAuthenticate` with an ``OAuthError`` underneath, and the errors of any
    ///   exchange.
    public func token(for redirect: URL, of request: AuthorizationRequest) async throws -> OAuthToken {
        let code = try request.code(in: redirect)
        return try await token([
            URLQueryItem(name: "grant_type", value: "authorization_code"), URLQueryItem(name: "code", value: code),
            URLQueryItem(name: "redirect_uri", value: request.redirectURI),
            URLQueryItem(name: "code_verifier", value: request.verifier),
        ])
    }
}

extension OAuth2Client {
    /// Returns a new token for the client itself ([RFC 6749 §4.4](https://www.rfc-editor.org/rfc/rfc6749#section-4.4)).
    ///
    /// - Throws: `NetworkError.Code.cannotAuthenticate` with an ``OAuthError`` underneath, and the errors of any
    ///   exchange.
    public func clientCredentials(scope: String? = nil) async throws -> OAuthToken {
        var items = [URLQueryItem(name: "grant_type", value: "client_credentials")]
        if let scope = scope ?? self.scope { items.append(URLQueryItem(name: "scope", value: scope)) }
        return try await token(items)
    }

    /// Returns a new token for an expired one ([RFC 6749 §6](https://www.rfc-editor.org/rfc/rfc6749#section-6)). This
    /// may use up the refresh token. If the server sends no new one, the old one is kept.
    ///
    /// - Throws: `NetworkError.Code.cannotAuthenticate` with an ``OAuthError`` underneath:
    ///   ``OAuthError/Code/invalidGrant`` when the refresh token was revoked, ``OAuthError/Code/notSignedIn`` without a
    ///   refresh token. Also the errors of any exchange.
    public func refresh(_ token: OAuthToken) async throws -> OAuthToken {
        guard let refreshToken = token.nonemptyRefreshToken else {
            throw OAuthError(.notSignedIn, text: "sign in again, because the token came without a refresh token")
                .asNetworkError()
        }
        var fresh = try await self.token([
            URLQueryItem(name: "grant_type", value: "refresh_token"),
            URLQueryItem(name: "refresh_token", value: refreshToken),
        ])
        fresh.refreshToken = fresh.refreshToken ?? refreshToken
        fresh.scope = fresh.scope ?? token.scope
        fresh.idToken = fresh.idToken ?? token.idToken
        return fresh
    }

    /// Revokes a token at the server ([RFC 7009](https://www.rfc-editor.org/rfc/rfc7009)): its refresh token, with
    /// which the access tokens end, or the access token without a refresh token. A token that is already revoked is not
    /// an error.
    ///
    /// - Throws: `NetworkError.Code.invalidRequest` without a ``revocationURL``, `NetworkError.Code.cannotAuthenticate`
    ///   with an ``OAuthError`` underneath, and the errors of any exchange.
    public func revoke(_ token: OAuthToken) async throws {
        guard let revocationURL else {
            throw NetworkError(.invalidRequest, reason: "set the revocationURL of the OAuth2Client to revoke tokens")
        }
        let refreshToken = token.nonemptyRefreshToken
        _ = try await response(
            from: revocationURL,
            [
                URLQueryItem(name: "token", value: refreshToken ?? token.accessToken),
                URLQueryItem(
                    name: "token_type_hint", value: refreshToken == nil ? "access_token" : "refresh_token"),
            ], more: [:])
    }

    func token(_ items: [URLQueryItem]) async throws -> OAuthToken {
        // The lifetime counts from the request, so that it is never too long.
        let date = now()
        let response = try await response(from: tokenURL, items, more: tokenParameters)
        do throws(NetworkError) {
            return try OAuthToken(response: response.body, at: date, without: secrets(in: items))
        } catch {
            var error = error
            // The body may contain tokens under any name, so the error has only its type and length.
            let type = response.headers["Content-Type"].map { "\($0.quotedForMessage) of " } ?? ""
            error.reason = (error.reason.map { $0 + "; " } ?? "") + "it is \(type)\(response.body.count) bytes"
            throw error.attributed(to: NetworkRequest(.post, tokenURL))
        }
    }

    /// Returns the response of an endpoint if its status is 2xx.
    func response(from url: URL, _ items: [URLQueryItem], more: Parameters) async throws -> NetworkResponse {
        try check(url)
        var items = items
        var headers: HTTPHeaders = [.accept("application/json")]
        if let secret, authentication == .basic {
            headers["Authorization"] = .basicAuthorization(
                id.percentEncoded(plusForSpace: true), secret.percentEncoded(plusForSpace: true))
        } else {
            var client = [URLQueryItem(name: "client_id", value: id)]
            if let secret { client.append(URLQueryItem(name: "client_secret", value: secret)) }
            items = items.adding(client)
        }
        let form = Data(try Self.form(items, more).utf8)
        var request = NetworkRequest(
            .post, url, headers: headers, body: DataBody(form, contentType: "application/x-www-form-urlencoded"))
        request.timeouts = timeouts
        // A session ignores the total timeout, and there is one attempt.
        request.timeouts.attempt = [timeouts.attempt, timeouts.total].compactMap { $0 }.min()
        request.limits.responseBody = 1 << 20
        let response: NetworkResponse
        do {
            response = try await withOwnTask { [session, request] in try await session.send(request) }
        } catch var error as NetworkError where request.timeouts.attempt != timeouts.attempt {
            error.reason = error.reason?.replacingOccurrences(of: "(timeouts.attempt", with: "(timeouts.total")
            throw error
        }
        guard !(200..<300).contains(response.statusCode) else { return response }
        throw Self.failure(response, without: secrets(in: items)).attributed(to: request)
    }

    private static func form(_ items: [URLQueryItem], _ more: Parameters) throws(NetworkError) -> String {
        let encoder = URLEncodedFormEncoder()
        let more = FormBody.decode(try encoder.encode(more))
        return encoder.encode(items.adding(more))
    }

    private static func failure(_ response: NetworkResponse, without secrets: [String]) -> NetworkError {
        // A 5xx, such as the page of a proxy, is not about the token.
        if (400..<500).contains(response.statusCode), let error = OAuthError(response: response.body, without: secrets)
        {
            return error.asNetworkError("the authorization server refused").with(response)
        }
        // A code such as `unauthorized` would be about the request of the app.
        let code = StatusMap.code(for: response.statusCode)
        let general = code.isKind(of: .error4xx) ? .error4xx : code
        var error = NetworkError(general, reason: "the authorization server returned \(response.statusCode)")
            .with(response)
        if general == .error4xx {
            // Such as `{"detail":"Incorrect username or password"}`. Other texts may be the page of a proxy.
            let messages = ServerMessage(keys: response.options.messageKeys)
            error.serverMessage = messages.text(in: response.body)?.masking(secrets)
        }
        return error
    }

    /// Returns the secrets of a request, which its error must not repeat. Short ones are excluded, because they may
    /// occur in any text.
    func secrets(in items: [URLQueryItem]) -> [String] {
        let names = ["code", "code_verifier", "assertion", "client_assertion"]
        func isSecret(_ name: String) -> Bool { names.contains(name) || Redaction.standard.isSecret(parameter: name) }
        let more = (try? URLEncodedFormEncoder().encode(tokenParameters)).map { FormBody.decode($0) } ?? []
        return ([secret] + (items + more).map { isSecret($0.name) ? $0.value : nil }).compactMap { $0 }
            .filter { $0.utf8.count >= 6 }
    }

    /// Throws for a URL that would expose secrets on the network.
    func check(_ url: URL) throws(NetworkError) {
        try URLText.check(url)
        guard url.isHTTPS || allowsPlainHTTP || url.isLoopback else {
            throw NetworkError(
                .insecureConnection,
                reason: "\(url.absoluteString.quotedURLForMessage) is not https (RFC 6749 §3.1, §3.2)")
        }
    }
}

extension [URLQueryItem] {
    /// Returns these parameters and those with other names, because a request must not repeat one ([RFC 6749
    /// §3.2](https://www.rfc-editor.org/rfc/rfc6749#section-3.2)).
    func adding(_ others: [URLQueryItem]) -> [URLQueryItem] {
        let names = Set(map(\.name))
        return self + others.filter { !names.contains($0.name) }
    }
}
