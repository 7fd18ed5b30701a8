import SwitchboardAuth
import Foundation
import Switchboard

/// The OAuth 2 flows over one session. Each flow signs in separately.
struct Flows: Sendable {
    let provider: URL
    let session: any NetworkSession
    let file: URL

    private func client(_ id: String = "films-app", secret: String? = nil) -> OAuth2Client {
        OAuth2Client(
            id: id, secret: secret, tokenURL: provider.appendingPathComponent("token"),
            authorizationURL: provider.appendingPathComponent("authorize"),
            revocationURL: provider.appendingPathComponent("revoke"), redirectURI: "films://login/done",
            scope: "films", session: session)
    }

    /// Does the work of a browser and its user: loads the page, sends the form, and returns the redirect.
    private func browse(_ url: URL, password: String = "geheim") async throws -> URL {
        let page = try await session.send(NetworkRequest(.get, url))
        try expect(page.statusCode == 200, "the login page is \(page.statusCode): \(page.text)")
        let form = FormBody(["user": "anna", "password": password])
        let answer = try await session.send(NetworkRequest(.post, url, body: form))
        guard answer.statusCode == 302, let location = answer.headers["Location"], let redirect = URL(string: location)
        else { throw Mismatch(description: "the login is answered \(answer.statusCode): \(answer.text)") }
        return redirect
    }

    private func signIn() async throws -> OAuthToken {
        let client = client()
        let request = try client.authorizationRequest()
        return try await client.token(for: browse(request.url), of: request)
    }

    private func films(_ token: OAuthToken) async throws -> Int {
        let headers: HTTPHeaders = [.authorization(bearerToken: token.accessToken)]
        return try await session.send(
            NetworkRequest(.get, provider.appendingPathComponent("films"), headers: headers)
        ).statusCode
    }

    private struct Counts: Decodable {
        var asked: [String: Int]
        var served: [Int]
    }

    private func counts() async throws -> Counts {
        let response = try await session.send(NetworkRequest(.get, provider.appendingPathComponent("counts")))
        return try JSONDecoder().decode(Counts.self, from: response.body)
    }

    private func expire() async throws {
        _ = try await session.send(NetworkRequest(.post, provider.appendingPathComponent("expire")))
    }

    // MARK: Flows

    func login() async throws {
        let token = try await signIn()
        try expect(token.refreshToken != nil && token.expiresAt != nil, "it has no refresh token, or no end")
        try expect(try await films(token) == 200, "the token is not good")
    }

    func refusedLogin() async throws {
        let client = client()
        let (one, other) = (try client.authorizationRequest(), try client.authorizationRequest())
        let redirect = try await browse(one.url)
        let mismatch = try await refusal { _ = try await client.token(for: redirect, of: other) }
        try expect(mismatch == OAuthError.Code.stateMismatch.rawValue, mismatch)
        let denied = try await browse(one.url, password: "falsch")
        let code = try await refusal { _ = try await client.token(for: denied, of: one) }
        try expect(code == "access_denied", code)
    }

    /// Sends the code of one login with the verifier of another, as a thief of the code would.
    func wrongVerifier() async throws {
        let client = client()
        let (one, other) = (try client.authorizationRequest(), try client.authorizationRequest())
        let redirect = try await browse(one.url)
        let stolen = redirect.absoluteString.replacingOccurrences(of: one.state, with: other.state)
        guard let url = URL(string: stolen) else { throw Mismatch(description: "no URL") }
        let code = try await refusal { _ = try await client.token(for: url, of: other) }
        try expect(code == "invalid_grant", code)
    }

    func codeTwice() async throws {
        let client = client()
        let request = try client.authorizationRequest()
        let redirect = try await browse(request.url)
        _ = try await client.token(for: redirect, of: request)
        let code = try await refusal { _ = try await client.token(for: redirect, of: request) }
        try expect(code == "invalid_grant", code)
    }

    func rotation() async throws {
        let (client, old) = (client(), try await signIn())
        let new = try await client.refresh(old)
        try expect(new.refreshToken != old.refreshToken, "the refresh token is the same")
        try expect(try await films(new) == 200, "the new token is not good")
        let code = try await refusal { _ = try await client.refresh(old) }
        try expect(code == "invalid_grant", code)
    }

    func clientCredentials() async throws {
        var client = client("films-service", secret: "s3:c/r%e~t")
        for authentication in [OAuth2Client.Authentication.basic, .body] {
            client.authentication = authentication
            let token = try await client.clientCredentials()
            try expect(try await films(token) == 200, "the token is not good")
        }
        let interceptor = AuthenticationInterceptor(client, grant: .clientCredentials)
        let router = Router<URLEndPoint>(session: session, interceptors: [interceptor])
        _ = try await router.response(for: URLEndPoint(.get, provider.appendingPathComponent("films")))
    }

    func wrongSecret() async throws {
        let client = client("films-service", secret: "falsch")
        let code = try await refusal { _ = try await client.clientCredentials() }
        try expect(code == "invalid_client", code)
    }

    func concurrent() async throws {
        let interceptor = AuthenticationInterceptor(client(), store: FileTokenStore(file))
        try await interceptor.signIn(signIn(), in: nil)
        try await expire()
        let before = try await counts()
        let router = Router<URLEndPoint>(session: session, interceptors: [interceptor])
        let endPoint = URLEndPoint(.get, provider.appendingPathComponent("films"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { _ = try await router.response(for: endPoint) } }
            try await group.waitForAll()
        }
        let after = try await counts()
        let refreshes = after.asked["refresh_token", default: 0] - before.asked["refresh_token", default: 0]
        try expect(refreshes == 1, "the provider counts \(refreshes) refreshes")
        let served = after.served.reduce(0, +) - before.served.reduce(0, +)
        try expect(served == 100 && after.served.contains(100), "the provider served \(after.served)")
    }

    func saved() async throws {
        let interceptor = AuthenticationInterceptor(client(), store: FileTokenStore(file))
        let router = Router<URLEndPoint>(session: session, interceptors: [interceptor])
        let response = try await router.response(
            for: URLEndPoint(.get, provider.appendingPathComponent("films")))
        try expect(response.history.count == 1, "it took \(response.history)")
    }

    func revocation() async throws {
        let (client, token) = (client(), try await signIn())
        try expect(try await films(token) == 200, "the token is not good")
        try await client.revoke(token)
        try expect(try await films(token) == 401, "the token is still good")
        try await client.revoke(token)
    }

    func revokedWhileInUse() async throws {
        let (client, token) = (client(), try await signIn())
        let store = MemoryTokenStore(token)
        let interceptor = AuthenticationInterceptor(client, store: store)
        let router = Router<URLEndPoint>(session: session, interceptors: [interceptor])
        let endPoint = URLEndPoint(.get, provider.appendingPathComponent("films"))
        _ = try await router.response(for: endPoint)
        try await client.revoke(token)
        let first = try await refusal { _ = try await router.response(for: endPoint) }
        try expect(first == "invalid_grant", first)
        let second = try await refusal { _ = try await router.response(for: endPoint) }
        try expect(second == OAuthError.Code.notSignedIn.rawValue, second)
        try expect(await store.load(in: nil) == nil, "the token is still saved")
    }
}
