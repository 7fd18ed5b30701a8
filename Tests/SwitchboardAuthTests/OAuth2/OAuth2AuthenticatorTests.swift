@testable import SwitchboardAuth
import Foundation
import SwitchboardPlatform
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@testable import Switchboard

/// OAuth 2 behind an `AuthenticationInterceptor`.
@Suite(.timeLimit(.minutes(10)))
struct OAuth2AuthenticatorTests {
    private let url = URL(text: "https://api.example.com/a")

    private func client(_ session: any NetworkSession) -> OAuth2Client {
        OAuth2Client(id: "app", secret: "s", tokenURL: URL(text: "https://login.example.com/token"), session: session)
    }

    private func router(_ api: StubSession, _ interceptor: any Interceptor) -> Router<URLEndPoint> {
        Router(session: api, interceptors: [interceptor])
    }

    @Test("a refused saved token is refreshed, and the rotated one is saved", .requirement("S2.21"))
    func savedAndRotated() async throws {
        let store = MemoryTokenStore(OAuthToken(accessToken: "a1", refreshToken: "r1"))
        let login = StubSession { _ in .token("a2", "r2") }
        let api = StubSession { $0.headers["Authorization"] == "Bearer a2" ? .text("ok") : .status(401) }
        let interceptor = AuthenticationInterceptor(client(login), store: store)
        _ = try await router(api, interceptor).response(for: URLEndPoint(.get, url))
        #expect(api.authorizations == ["Bearer a1", "Bearer a2"])
        #expect(login.authorizations == ["Basic YXBwOnM="])
        #expect(await store.load(in: nil) == OAuthToken(accessToken: "a2", refreshToken: "r2"))
    }

    @Test("an error of the token endpoint names its URL", arguments: [400, 401, 429, 500, 503, 302, 200, 0])
    func tokenEndpoint(status: Int) async throws {
        let store = MemoryTokenStore(OAuthToken(accessToken: "a1", refreshToken: "r1"))
        let login = StubSession { _ in
            switch status {
            case 0: .close
            case 400: .invalidGrant
            default: .status(status)
            }
        }
        let interceptor = AuthenticationInterceptor(client(login), store: store)
        let router = router(StubSession { _ in .status(401) }, interceptor)
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: URLEndPoint(.get, url)) }
        let tokenURL = client(login).tokenURL.absoluteString
        #expect(error?.description.contains("from \(tokenURL)") == true, "\(error as Any)")
        #expect(error?.url == url)
    }

    @Test("an error of the token endpoint shows why it cannot be reached")
    func unreachableTokenEndpoint() async throws {
        let reason = "Could not resolve host: login.example.com"
        let store = MemoryTokenStore(OAuthToken(accessToken: "a1", refreshToken: "r1"))
        let login = StubSession { _ in .failure(.cannotFindHost, reason: reason) }
        let router = router(StubSession { _ in .status(401) }, AuthenticationInterceptor(client(login), store: store))
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: URLEndPoint(.get, url)) }
        #expect(error?.description.contains(reason) == true, "\(error as Any)")
    }

    @Test("client credentials are requested first and again before they end", .requirement("S2.21"))
    func clientCredentials() async throws {
        let count = Deliveries<Bool>()
        let login = StubSession { _ in
            count.add(true)
            return .json(#"{"access_token":"a\#(count.all.count)","token_type":"bearer","expires_in":100}"#)
        }
        let date = TestDate()
        var client = client(login)
        client.now = { date.now }
        let api = StubSession { _ in .text("ok") }
        let interceptor = AuthenticationInterceptor(
            OAuth2Authenticator(client, grant: .clientCredentials), now: { date.now })
        let router = router(api, interceptor)
        for step in [0.0, 69, 1, 60] {
            date.advance(by: step)
            _ = try await router.response(for: URLEndPoint(.get, url))
        }
        #expect(api.authorizations == ["Bearer a1", "Bearer a1", "Bearer a2", "Bearer a2"])
    }

    @Test("a token without a refresh token is sent until it expires", .requirement("S2.21"))
    func withoutRefreshToken() async throws {
        let date = TestDate()
        let login = StubSession { _ in .status(500) }
        var client = client(login)
        client.now = { date.now }
        let token = OAuthToken(accessToken: "a1", expiresAt: date.now + 100)
        let store = MemoryTokenStore(token)
        let api = StubSession { _ in .text("ok") }
        let interceptor = AuthenticationInterceptor(OAuth2Authenticator(client, store: store), now: { date.now })
        let router = router(api, interceptor)
        // By default, a token is refreshed 30 seconds before its end.
        for step in [0.0, 80, 19] {
            date.advance(by: step)
            _ = try await router.response(for: URLEndPoint(.get, url))
        }
        #expect(api.authorizations == ["Bearer a1", "Bearer a1", "Bearer a1"])
        #expect(await store.load(in: nil) == token)
        date.advance(by: 2)
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: URLEndPoint(.get, url)) }
        #expect(error?.oauthError?.code == .notSignedIn)
        #expect(login.requests.isEmpty)
    }

    @Test("invalid_grant removes the token; later requests fail without a refresh", .requirement("S2.21"))
    func invalidGrant() async throws {
        let store = MemoryTokenStore(OAuthToken(accessToken: "a1", refreshToken: "r1"))
        let login = StubSession { _ in
            .json(#"{"error":"invalid_grant","error_description":"The refresh token was revoked."}"#, statusCode: 400)
        }
        let api = StubSession { _ in .status(401) }
        let router = router(api, AuthenticationInterceptor(OAuth2Authenticator(client(login), store: store)))
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: URLEndPoint(.get, url)) }
        #expect(error?.code == .cannotAuthenticate)
        #expect(error?.oauthError == OAuthError(.invalidGrant, text: "The refresh token was revoked."))
        #expect(error?.description.contains("The refresh token was revoked.") == true)
        #expect(error?.url == url)
        #expect(await store.load(in: nil) == nil)
        let later = await #expect(throws: NetworkError.self) { try await router.response(for: URLEndPoint(.get, url)) }
        #expect(later?.oauthError?.code == .notSignedIn)
        #expect(login.requests.count == 1)
        #expect(api.requests.count == 1)
    }

    @Test(
        "a failing login server or a refused client keeps the token",
        arguments: [
            (MockResponse.status(503), NetworkError.Code.cannotAuthenticate),
            (.failure(.cannotConnect), .cannotConnect),
            (.json(#"{"error":"invalid_client"}"#, statusCode: 401), .cannotAuthenticate),
            (.text("captive portal"), .cannotAuthenticate),
        ])
    func keptOnFailure(response: MockResponse, code: NetworkError.Code) async throws {
        let token = OAuthToken(accessToken: "a1", refreshToken: "r1")
        let store = MemoryTokenStore(token)
        let login = StubSession(response, .json(#"{"access_token":"a2","token_type":"bearer"}"#))
        let api = StubSession { $0.headers["Authorization"] == "Bearer a2" ? .text("ok") : .status(401) }
        let router = router(api, AuthenticationInterceptor(OAuth2Authenticator(client(login), store: store)))
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: URLEndPoint(.get, url)) }
        #expect(error?.code == code)
        if response.body == Data("captive portal".utf8) {
            #expect(error?.reason?.contains(#"it is "text/plain; charset=utf-8" of 14 bytes"#) == true)
        }
        #expect(await store.load(in: nil) == token)
        #expect(try await router.response(for: URLEndPoint(.get, url)).statusCode == 200)
    }

    @Test("a reset removes the tokens of all partitions, also from the store", .requirement("S2.17", "S2.21"))
    func reset() async throws {
        let store = MemoryTokenStore(OAuthToken(accessToken: "a1"))
        await store.save(OAuthToken(accessToken: "b1"), in: "qa")
        let interceptor = AuthenticationInterceptor(
            OAuth2Authenticator(client(StubSession { _ in .status(500) }), store: store))
        #expect(try await interceptor.credential(in: nil)?.accessToken == "a1")
        await interceptor.reset()
        #expect(await store.load(in: nil) == nil)
        #expect(await store.load(in: "qa") == nil)
        #expect(try await interceptor.credential(in: "qa") == nil)
    }

    @Test("a damaged token file is a typed error until a reset removes it")
    func brokenStore() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("tokens")
            try PrivateFile.write(Data("{".utf8), to: file)
            let api = StubSession { _ in .text("ok") }
            let interceptor = AuthenticationInterceptor(
                OAuth2Authenticator(client(StubSession { _ in .status(500) }), store: FileTokenStore(file)))
            let router = router(api, interceptor)
            let error = await #expect(throws: NetworkError.self) {
                try await router.response(for: URLEndPoint(.get, url))
            }
            #expect(error?.code == .cannotAuthenticate)
            await #expect(throws: NetworkError.self) {
                try await interceptor.signIn(OAuthToken(accessToken: "lost"), in: nil)
            }
            #expect(try Data(contentsOf: file) == Data("{".utf8))
            await interceptor.reset()
            try await interceptor.signIn(OAuthToken(accessToken: "new"), in: nil)
            _ = try await router.response(for: URLEndPoint(.get, url))
            #expect(api.authorizations == ["Bearer new"])
        }
    }

    @Test("after a reset that fails, only tokens of later logins are loaded")
    func failedReset() async throws {
        let old = OAuthToken(accessToken: "old")
        let store = LastingTokenStore(["qa": old, nil: old])
        let authenticator = OAuth2Authenticator(client(StubSession { _ in .status(500) }), store: store)
        let api = StubSession { _ in .text("ok") }
        let router = router(api, AuthenticationInterceptor(authenticator))
        _ = try await router.response(for: URLEndPoint(.get, url))
        await router.reset()
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: URLEndPoint(.get, url)) }
        #expect(error?.oauthError?.code == .notSignedIn)
        try await authenticator.save(OAuthToken(accessToken: "new"), in: nil)
        #expect(try await authenticator.load(in: nil)?.accessToken == "new")
        #expect(try await authenticator.load(in: "qa") == nil)
        #expect(api.authorizations == ["Bearer old"])
    }

    @Test("after a sign-out that fails, no token of another process is used", arguments: [false, true])
    func failedSignOut(isUnreadable: Bool) async throws {
        let store = LastingTokenStore([nil: OAuthToken(accessToken: "a1")])
        let interceptor = AuthenticationInterceptor(client(StubSession { _ in .status(500) }), store: store)
        let api = StubSession { _ in .text("ok") }
        let router = router(api, interceptor)
        _ = try await router.response(for: URLEndPoint(.get, url))
        // Another process has refreshed the token.
        await store.save(OAuthToken(accessToken: "a2"), in: nil)
        await store.setUnreadable(isUnreadable)
        await #expect(throws: NetworkError.self) { try await interceptor.signOut(in: nil) }
        await store.setUnreadable(false)
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: URLEndPoint(.get, url)) }
        #expect(error?.oauthError?.code == .notSignedIn)
        #expect(api.authorizations == ["Bearer a1"])
    }

    /// Starts a request, and returns it when it waits for a credential.
    private func waitingRequest(_ router: Router<URLEndPoint>) async throws -> Task<NetworkResponse, any Error> {
        let waiting = WaitingCounter()
        let call = Task {
            try await router.response(for: URLEndPoint(.get, url), options: RequestOptions { $0.monitors = [waiting] })
        }
        _ = try await waiting.values.first()
        return call
    }

    @Test("a request before a removal from the store does not use the token", arguments: [false, true])
    func requestBeforeRemoval(isReset: Bool) async throws {
        let (store, gate) = (MemoryTokenStore(OAuthToken(accessToken: "a1")), Gate())
        let interceptor = AuthenticationInterceptor(client(StubSession { _ in .status(500) }), store: store)
        let api = StubSession { _ in .text("ok") }
        let router = router(api, interceptor)
        _ = try await router.response(for: URLEndPoint(.get, url))
        // Another process has refreshed the token.
        await store.save(OAuthToken(accessToken: "a2"), in: nil)
        _ = interceptor.saving.start { try await gate.wait() }
        let removal = Task {
            if isReset { await interceptor.reset() } else { try await interceptor.signOut(in: nil) }
        }
        let isSignedOut = try await comesTrue { try await interceptor.credential(in: nil) == nil }
        #expect(isSignedOut)
        let call = try await waitingRequest(router)
        gate.open()
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.oauthError?.code == .notSignedIn)
        try await removal.value
        #expect(await store.load(in: nil) == nil)
        #expect(api.authorizations == ["Bearer a1"])
    }

    @Test("a request after a sign-out does not wait for saves of other partitions")
    func requestDuringOtherSave() async throws {
        let (gate, codes) = (Gate(), Deliveries<OAuthError.Code?>())
        let interceptor = AuthenticationInterceptor(client(StubSession { _ in .status(500) }))
        let router = router(StubSession { _ in .text("ok") }, interceptor)
        try await interceptor.signOut(in: "b")
        let save = interceptor.saving.start { try await gate.wait() }
        let call = Task {
            let options = RequestOptions { $0.partition = "b" }
            let error = await #expect(throws: NetworkError.self) {
                try await router.response(for: URLEndPoint(.get, url), options: options)
            }
            codes.add(error?.oauthError?.code)
        }
        let code = try await codes.first()
        #expect(code == .notSignedIn)
        gate.open()
        await call.value
        try await save.value
    }

    @Test("after a request during a reset, a later sign-in elsewhere is used")
    func signedInElsewhereAfterReset() async throws {
        let store = PausedTokenStore(OAuthToken(accessToken: "a1"))
        let interceptor = AuthenticationInterceptor(client(StubSession { _ in .status(500) }), store: store)
        let api = StubSession { _ in .text("ok") }
        let router = router(api, interceptor)
        _ = try await router.response(for: URLEndPoint(.get, url))
        let reset = Task { await interceptor.reset() }
        _ = try await store.removals.first()
        let call = try await waitingRequest(router)
        store.gate.open()
        await reset.value
        await #expect(throws: NetworkError.self) { try await call.value }
        await store.save(OAuthToken(accessToken: "b1"), in: nil)
        _ = try await router.response(for: URLEndPoint(.get, url))
        #expect(api.authorizations == ["Bearer a1", "Bearer b1"])
    }

    @Test("a request during a reset does not load the token being removed")
    func requestDuringReset() async throws {
        let store = PausedTokenStore(OAuthToken(accessToken: "old"))
        let interceptor = AuthenticationInterceptor(client(StubSession { _ in .status(500) }), store: store)
        let api = StubSession { _ in .text("ok") }
        let router = router(api, interceptor)
        let reset = Task { await interceptor.reset() }
        _ = try await store.removals.first()
        #expect(try await interceptor.credential(in: nil) == nil)
        let call = try await waitingRequest(router)
        store.gate.open()
        await reset.value
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.oauthError?.code == .notSignedIn)
        let later = await #expect(throws: NetworkError.self) { try await router.response(for: URLEndPoint(.get, url)) }
        #expect(later?.oauthError?.code == .notSignedIn)
        #expect(api.requests.isEmpty)
        try await interceptor.signIn(OAuthToken(accessToken: "new"), in: nil)
        _ = try await router.response(for: URLEndPoint(.get, url))
        #expect(api.authorizations == ["Bearer new"])
    }
}

/// A store that waits for a gate before it removes all tokens.
private final class PausedTokenStore: TokenStore {
    let removals = Deliveries<Bool>()
    let gate = Gate()
    private let store: MemoryTokenStore

    init(_ token: OAuthToken) { store = MemoryTokenStore(token) }

    func load(in partition: String?) async -> OAuthToken? { await store.load(in: partition) }
    func save(_ token: OAuthToken, in partition: String?) async { await store.save(token, in: partition) }
    func remove(in partition: String?) async { await store.remove(in: partition) }

    func removeAll() async throws {
        removals.add(true)
        try await gate.wait()
        await store.removeAll()
    }
}

/// A store whose tokens cannot be removed.
private actor LastingTokenStore: TokenStore {
    private var tokens: [String?: OAuthToken]
    private var isUnreadable = false

    init(_ tokens: [String?: OAuthToken]) { self.tokens = tokens }

    func setUnreadable(_ isUnreadable: Bool) { self.isUnreadable = isUnreadable }

    func load(in partition: String?) throws -> OAuthToken? {
        if isUnreadable { throw NetworkError(.unreadableFile) }
        return tokens[partition]
    }

    func save(_ token: OAuthToken, in partition: String?) { tokens[partition] = token }
    func remove(in partition: String?) throws { throw NetworkError(.cannotWriteFile) }
    func removeAll() throws { throw NetworkError(.cannotWriteFile) }
}
