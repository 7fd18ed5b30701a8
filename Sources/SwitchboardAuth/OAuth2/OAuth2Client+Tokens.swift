import Foundation
import Switchboard
import SwitchboardText

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
        guard let refreshToken = token.refreshToken else {
            throw OAuthError(.notSignedIn, text: "sign in again, because the token came without a refresh token")
                .thrown()
        }
        var fresh = try await self.token([
            URLQueryItem(name: "grant_type", value: "refresh_token"),
            URLQueryItem(name: "refresh_token", value: refreshToken),
        ])
        if fresh.refreshToken?.isEmpty != false { fresh.refreshToken = refreshToken }
        fresh.scope = fresh.scope ?? token.scope
        fresh.idToken = fresh.idToken ?? token.idToken
        return fresh
    }

    /// Revokes a token at the server ([RFC 7009](https://www.rfc-editor.org/rfc/rfc7009)): its refresh token, with
    /// which the access tokens end, or the access token without a refresh token. A token that is already revoked is no
    /// error.
    ///
    /// - Throws: `NetworkError.Code.unsupported` without a ``revocationURL``, and the errors of ``refresh(_:)``.
    public func revoke(_ token: OAuthToken) async throws {
        guard let revocationURL else {
            throw NetworkError(.unsupported, reason: "the client has no revocationURL")
        }
        _ = try await answer(
            from: revocationURL,
            [
                URLQueryItem(name: "token", value: token.refreshToken ?? token.accessToken),
                URLQueryItem(
                    name: "token_type_hint", value: token.refreshToken == nil ? "access_token" : "refresh_token"),
            ], more: [:])
    }

    func token(_ items: [URLQueryItem]) async throws -> OAuthToken {
        // The lifetime counts from the request: too short is better than too long.
        let date = now()
        let response = try await answer(from: tokenURL, items, more: tokenParameters)
        do throws(NetworkError) {
            return try OAuthToken(answer: response.body, at: date, without: secrets(in: items))
        } catch {
            var error = error
            // The body may contain tokens under any name, so the text only describes it.
            let type = response.headers["Content-Type"].map { "\($0.quotedForMessage) of " } ?? ""
            error.reason = (error.reason.map { $0 + "; " } ?? "") + "it is \(type)\(response.body.count) bytes"
            throw error.attributed(to: NetworkRequest(.post, tokenURL))
        }
    }

    /// Returns the response of an endpoint if its status is 2xx.
    func answer(from url: URL, _ items: [URLQueryItem], more: Parameters) async throws -> NetworkResponse {
        try check(url)
        let encoder = URLEncodedFormEncoder()
        var items = items
        var headers: HTTPHeaders = [.accept("application/json")]
        if let secret, authentication == .basic {
            let pair = Self.formEncoded(id) + ":" + Self.formEncoded(secret)
            headers["Authorization"] = "Basic " + Data(pair.utf8).base64EncodedString()
        } else {
            items.append(URLQueryItem(name: "client_id", value: id))
            if let secret { items.append(URLQueryItem(name: "client_secret", value: secret)) }
        }
        let extra = try encoder.encode(more)
        let form = encoder.encode(items) + (extra.isEmpty ? "" : "&" + extra)
        var request = NetworkRequest(
            .post, url, headers: headers,
            body: DataBody(Data(form.utf8), contentType: "application/x-www-form-urlencoded"))
        request.timeouts = timeouts
        request.limits.responseBody = 1 << 20
        let response = try await withOwnTask { [session, request] in try await session.send(request) }
        guard !(200..<300).contains(response.statusCode) else { return response }
        throw Self.failure(response, without: secrets(in: items)).attributed(to: request)
    }

    private static func failure(_ response: NetworkResponse, without secrets: [String]) -> NetworkError {
        // The page of a proxy, or of a server that is down, proves nothing about the token.
        if (400..<500).contains(response.statusCode), let error = OAuthError(answer: response.body, without: secrets) {
            return error.thrown("the authorization server refused").with(response)
        }
        let code: NetworkError.Code =
            switch response.statusCode {
            case 300..<400: .redirection
            case 400..<500: .error4xx
            case 500: .serverError
            case 501..<600: .error5xx
            default: .unexpectedStatus
            }
        return NetworkError(code, reason: "the authorization server returned \(response.statusCode)").with(response)
    }

    /// Returns the values of a request that its error must not repeat. A shorter one may occur in any text.
    func secrets(in items: [URLQueryItem]) -> [String] {
        let names = ["code", "code_verifier", "assertion", "client_assertion"]
        func isSecret(_ name: String) -> Bool { names.contains(name) || Redaction.standard.isSecret(parameter: name) }
        return ([secret] + items.map { isSecret($0.name) ? $0.value : nil }).compactMap { $0 }
            .filter { $0.utf8.count >= 6 }
    }

    private static func formEncoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.appendEscaped(text, allowed: .unreserved, plusForSpace: true)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Throws for a URL that would expose secrets on the network.
    func check(_ url: URL) throws(NetworkError) {
        try URLText.check(url)
        guard url.isHTTPS || allowsPlainHTTP || url.isLoopback else {
            throw NetworkError(
                .insecureConnection,
                reason:
                    "\(Redaction.standard.url(url.absoluteString).quotedForMessage) is not https (RFC 6749 §3.1, §3.2)")
        }
    }
}
