@testable import SwitchboardAuth
import Foundation
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@testable import Switchboard

@Suite(.timeLimit(.minutes(10)))
struct OAuth2ClientTests {
    private let date = Date(timeIntervalSince1970: 1_700_000_000)

    private func client(_ session: any NetworkSession, secret: String? = nil) -> OAuth2Client {
        let date = date
        return OAuth2Client(
            id: "app", secret: secret, tokenURL: URL(text: "https://login.example.com/token?tenant=1"),
            authorizationURL: URL(text: "https://login.example.com/authorize?tenant=1"),
            revocationURL: URL(text: "https://login.example.com/revoke"), redirectURI: "films://login/done",
            scope: "read write", session: session, now: { date })
    }

    private func form(_ session: StubSession) -> [URLQueryItem] {
        session.recordedRequests.last.map { FormBody.decode($0.body) } ?? []
    }

    @Test("PKCE matches RFC 7636, appendix B; each verifier is new and 43 long", .requirement("S2.21"))
    func pkce() throws {
        let pkce = PKCE(verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        #expect(try pkce.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
        let allowed = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        let made = (0..<50).map { _ in PKCE().verifier }
        #expect(Set(made).count == 50)
        #expect(made.allSatisfy { $0.count == 43 && $0.unicodeScalars.allSatisfy(allowed.contains) })
    }

    @Test("the authorization request meets RFC 6749 §4.1.1 and RFC 7636 §4.3", .requirement("S2.21"))
    func authorizationRequest() throws {
        let client = client(StubSession { _ in .status(500) })
        let pkce = PKCE(verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        let request = try client.authorizationRequest("read all", ["prompt": "login"], state: "xyz", pkce)
        let items = FormBody.decode(request.url.query ?? "")
        #expect(request.url.absoluteString.hasPrefix("https://login.example.com/authorize?tenant=1&"))
        #expect(
            items == [
                URLQueryItem(name: "tenant", value: "1"), URLQueryItem(name: "response_type", value: "code"),
                URLQueryItem(name: "client_id", value: "app"),
                URLQueryItem(name: "redirect_uri", value: "films://login/done"),
                URLQueryItem(name: "state", value: "xyz"),
                URLQueryItem(name: "code_challenge", value: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"),
                URLQueryItem(name: "code_challenge_method", value: "S256"),
                URLQueryItem(name: "scope", value: "read all"),
                URLQueryItem(name: "prompt", value: "login"),
            ])
        let others = try (0..<20).map { _ in try client.authorizationRequest().state }
        #expect(Set(others).count == 20)
        // An app can store it across launches.
        let stored = try JSONDecoder().decode(AuthorizationRequest.self, from: JSONEncoder().encode(request))
        #expect(stored == request)
    }

    @Test("the code is exchanged with redirect URI and verifier", .requirement("S2.21"))
    func exchange() async throws {
        let session = StubSession { _ in
            .json(#"{"access_token":"a1","token_type":"Bearer","expires_in":3600,"refresh_token":"r1","scope":"read"}"#)
        }
        let client = client(session)
        let request = try client.authorizationRequest()
        let redirect = try #require(
            URL(string: "films://login/done?code=SplxlOBeZQQYbYS6WxSbIA&state=\(request.state)"))
        let token = try await client.token(for: redirect, of: request)
        #expect(
            token
                == OAuthToken(accessToken: "a1", refreshToken: "r1", expiresAt: date + 3_600, scope: "read"))
        #expect(
            form(session) == [
                URLQueryItem(name: "grant_type", value: "authorization_code"),
                URLQueryItem(name: "code", value: "SplxlOBeZQQYbYS6WxSbIA"),
                URLQueryItem(name: "redirect_uri", value: "films://login/done"),
                URLQueryItem(name: "code_verifier", value: request.verifier),
                URLQueryItem(name: "client_id", value: "app"),
            ])
        let sent = try #require(session.recordedRequests.last)
        #expect(sent.headers["Content-Type"] == "application/x-www-form-urlencoded")
        #expect(!sent.headers.contains("Authorization"))
    }

    @Test(
        "an invalid redirect is a typed error, and no token is requested",
        .requirement("S2.21"),
        arguments: [
            ("films://login/done?code=c&state=WRONG", OAuthError.Code.stateMismatch),
            ("films://login/done?code=c", .stateMismatch), ("films://login/done?code=c&state=", .stateMismatch),
            ("films://login/done?code=c&state=STATE&state=STATE", .stateMismatch),
            ("films://login/done?error=access_denied&state=WRONG", .stateMismatch),
            ("films://login/done?error=access_denied&error_description=The+user+said+no&state=STATE", .accessDenied),
            ("films://login/done?error=invalid_scope&state=STATE", .invalidScope),
            ("films://login/done?error=a%0Ab&state=STATE", OAuthError.Code(rawValue: "a\nb")),
            ("films://login/done?state=STATE", .invalidRedirect),
            ("films://login/done?code=&state=STATE", .invalidRedirect),
            ("films://login/done?code=a&code=b&state=STATE", .invalidRedirect),
            ("films://login/other?code=c&state=STATE", .invalidRedirect),
            ("evil://login/done?code=c&state=STATE", .invalidRedirect),
            ("films://login/done#code=c&state=STATE", .stateMismatch),
        ])
    func wrongRedirect(text: String, code: OAuthError.Code) async throws {
        let session = StubSession { _ in .status(500) }
        let client = client(session)
        let request = try client.authorizationRequest()
        let redirect = try #require(URL(string: text.replacingOccurrences(of: "STATE", with: request.state)))
        let error = await #expect(throws: NetworkError.self) { try await client.token(for: redirect, of: request) }
        #expect(error?.code == .cannotAuthenticate)
        #expect(error?.oauthError?.code == code)
        #expect(error?.description.contains("\n") == false)
        if code == .accessDenied { #expect(error?.oauthError?.text == "The user said no") }
        #expect(session.requests.isEmpty)
    }

    @Test("a redirect may add a slash to an empty path, and a fragment")
    func browserRedirect() throws {
        var client = client(StubSession { _ in .status(500) })
        client.redirectURI = "http://127.0.0.1:7777"
        let request = try client.authorizationRequest()
        let redirect = try #require(URL(string: "http://127.0.0.1:7777/?code=c%2Fd&state=\(request.state)#_=_"))
        #expect(try request.code(in: redirect) == "c/d")
    }

    @Test("a redirect with scheme and host in lower case matches (RFC 3986 §6.2)")
    func redirectInLowerCase() throws {
        var client = client(StubSession { _ in .status(500) })
        for (uri, text) in [
            ("FilmsApp://Login/Done", "filmsapp://login/Done"), ("FilmsApp:/Login", "filmsapp:/Login"),
            ("https://Films.example/Login", "https://films.example/Login"),
        ] {
            client.redirectURI = uri
            let request = try client.authorizationRequest()
            let redirect = try #require(URL(string: "\(text)?code=c&state=\(request.state)"))
            #expect((try? request.code(in: redirect)) == "c")
            let other = try #require(URL(string: "\(text.lowercased())?code=c&state=\(request.state)"))
            #expect(throws: NetworkError.self) { _ = try request.code(in: other) }
        }
    }

    @Test("a redirect to a URI beyond ASCII matches in its encoded form (RFC 3987 §3.1)")
    func redirectBeyondASCII() throws {
        var client = client(StubSession { _ in .status(500) })
        for (uri, text) in [
            ("films://login/zur\u{FC}ck", "films://login/zur%C3%BCck"),
            ("https://b\u{FC}cher.example/login", "https://xn--bcher-kva.example/login"),
        ] {
            client.redirectURI = uri
            let request = try client.authorizationRequest()
            for text in [uri, text] {
                let redirect = try #require(URL(string: "\(text)?code=c&state=\(request.state)"))
                #expect((try? request.code(in: redirect)) == "c")
            }
        }
    }

    @Test("authenticates by form-encoded Basic (RFC 6749 §2.3.1) or in the body", .requirement("S2.21"))
    func clientAuthentication() async throws {
        let session = StubSession { _ in .json(#"{"access_token":"a","token_type":"bearer"}"#) }
        var client = client(session, secret: "p:a s+s/ö")
        client.id = "my app"
        _ = try await client.clientCredentials()
        // python3: base64(quote_plus("my app") + ":" + quote_plus("p:a s+s/ö"))
        #expect(session.authorizations == ["Basic bXkrYXBwOnAlM0FhK3MlMkJzJTJGJUMzJUI2"])
        #expect(
            form(session) == [
                URLQueryItem(name: "grant_type", value: "client_credentials"),
                URLQueryItem(name: "scope", value: "read write"),
            ])
        client.authentication = .body
        client.tokenParameters = ["audience": "films"]
        _ = try await client.clientCredentials(scope: "all")
        #expect(!(session.requests.last?.headers.contains("Authorization") ?? true))
        #expect(
            form(session) == [
                URLQueryItem(name: "grant_type", value: "client_credentials"),
                URLQueryItem(name: "scope", value: "all"),
                URLQueryItem(name: "client_id", value: "my app"),
                URLQueryItem(name: "client_secret", value: "p:a s+s/ö"),
                URLQueryItem(name: "audience", value: "films"),
            ])
    }

    @Test(
        "a refresh takes a new refresh token and otherwise keeps the old one", .requirement("S2.21"),
        arguments: [
            (#""#, "r1"), (#","refresh_token":"r2""#, "r2"), (#","refresh_token":"""#, "r1"),
            (#","refresh_token":null"#, "r1"),
        ])
    func rotation(field: String, kept: String) async throws {
        let session = StubSession { _ in .json(#"{"access_token":"a2","token_type":"bearer"\#(field)}"#) }
        let old = OAuthToken(accessToken: "a1", refreshToken: "r1", scope: "read", idToken: "jwt")
        let token = try await client(session).refresh(old)
        #expect(token == OAuthToken(accessToken: "a2", refreshToken: kept, scope: "read", idToken: "jwt"))
        #expect(form(session).contains(URLQueryItem(name: "refresh_token", value: "r1")))
    }

    @Test(
        "reads expires_in as servers write it, capped; nonsense is no end",
        arguments: [
            ("3600", 3_600.0), (#""3600""#, 3_600), ("0", 0), ("-5", 0), ("1e300", 3_155_760_000), ("12.5", 12.5),
            ("null", nil), (#""soon""#, nil), ("[]", nil), (#""nan""#, nil),
        ])
    func lifetime(value: String, seconds: Double?) async throws {
        let session = StubSession { _ in .json(#"{"access_token":"a","expires_in":\#(value)}"#) }
        let token = try await client(session, secret: "s").clientCredentials()
        #expect(token.expiresAt == seconds.map { date + $0 })
    }

    @Test(
        "an access token that no field may contain is no token (RFC 9110 §5.5)",
        arguments: ["\\n", "\\u0000", "\\u007f"])
    func tokenWithControl(character: String) async throws {
        let session = StubSession(.json(#"{"access_token":"a\#(character)"}"#))
        let error = await #expect(throws: NetworkError.self) {
            try await client(session, secret: "s").clientCredentials()
        }
        #expect(error?.code == .decodingFailed)
    }

    @Test("the total timeout limits the only attempt of a request")
    func totalTimeout() async throws {
        for (total, expected) in [(5, 5), (60, 30), (nil, 30)] as [(Int?, Int)] {
            let session = StubSession(.json(#"{"access_token":"a"}"#))
            var client = client(session, secret: "s")
            client.timeouts.total = total.map { .seconds($0) }
            _ = try await client.clientCredentials()
            #expect(session.requests.last?.timeouts.attempt == .seconds(expected))
        }
    }

    @Test("a timeout of a request has the name that the app has set")
    func timeoutNames() async {
        let session = AdHocSession { request in
            throw request.timeouts.error(since: SuspendingClock.now.advanced(by: .seconds(-60)))
        }
        for (total, reason) in [(5, "5 s (timeouts.total)"), (nil, "30 s (timeouts.attempt)")] as [(Int?, String)] {
            var limited = self.client(session, secret: "s")
            limited.timeouts.total = total.map { .seconds($0) }
            let client = limited
            let error = await #expect(throws: NetworkError.self) { try await client.clientCredentials() }
            #expect(error?.code == .timedOut)
            #expect(error?.reason == "no complete response within \(reason)")
        }
    }

    @Test(
        "any failure of the token endpoint is a typed error without secrets",
        arguments: [
            (
                MockResponse.json(#"{"error":"invalid_grant","error_description":"revoked"}"#, statusCode: 400),
                NetworkError.Code.cannotAuthenticate
            ),
            (.json(#"{"error":"invalid_client"}"#, statusCode: 401), .cannotAuthenticate),
            (.text("<html>", statusCode: 404), .error4xx),
            (.json(#"{"error":"server_error"}"#, statusCode: 500), .serverError), (.status(503), .error5xx),
            (.redirect(to: "https://elsewhere.example/"), .redirection), (.text("{}"), .decodingFailed),
            (.text(""), .decodingFailed), (.json(String(repeating: "[", count: 513)), .decodingFailed),
            (.json(#"{"access_token":""}"#), .decodingFailed), (.json(#"{"access_token":7}"#), .decodingFailed),
            (.json(#"{"access_token":"a","token_type":"mac"}"#), .unsupported), (.failure(.timedOut), .timedOut),
            (.json(#"{"access_token":"\#(String(repeating: "a", count: 2 << 20))"}"#), .responseTooLarge),
        ])
    func failures(response: MockResponse, code: NetworkError.Code) async throws {
        let session = StubSession { _ in response }
        let error = await #expect(throws: NetworkError.self) {
            try await client(session).refresh(OAuthToken(accessToken: "a1-s3cret", refreshToken: "r1-s3cret"))
        }
        #expect(error?.code == code)
        #expect(error?.oauthError?.code == (code == .cannotAuthenticate ? error?.oauthError?.code : nil))
        #expect(session.requests.count == 1)
        #expect("\(String(describing: error))".contains("s3cret") == false)
    }

    @Test(
        "errors of the token endpoint repeat neither its body nor a secret", .requirement("S2.24"),
        arguments: [
            MockResponse.json(
                #"{"error":"invalid_grant","error_description":"no grant for r1-s3cret"}"#, statusCode: 400),
            .json(#"{"error":"x-s3cret r1-s3cret","error_uri":"https://a.example/r1-s3cret"}"#, statusCode: 400),
            .json(#"{"error":"invalid_client","error_description":"app:app-s3cret is unknown"}"#, statusCode: 401),
            .json(#"{"error":"invalid_grant","error_description":"r1-s3cret expired"}"#),
            .json(#"{"error":"invalid_grant","error_description":"r1-s3cret\u0301 expired"}"#),
            .json(#"{"acessToken":"a2-s3cret"}"#), .text("a2-s3cret"), .json(#"["a2-s3cret"]"#),
            .json(#"{"access_token":"a","token_type":"a2-s3cret"}"#), .text("a2-s3cret", statusCode: 500),
            .text("a2-s3cret", statusCode: 404),
        ])
    func quotesNothing(response: MockResponse) async throws {
        let session = StubSession { _ in response }
        let error = await #expect(throws: NetworkError.self) {
            try await client(session, secret: "app-s3cret").refresh(
                OAuthToken(accessToken: "a1-s3cret", refreshToken: "r1-s3cret"))
        }
        let thrown = try #require(error)
        var texts = [thrown.description, thrown.localizedDescription, thrown.message, thrown.reason ?? ""]
        for value in [thrown as Any, thrown.underlying as Any] {
            var dumped = ""
            dump(value, to: &dumped)
            texts += [dumped, String(describing: value), String(reflecting: value)]
        }
        for text in texts {
            let text = text.replacingOccurrences(of: "x-s3cret", with: "")
            // In scalars, because a combining mark may follow.
            #expect(!text.unicodeScalars.contains("s3cret".unicodeScalars))
        }
    }

    @Test("a refusal in another format has the server's message without the secrets of the request")
    func serverMessage() async throws {
        let message = #"{"detail":"Incorrect username or password, not s3cret-p"}"#
        let session = StubSession(.json(message, statusCode: 401), .json(message, statusCode: 502))
        for expected in ["Incorrect username or password, not <redacted>", nil] {
            let error = await #expect(throws: NetworkError.self) {
                try await client(session).token(
                    grantType: "password", parameters: ["username": "anna", "password": "s3cret-p"] as Parameters)
            }
            #expect(error?.serverMessage == expected)
            #expect(error?.oauthError == nil)
        }
    }

    // RFC 6749 §3.1, §3.2: "Request and response parameters MUST NOT be included more than once."
    @Test("no request has a parameter twice")
    func parametersOnce() async throws {
        let session = StubSession { _ in .json(#"{"access_token":"a","token_type":"bearer"}"#) }
        var client = client(session)
        client.tokenParameters = ["scope": "all offline", "audience": "a", "resource": "b", "resource": "c"]
        func values(_ name: String) -> [String?] { form(session).filter { $0.name == name }.map(\.value) }

        _ = try await client.clientCredentials()
        #expect(values("scope") == ["read write"] && values("audience") == ["a"])
        #expect(values("resource") == ["b", "c"])  // RFC 8707 §2 allows several
        _ = try await client.refresh(OAuthToken(accessToken: "a", refreshToken: "r"))
        #expect(values("scope") == ["all offline"])
        let parameters: Parameters = ["audience": "own", "grant_type": "none", "client_id": "other"]
        _ = try await client.token(grantType: "any", parameters: parameters)
        #expect(values("audience") == ["own"] && values("grant_type") == ["any"] && values("client_id") == ["other"])

        let request = try client.authorizationRequest(parameters: ["state": "x", "prompt": "login"])
        let items = FormBody.decode(request.url.query ?? "")
        #expect(items.filter { $0.name == "state" }.map(\.value) == [request.state])
        #expect(items.contains(URLQueryItem(name: "prompt", value: "login")))
    }

    @Test("an error does not repeat a secret parameter of the client", .requirement("S2.24"))
    func quotesNoParameter() async throws {
        let session = StubSession { _ in
            .json(#"{"error":"invalid_client","error_description":"a1-s3cret is unknown"}"#, statusCode: 401)
        }
        var client = client(session)
        client.tokenParameters = ["client_assertion": "a1-s3cret"]
        let error = await #expect(throws: NetworkError.self) { try await client.clientCredentials() }
        #expect(error?.oauthError?.code == .invalidClient)
        #expect(error?.oauthError?.text == "<redacted> is unknown")
        #expect(error?.description.contains("s3cret") == false)
    }

    @Test("an empty refresh token is none (RFC 6749, appendix A.17)")
    func emptyRefreshToken() async throws {
        let session = StubSession { _ in .json(#"{"access_token":"a","refresh_token":""}"#) }
        let client = client(session)
        let token = try await client.clientCredentials()
        #expect(token == OAuthToken(accessToken: "a"))
        try await client.revoke(token)
        #expect(form(session).first == URLQueryItem(name: "token", value: "a"))
        let error = await #expect(throws: NetworkError.self) { try await client.refresh(token) }
        #expect(error?.oauthError?.code == .notSignedIn)
    }

    @Test("revocation sends the refresh token and hint (RFC 7009); a 503 fails", .requirement("S2.21"))
    func revocation() async throws {
        let session = StubSession { _ in .status(200) }
        try await client(session).revoke(OAuthToken(accessToken: "a", refreshToken: "r"))
        #expect(
            form(session) == [
                URLQueryItem(name: "token", value: "r"), URLQueryItem(name: "token_type_hint", value: "refresh_token"),
                URLQueryItem(name: "client_id", value: "app"),
            ])
        try await client(session).revoke(OAuthToken(accessToken: "a"))
        #expect(form(session).first == URLQueryItem(name: "token", value: "a"))
        let busy = StubSession { _ in .status(503) }
        let error = await #expect(throws: NetworkError.self) {
            try await client(busy).revoke(OAuthToken(accessToken: "a"))
        }
        #expect(error?.code == .error5xx)
    }

    @Test(
        "plain HTTP carries secrets only to this machine, unless allowed",
        arguments: [
            ("http://login.example.com/t", false), ("http://127.0.0.1:8080/t", true), ("http://localhost/t", true),
            ("http://[::1]:8080/t", true), ("http://127.0.0.1.example.com/t", false),
            ("http://localhost.example.com/t", false),
        ])
    func plainHTTP(url: String, isAllowed: Bool) async throws {
        let session = StubSession { _ in .json(#"{"access_token":"a"}"#) }
        var client = client(session, secret: "s")
        client.tokenURL = try #require(URL(string: url))
        client.authorizationURL = client.tokenURL
        let token = try? await client.clientCredentials()
        #expect((token != nil) == isAllowed)
        #expect(((try? client.authorizationRequest()) != nil) == isAllowed)
        if !isAllowed {
            #expect(session.requests.isEmpty)
            client.allowsPlainHTTP = true
            _ = try await client.clientCredentials()
        }
    }

    @Test("texts of a client, a token and a login show no secret")
    func redacted() throws {
        let client = client(StubSession { _ in .status(500) }, secret: "s3cret")
        let pkce = PKCE(verifier: "s3cret")
        let values: [Any] = [
            client, OAuthToken(accessToken: "s3cret", refreshToken: "s3cret", idToken: "s3cret"),
            try client.authorizationRequest(nil, [:], state: "s3cret", pkce),
            OAuthError(.invalidGrant, text: "token=s3cret was used"),
        ]
        for value in values {
            var dumped = ""
            if !(value is OAuthError) { dump(value, to: &dumped) }
            for text in ["\(value)", dumped] { #expect(!text.contains("s3cret"), "\(type(of: value))") }
        }
    }
}
