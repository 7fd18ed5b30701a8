import Foundation
@testable import SwitchboardAuth
import SwitchboardPlatform
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

@testable import Switchboard

/// Two processes with one sign-in: each has an interceptor, and both share a token file.
@Suite(.timeLimit(.minutes(10)))
struct SharedSignInTests {
    /// An authorization server that accepts each refresh token once, and an API that accepts only the newest token.
    private final class Server: Sendable {
        private let number = Protected(1)
        private let isExpired = Protected(false)
        /// Runs once, before the next refresh.
        let beforeRefresh = Protected<(@Sendable () async throws -> Void)?>(nil)

        var token: OAuthToken {
            let number = number.value
            return OAuthToken(accessToken: "a\(number)", refreshToken: "r\(number)")
        }

        func expire() { isExpired.withLock { $0 = true } }

        func refresh() {
            number.withLock { $0 += 1 }
            isExpired.withLock { $0 = false }
        }

        func router(_ file: URL) -> Router<URLEndPoint> { router(FileTokenStore(file)) }

        func router(_ store: FileTokenStore) -> Router<URLEndPoint> {
            let login = StubSession { request in
                try await self.beforeRefresh.swap(nil)?()
                let sent = FormBody.decode(try request.body.encode()).first { $0.name == "refresh_token" }?.value
                guard sent == self.token.refreshToken else {
                    return .invalidGrant
                }
                self.refresh()
                let number = self.number.value
                return .json(
                    #"{"access_token":"a\#(number)","token_type":"bearer","expires_in":60,"refresh_token":"r\#(number)"}"#
                )
            }
            let api = StubSession {
                let isValid = $0.headers["Authorization"] == "Bearer \(self.token.accessToken)"
                return isValid && !self.isExpired.value ? .text("ok") : .status(401)
            }
            let client = OAuth2Client(login)
            return Router(session: api, interceptors: [AuthenticationInterceptor(client, store: store)])
        }
    }

    private let get = URLEndPoint(.get, URL(text: "https://api.example.com/a"))

    @Test("a token that another process refreshed is used and stays saved")
    func refreshedElsewhere() async throws {
        try await withFolder { folder in
            let (server, file) = (Server(), folder.appendingPathComponent("tokens"))
            try await FileTokenStore(file).save(server.token, in: nil)
            let (one, other) = (server.router(file), server.router(file))
            _ = try await one.response(for: get)
            _ = try await other.response(for: get)
            for (number, routers) in [
                (2, [one, other]), (3, [one, one, other]), (4, [other, one]), (5, [one, other]),
            ] {
                server.expire()
                for router in routers { _ = try await router.response(for: get) }
                #expect(server.token.accessToken == "a\(number)")
                #expect(try await FileTokenStore(file).load(in: nil)?.refreshToken == "r\(number)")
            }
        }
    }

    @Test("a token that another process refreshes at the same time is used")
    func refreshedMeanwhile() async throws {
        try await withFolder { folder in
            let (server, file) = (Server(), folder.appendingPathComponent("tokens"))
            try await FileTokenStore(file).save(server.token, in: nil)
            let router = server.router(file)
            server.expire()
            server.beforeRefresh.withLock {
                $0 = {
                    server.refresh()
                    try await FileTokenStore(file).save(server.token, in: nil)
                }
            }
            _ = try await router.response(for: get)
            #expect(server.token.accessToken == "a2")
            #expect(try await FileTokenStore(file).load(in: nil) == server.token)
        }
    }

    @Test("of two processes that refresh at the same moment, one sends its token")
    func sameMoment() async throws {
        try await withFolder { folder in
            let (server, file, clock) = (Server(), folder.appendingPathComponent("tokens"), TestClock())
            try await FileTokenStore(file).save(server.token, in: nil)
            let (one, other) = (server.router(file), server.router(FileTokenStore(file, clock: clock)))
            for router in [one, other] { _ = try await router.response(for: get) }
            server.expire()
            let second = Protected<Task<NetworkResponse, any Error>?>(nil)
            server.beforeRefresh.withLock {
                $0 = { [get] in
                    second.withLock { $0 = Task { try await other.response(for: get) } }
                    _ = try await clock.nextSleep()  // of the other one, for the lock
                }
            }
            _ = try await one.response(for: get)
            clock.advance(by: .seconds(1))
            _ = try await second.value?.value
            #expect(server.token.accessToken == "a2")
            #expect(try await FileTokenStore(file).load(in: nil)?.accessToken == "a2")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["tokens"])
        }
    }

    @Test("a refresh holds the lock of its partition until its token is saved")
    func lockOfRefresh() async throws {
        try await withFolder { folder in
            let (server, clock) = (Server(), TestClock())
            let store = FileTokenStore(folder.appendingPathComponent("tokens"), clock: clock)
            try await store.save(server.token, in: nil)
            let router = server.router(store)
            _ = try await router.response(for: get)
            server.expire()
            let changes = try #require(try FileLock.open(folder.path + "/.tokens.lock", mode: 0o600))
            let refreshing = Task { try await router.response(for: get) }
            _ = try await clock.nextSleep()  // of the save, for the lock of changes
            #expect(server.token.accessToken == "a2")
            #expect(try FileLock.open(folder.path + "/" + Self.refreshLock, mode: 0o600) == nil)
            unlink(folder.path + "/.tokens.lock")
            close(changes)
            clock.advance(by: .seconds(1))
            _ = try await refreshing.value
            #expect(try await store.load(in: nil)?.accessToken == "a2")
        }
    }

    /// cbf29ce484222325 is the FNV-1a hash of no bytes.
    private static let refreshLock = ".cbf29ce484222325.tokens.lock"

    /// Holds the lock of refreshes, as another process does, until the descriptor is closed.
    private func holdRefreshLock(in folder: URL) throws -> Int32 {
        try #require(try FileLock.open(folder.path + "/" + Self.refreshLock, mode: 0o600))
    }

    /// Returns the router of an API that accepts only one token.
    private func router(
        accepting token: String, _ login: AuthenticationInterceptor<OAuth2Authenticator>
    ) -> Router<URLEndPoint> {
        let api = StubSession { $0.headers["Authorization"] == "Bearer \(token)" ? .text("ok") : .status(401) }
        return Router(session: api, interceptors: [login])
    }

    @Test("a refresh is sent once, whatever happens to its lock")
    func refreshOnce() async throws {
        try await withFolder { folder in
            let (clock, refreshes) = (TestClock(skips: true), Protected(0))
            func refresh(_ name: String) async throws {
                try await FileTokenStore(folder.appendingPathComponent(name), clock: clock).withRefreshLock(in: nil) {
                    refreshes.withLock { $0 += 1 }
                    throw POSIXError(.ECONNRESET)
                }
            }
            await #expect(throws: POSIXError.self) { try await refresh("tokens") }
            #expect(refreshes.value == 1)
            await #expect(throws: POSIXError.self) { try await refresh("missing/tokens") }
            #expect(refreshes.value == 2 && clock.sleeps.isEmpty)
            let descriptor = try holdRefreshLock(in: folder)
            defer { close(descriptor) }
            await #expect(throws: POSIXError.self) { try await refresh("tokens") }
            #expect(refreshes.value == 3)
            #expect(clock.sleeps.reduce(.zero, +) >= .seconds(10))
        }
    }

    @Test("a refresh that a sign-in supersedes in its wait sends nothing")
    func supersededInQueue() async throws {
        try await withFolder { folder in
            let (file, clock) = (folder.appendingPathComponent("tokens"), TestClock())
            let login = StubSession()
            let client = OAuth2Client(login)
            let interceptor = AuthenticationInterceptor(client, store: FileTokenStore(file, clock: clock))
            let router = self.router(accepting: "a2", interceptor)
            try await interceptor.signIn(OAuthToken(accessToken: "a1", refreshToken: "r1"), in: String?.none)
            let descriptor = try holdRefreshLock(in: folder)
            defer { close(descriptor) }
            let waiting = Task { try await router.request(get, as: String.self) }
            _ = try await clock.nextSleep()
            try await interceptor.signIn(OAuthToken(accessToken: "a2", refreshToken: "r2"), in: String?.none)
            #expect(clock.sleeperCount == 0)
            #expect(try await waiting.value == "ok")
            #expect(login.requests.isEmpty)
        }
    }

    @Test("the wait for another process is not part of the timeout of a refresh")
    func waitIsNoRefresh() async throws {
        try await withFolder { folder in
            let (clock, waits) = (TestClock(), TestClock())
            let login = StubSession(.json(#"{"access_token":"a2","token_type":"bearer"}"#))
            let client = OAuth2Client(login)
            let store = FileTokenStore(folder.appendingPathComponent("tokens"), clock: waits)
            let interceptor = AuthenticationInterceptor(
                OAuth2Authenticator(client, store: store), refreshTimeout: .seconds(5), clock: clock)
            let router = self.router(accepting: "a2", interceptor)
            try await interceptor.signIn(OAuthToken(accessToken: "a1", refreshToken: "r1"), in: String?.none)
            let descriptor = try holdRefreshLock(in: folder)
            defer { close(descriptor) }
            let waiting = Task { try await router.request(get, as: String.self) }
            _ = try await waits.nextSleep()
            clock.advance(by: .seconds(6))
            waits.advance(by: .seconds(11))
            #expect(try await waiting.value == "ok")
        }
    }

    @Test("a sign-out of another process is not undone by a refresh", arguments: [false, true])
    func signedOutElsewhere(meanwhile: Bool) async throws {
        try await withFolder { folder in
            let (server, file) = (Server(), folder.appendingPathComponent("tokens"))
            let store = FileTokenStore(file)
            try await store.save(server.token, in: nil)
            let router = server.router(file)
            _ = try await router.response(for: get)
            server.expire()
            if meanwhile {
                server.beforeRefresh.withLock { $0 = { try await store.remove(in: nil) } }
            } else {
                try await store.removeAll()
            }
            let error = await #expect(throws: NetworkError.self) { try await router.response(for: get) }
            #expect(error?.oauthError?.code == .notSignedIn)
            #expect(try await store.load(in: nil) == nil)
            #expect(server.token.accessToken == (meanwhile ? "a2" : "a1"))
            // The next sign-in of another process is for this one too.
            server.refresh()
            try await store.save(server.token, in: nil)
            #expect(try await router.request(get, as: String.self) == "ok")
        }
    }

    @Test("a process without a token does not undo the sign-out of another one")
    func signedOutWithoutToken() async throws {
        try await withFolder { folder in
            let (server, file) = (Server(), folder.appendingPathComponent("tokens"))
            let store = FileTokenStore(file)
            let router = server.router(file)
            await #expect(throws: NetworkError.self) { try await router.response(for: get) }
            var expired = server.token
            expired.expiresAt = .distantPast
            try await store.save(expired, in: nil)
            server.beforeRefresh.withLock { $0 = { try await store.remove(in: nil) } }
            let error = await #expect(throws: NetworkError.self) { try await router.response(for: get) }
            #expect(error?.oauthError?.code == .notSignedIn)
            #expect(try await store.load(in: nil) == nil)
            #expect(server.token.accessToken == "a2")
        }
    }

    @Test("a process without a token uses that of a later sign-in elsewhere", arguments: [false, true])
    func signedInElsewhereLater(signsOut: Bool) async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("tokens")
            let client = OAuth2Client(StubSession())
            let interceptor = AuthenticationInterceptor(client, store: FileTokenStore(file))
            let router = self.router(accepting: "b1", interceptor)
            if signsOut {
                try await interceptor.signIn(OAuthToken(accessToken: "a1"), in: String?.none)
                try await interceptor.signOut(in: String?.none)
            }
            let error = await #expect(throws: NetworkError.self) { try await router.response(for: get) }
            #expect(error?.oauthError?.code == .notSignedIn)
            try await FileTokenStore(file).save(OAuthToken(accessToken: "b1"), in: nil)
            #expect(try await router.request(get, as: String.self) == "ok")
        }
    }

    @Test("a refreshed token is saved also if that of the sign-in was not")
    func savedFirstAfterRefresh() async throws {
        try await withFolder { folder in
            let store = FileTokenStore(folder.appendingPathComponent("tokens"))
            let client = OAuth2Client(StubSession(.token("a2", "r2")))
            let authenticator = OAuth2Authenticator(client, store: store)
            #expect(try await authenticator.load(in: nil) == nil)
            let fresh = try await authenticator.refresh(OAuthToken(accessToken: "a1", refreshToken: "r1"), in: nil)
            try await authenticator.save(fresh, in: nil)
            #expect(try await store.load(in: nil)?.accessToken == "a2")
        }
    }

    @Test("a sign-in of another process is not undone by a refresh")
    func signedInElsewhere() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("tokens")
            let login = StubSession { _ in
                try await FileTokenStore(file).save(OAuthToken(accessToken: "b1", refreshToken: "rb"), in: nil)
                return .token("a2", "r2")
            }
            let client = OAuth2Client(login)
            let interceptor = AuthenticationInterceptor(client, store: FileTokenStore(file))
            let router = self.router(accepting: "b1", interceptor)
            try await interceptor.signIn(OAuthToken(accessToken: "a1", refreshToken: "r1"), in: String?.none)
            #expect(try await router.request(get, as: String.self) == "ok")
            #expect(login.requests.count == 1)
            #expect(try await FileTokenStore(file).load(in: nil)?.accessToken == "b1")
        }
    }

    @Test("a token from the store does not replace a newer one there")
    func newerToken() async throws {
        let store = RacingStore()
        let client = OAuth2Client(StubSession(.invalidGrant))
        let interceptor = AuthenticationInterceptor(client, store: store)
        let router = self.router(accepting: "a2", interceptor)
        try await interceptor.signIn(OAuthToken(accessToken: "a1", refreshToken: "r1"), in: String?.none)
        await store.replace("a2", afterLoad: "a3")
        #expect(try await router.request(get, as: String.self) == "ok")
        #expect(await store.load(in: nil)?.accessToken == "a3")
    }

    @Test("a sign-in after a reset saves its token, also one from the store")
    func sameTokenAfterReset() async throws {
        let store = MemoryTokenStore()
        let client = OAuth2Client(StubSession())
        let authenticator = OAuth2Authenticator(client, store: store)
        let (old, new) = (OAuthToken(accessToken: "a1"), OAuthToken(accessToken: "a2"))
        try await authenticator.save(old, in: nil)
        await store.save(new, in: nil)
        #expect(try await authenticator.refresh(old, in: nil) == new)
        await authenticator.reset()
        try await authenticator.save(new, in: nil)
        #expect(await store.load(in: nil) == new)
    }

    @Test("a canceled refresh leaves the token of another process to the next one")
    func canceledRefresh() async throws {
        let store = MemoryTokenStore()
        let client = OAuth2Client(StubSession())
        let authenticator = OAuth2Authenticator(client, store: store)
        let (old, new) = (OAuthToken(accessToken: "a1"), OAuthToken(accessToken: "a2"))
        try await authenticator.save(old, in: nil)
        await store.save(new, in: nil)
        let canceled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await authenticator.refresh(old, in: nil)
        }
        await #expect(throws: CancellationError.self) { try await canceled.value }
        #expect(try await authenticator.refresh(old, in: nil) == new)
    }

    @Test("a refresh that fails late leaves the token that the next one took from the store")
    func lateFailure() async throws {
        let (store, sent, gate) = (MemoryTokenStore(), Deliveries<Bool>(), Gate())
        let login = StubSession { _ in
            sent.add(true)
            try await gate.wait()
            return .status(500)
        }
        let authenticator = OAuth2Authenticator(OAuth2Client(login), store: store)
        #expect(try await authenticator.load(in: nil) == nil)
        await store.save(OAuthToken(accessToken: "a1", refreshToken: "r1", expiresAt: .distantPast), in: nil)
        let late = Task { try await authenticator.refresh(nil, in: nil) }
        _ = try await sent.first()
        await store.save(OAuthToken(accessToken: "a2"), in: nil)
        let taken = try await authenticator.refresh(nil, in: nil)
        gate.open()
        await #expect(throws: NetworkError.self) { try await late.value }
        // Another process signs in before the taken token is saved.
        let newest = OAuthToken(accessToken: "a3")
        await store.save(newest, in: nil)
        try await authenticator.save(taken, in: nil)
        #expect(await store.load(in: nil) == newest)
    }

    @Test("a canceled refresh that ends late leaves the token that the next one took from the store")
    func lateSuccess() async throws {
        let store = SlowStore()
        let old = OAuthToken(accessToken: "a1", refreshToken: "r1")
        let taken = OAuthToken(accessToken: "a2")
        let authenticator = Protected<OAuth2Authenticator?>(nil)
        let login = StubSession { _ in
            // The refresh looks into the store again. Meanwhile it is canceled, and the next one begins and ends.
            await store.beforeResult {
                await store.save(taken, in: nil)
                let next = try await authenticator.value?.refresh(old, in: nil)
                #expect(next == taken)
                withUnsafeCurrentTask { $0?.cancel() }
            }
            return .token("late", "r2")
        }
        let made = OAuth2Authenticator(OAuth2Client(login), store: store)
        authenticator.withLock { $0 = made }
        try await made.save(old, in: nil)
        _ = await Task { try await made.refresh(old, in: nil) }.result
        // Another process signs in before the taken token is saved.
        let newest = OAuthToken(accessToken: "a3")
        await store.save(newest, in: nil)
        try await made.save(taken, in: nil)
        let kept = try await store.load(in: nil)
        #expect(kept == newest)
    }

    /// A store during whose next load something else happens.
    private actor SlowStore: TokenStore {
        private var token: OAuthToken?
        private var meanwhile: (@Sendable () async throws -> Void)?

        func beforeResult(_ meanwhile: @escaping @Sendable () async throws -> Void) { self.meanwhile = meanwhile }

        func load(in partition: String?) async throws -> OAuthToken? {
            let (result, meanwhile) = (token, meanwhile)
            self.meanwhile = nil
            try await meanwhile?()
            return result
        }

        func save(_ token: OAuthToken, in partition: String?) { self.token = token }
        func remove(in partition: String?) { token = nil }
        func removeAll() { token = nil }
    }

    @Test("an expired token of another process is sent after a failed refresh")
    func failedRefreshOfReplacement() async throws {
        let store = MemoryTokenStore()
        let login = StubSession { request in
            let form = FormBody.decode(try request.body.encode())
            guard form.contains(where: { $0.name == "refresh_token" && $0.value == "r2" }) else {
                return .invalidGrant
            }
            return .token("a3", "r3")
        }
        login.enqueue(.failure(.timedOut))
        let client = OAuth2Client(login)
        let authenticator = OAuth2Authenticator(client, store: store)
        let old = OAuthToken(accessToken: "a1", refreshToken: "r1")
        try await authenticator.save(old, in: nil)
        await store.save(OAuthToken(accessToken: "a2", refreshToken: "r2", expiresAt: .distantPast), in: nil)
        await #expect(throws: NetworkError.self) { try await authenticator.refresh(old, in: nil) }
        #expect(try await authenticator.refresh(old, in: nil).accessToken == "a3")
    }

    @Test("a rejected expired token of another process is not used again")
    func rejectedReplacement() async throws {
        let store = MemoryTokenStore()
        let client = OAuth2Client(StubSession(.invalidGrant))
        let authenticator = OAuth2Authenticator(client, store: store)
        let old = OAuthToken(accessToken: "a1", refreshToken: "r1")
        try await authenticator.save(old, in: nil)
        await store.save(OAuthToken(accessToken: "a2", refreshToken: "r2", expiresAt: .distantPast), in: nil)
        let error = await #expect(throws: NetworkError.self) { try await authenticator.refresh(old, in: nil) }
        #expect(error?.oauthError?.code == .invalidGrant)
    }

    @Test("a refused expired token of another process is sent once")
    func refusedReplacement() async throws {
        let store = MemoryTokenStore()
        let login = StubSession { _ in .invalidGrant }
        let client = OAuth2Client(login)
        let authenticator = OAuth2Authenticator(client, store: store)
        try await authenticator.save(OAuthToken(accessToken: "a1", refreshToken: "r1"), in: nil)
        await store.save(OAuthToken(accessToken: "a2", refreshToken: "r2", expiresAt: .distantPast), in: nil)
        for code in [OAuthError.Code.invalidGrant, .notSignedIn] {
            let error = await #expect(throws: NetworkError.self) { try await authenticator.refresh(nil, in: nil) }
            #expect(error?.oauthError?.code == code)
        }
        #expect(login.requests.count == 1)
        // Only saves change the store, because they run one at a time.
        #expect(await store.load(in: nil)?.accessToken == "a2")
        // A sign-out removes any token.
        await store.save(OAuthToken(accessToken: "a3"), in: nil)
        try await authenticator.save(nil, in: nil)
        #expect(await store.load(in: nil) == nil)
    }

    @Test("a refresh token that another process replaced alone is sent", arguments: [false, true])
    func sameAccessToken(meanwhile: Bool) async throws {
        try await withFolder { folder in
            let store = FileTokenStore(folder.appendingPathComponent("tokens"))
            let (old, new) = (
                OAuthToken(accessToken: "s", refreshToken: "r0"), OAuthToken(accessToken: "s", refreshToken: "r1")
            )
            let login = StubSession { request in
                let form = FormBody.decode(try request.body.encode())
                guard form.contains(where: { $0.name == "refresh_token" && $0.value == "r1" }) else {
                    try await store.save(new, in: nil)
                    return .invalidGrant
                }
                return .token("s", "r2")
            }
            let client = OAuth2Client(login)
            let authenticator = OAuth2Authenticator(client, store: store)
            try await authenticator.save(old, in: nil)
            if !meanwhile { try await store.save(new, in: nil) }
            let fresh = try await authenticator.refresh(old, in: nil)
            #expect(fresh.refreshToken == (meanwhile ? "r1" : "r2"))
            #expect(login.requests.count == 1)
            try await authenticator.save(fresh, in: nil)
            #expect(try await store.load(in: nil) == fresh)
        }
    }

    @Test("a refresh token that the store does not keep is sent")
    func refreshTokenInMemory() async throws {
        let store = AccessTokenStore()
        let login = StubSession(.token("a2", "r2"))
        let client = OAuth2Client(login)
        let authenticator = OAuth2Authenticator(client, store: store)
        let old = OAuthToken(accessToken: "a1", refreshToken: "r1")
        try await authenticator.save(old, in: nil)
        let fresh = try await authenticator.refresh(old, in: nil)
        #expect(fresh.accessToken == "a2" && fresh.refreshToken == "r2")
        let request = try #require(login.requests.first)
        let form = FormBody.decode(try request.body.encode())
        #expect(form.contains { $0.name == "refresh_token" && $0.value == "r1" })
    }

    /// A store that keeps no refresh tokens.
    private struct AccessTokenStore: TokenStore {
        private let store = MemoryTokenStore()

        func load(in partition: String?) async -> OAuthToken? { await store.load(in: partition) }

        func save(_ token: OAuthToken, in partition: String?) async {
            await store.save(OAuthToken(accessToken: token.accessToken), in: partition)
        }

        func remove(in partition: String?) async { await store.remove(in: partition) }
        func removeAll() async { await store.removeAll() }
    }

    /// A store that another process changes directly after a token was loaded.
    private actor RacingStore: TokenStore {
        private var token: OAuthToken?
        private var next: OAuthToken?

        func replace(_ name: String, afterLoad next: String) {
            token = OAuthToken(accessToken: name, refreshToken: "r")
            self.next = OAuthToken(accessToken: next, refreshToken: "r")
        }

        func load(in partition: String?) -> OAuthToken? {
            defer { (token, next) = (next ?? token, nil) }
            return token
        }

        func save(_ token: OAuthToken, in partition: String?) { self.token = token }
        func remove(in partition: String?) { token = nil }
        func removeAll() { token = nil }
    }

    @Test("a saved token that no other process changed is not used again")
    func unchangedStore() async throws {
        let store = UnwritableStore()
        let client = OAuth2Client(StubSession(.invalidGrant))
        let interceptor = AuthenticationInterceptor(client, store: store)
        let api = StubSession { _ in .status(401) }
        let router = Router<URLEndPoint>(session: api, interceptors: [interceptor])
        _ = try await interceptor.credential(in: String?.none)
        await #expect(throws: NetworkError.self) {
            try await interceptor.signIn(OAuthToken(accessToken: "new", refreshToken: "r"), in: String?.none)
        }
        await #expect(throws: NetworkError.self) { try await router.response(for: get) }
        #expect(api.authorizations == ["Bearer new"])
    }

    /// A store with the token of an earlier user, which cannot be written.
    private struct UnwritableStore: TokenStore {
        func load(in partition: String?) -> OAuthToken? { OAuthToken(accessToken: "old", refreshToken: "old") }
        func save(_ token: OAuthToken, in partition: String?) throws { throw NetworkError(.cannotWriteFile) }
        func remove(in partition: String?) throws { throw NetworkError(.cannotWriteFile) }
        func removeAll() throws { throw NetworkError(.cannotWriteFile) }
    }

    @Test("client credentials use the token that another process requested")
    func clientCredentials() async throws {
        let (store, login) = (MemoryTokenStore(), StubSession { _ in .json(#"{"access_token":"a3"}"#) })
        let client = OAuth2Client(
            id: "app", secret: "secret", tokenURL: URL(text: "https://login.example.com/"), session: login)
        let authenticator = OAuth2Authenticator(client, grant: .clientCredentials, store: store)
        let (old, new) = (OAuthToken(accessToken: "a1"), OAuthToken(accessToken: "a2"))
        try await authenticator.save(old, in: nil)
        await store.save(new, in: nil)
        #expect(try await authenticator.refresh(old, in: nil) == new)
        #expect(login.requests.isEmpty)
        // Its own token was rejected, so it requests another one.
        #expect(try await authenticator.refresh(new, in: nil).accessToken == "a3")
    }

    @Test("of two processes that start together, one requests client credentials")
    func firstClientCredentials() async throws {
        let (store, login) = (MemoryTokenStore(), StubSession { _ in .json(#"{"access_token":"a1"}"#) })
        let client = OAuth2Client(
            id: "app", secret: "secret", tokenURL: URL(text: "https://login.example.com/"), session: login)
        let one = OAuth2Authenticator(client, grant: .clientCredentials, store: store)
        let other = OAuth2Authenticator(client, grant: .clientCredentials, store: store)
        #expect(try await one.load(in: nil) == nil)
        #expect(try await other.load(in: nil) == nil)
        let token = try await one.refresh(nil, in: nil)
        try await one.save(token, in: nil)
        #expect(try await other.refresh(nil, in: nil) == token)
        #expect(login.requests.count == 1)
    }

    @Test("a rejected token that the store has already is not used again", arguments: [false, true])
    func rejectedInStore(hasRefreshToken: Bool) async throws {
        let (store, login) = (MemoryTokenStore(), StubSession { _ in .json(#"{"access_token":"a3"}"#) })
        let client = OAuth2Client(
            id: "app", secret: "secret", tokenURL: URL(text: "https://login.example.com/"), session: login)
        let authenticator = OAuth2Authenticator(
            client, grant: hasRefreshToken ? .refreshToken : .clientCredentials, store: store)
        let rejected = OAuthToken(accessToken: "a2", refreshToken: hasRefreshToken ? "r2" : nil)
        try await authenticator.save(OAuthToken(accessToken: "a1"), in: nil)
        // As after a save that is not finished.
        await store.save(rejected, in: nil)
        #expect(try await authenticator.refresh(rejected, in: nil).accessToken == "a3")
    }
}
