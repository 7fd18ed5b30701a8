import Foundation
import Switchboard
import SwitchboardText
import SwitchboardPlatform

extension OAuth2Client {
    /// Begins a login by authorization code ([RFC 6749 §4.1](https://www.rfc-editor.org/rfc/rfc6749#section-4.1)) with
    /// PKCE and a state, both random. Sends nothing.
    ///
    /// - Parameters:
    ///   - scope: The scopes to request, in place of ``scope``.
    ///   - parameters: More parameters for the server's page, such as `prompt`.
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
        let encoder = URLEncodedFormEncoder()
        let more: String
        do { more = try encoder.encode(parameters) } catch { throw NetworkError.encoding(error) }
        let query = encoder.encode(items) + (more.isEmpty ? "" : "&" + more)
        let url = try URLText(authorizationURL).appending(query: Array(query.utf8)).url
        return AuthorizationRequest(url: url, state: state, redirectURI: redirectURI, verifier: pkce.verifier)
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
