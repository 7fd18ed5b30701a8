import Dispatch
import Foundation
import SwitchboardCalls
import SwitchboardCookies
import SwitchboardPlatform
import SwitchboardTesting
import Testing

@testable import Switchboard
@testable import SwitchboardAuth
@testable import SwitchboardCache
import SwitchboardTestSupport
@testable import SwitchboardResilience

/// Every closure of an app runs in the environment of its request. The process is in production here, the manager in
/// staging.
@Suite(.timeLimit(.minutes(10)))
struct ClosureEnvironmentTests {
    private let environments = EnvironmentRecord()

    private func manager(
        _ interceptors: [any Interceptor] = [], _ exchangeInterceptors: [any ExchangeInterceptor] = [],
        options: RequestOptions = RequestOptions(),
        queue: DispatchQueue? = nil, session: any NetworkSession
    ) -> NetworkManager {
        NetworkManager(
            environment: .staging, session: session, interceptors: interceptors,
            exchangeInterceptors: exchangeInterceptors, options: options, completionQueue: queue)
    }

    @Test("closures of interceptors run in their request's environment")
    func interceptors() async throws {
        let environments = environments
        let session = StubSession { _ in
            environments.record("session", .json("[]", headers: ["Set-Cookie": "a=1; Max-Age=9"]))
        }
        let retry = RetryPolicy(
            strategy: .custom { attempt, _, _ in environments.record("RetryStrategy", attempt == 1 ? .zero : nil) })
        let jitter = RetryPolicy(
            jitter: { environments.record("RetryJitter", 0) }, now: { environments.record("now", Date()) })
        let breaker = CircuitBreaker(
            key: { _ in environments.record("CircuitBreaker.key", "a") },
            isFailure: { _ in environments.record("Judge", false) })
        let all: [any Interceptor] = [
            NetworkLogger { _ in environments.record("NetworkLogger") }, retry, jitter, breaker,
            APIKeyAuth(in: .query("k")) { environments.record("APIKeyAuth", "k") },
            BearerAuth { environments.record("BearerAuth", nil) },
            BasicAuth { environments.record("BasicAuth", nil) },
            CommonHeaders { environments.record("CommonHeaders", [:]) },
            CommonParameters { environments.record("CommonParameters", ["c": 1]) },
            CompositeAuth(["a": BearerAuth("t")]) { _ in environments.record("CompositeAuth", .named("a")) },
            RequestModifier { _ in environments.record("RequestModifier") },
            ResponseModifier { _ in environments.record("ResponseModifier") },
            ResultModifier { _ in environments.record("ResultModifier") },
            RequestSigner { _ in environments.record("RequestSigner") },
            RecordingInterceptor(environments: environments),
            ResponseCache(identity: { _ in environments.record("ResponseCache.identity", "me") }),
        ]
        let monitors = RequestOptions {
            $0.monitors = [
                RecordingMonitor(environments: environments), NetworkLogger { _ in environments.record("EventLogger") },
            ]
        }
        let exchanges: [any ExchangeInterceptor] = [
            RecordingExchange(environments: environments),
            CookieInterceptor(CookieJar(now: { environments.record("CookieJar.now", Date()) })),
        ]
        let manager = manager(all, exchanges, options: monitors, session: session)
        let router = manager.router(for: NumbersApi.self)
        _ = try await router.response(for: NumbersApi())
        let failing = StubSession(
            .status(503), .status(503, headers: ["Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"]), .text(""))
        _ = try await self.manager([jitter], session: failing).response(for: NumbersApi())
        _ = await router.explain(NumbersApi())
        environments.expect([
            "APIKeyAuth", "BasicAuth", "BearerAuth", "CircuitBreaker.key", "CommonHeaders", "CommonParameters",
            "CompositeAuth", "CookieJar.now", "EventLogger", "EventMonitor", "ExchangeInterceptor", "Interceptor",
            "Judge", "RequestModifier", "ResponseModifier", "ResultModifier", "NetworkLogger",
            "RequestAdapter", "RequestSigner", "ResponseCache.identity", "RetryJitter", "RetryStrategy", "now",
            "session",
        ])
    }

    @Test("authenticators and token stores run in their request's environment")
    func credentials() async throws {
        let environments = environments
        let session = StubSession { request in
            switch request.headers["Authorization"] {
            case "Key 2", "Bearer new": .text("ok")
            case let field? where field.hasPrefix("Digest"): .text("ok")
            default:
                request.url?.path == "/token"
                    ? .json(#"{"access_token":"new","token_type":"Bearer","expires_in":3600}"#)
                    : .status(401, headers: ["WWW-Authenticate": #"Digest realm="r", nonce="n", qop="auth""#])
            }
        }
        let client = OAuth2Client(
            id: "app", tokenURL: URL(text: "https://login.example.com/token"), session: session,
            now: { environments.record("OAuth2Client.now", Date()) })
        let login = AuthenticationInterceptor(
            RecordingAuthenticator(environments: environments),
            now: { environments.record("AuthenticationInterceptor.now", Date()) })
        let oauth = AuthenticationInterceptor(
            OAuth2Authenticator(client, store: RecordingStore(environments: environments)))
        let digest = DigestAuth { environments.record("DigestAuth", BasicCredentials(user: "u", password: "p")) }
        for interceptor in [login, oauth, digest] as [any Interceptor] {
            let manager = manager([interceptor], session: session)
            #expect(try await manager.request(NumbersApi(), as: String.self) == "ok")
        }
        try await oauth.signIn(OAuthToken(accessToken: "new"), in: .staging)
        try await oauth.signOut(in: .staging)
        environments.expect([
            "Authenticator.apply", "Authenticator.isAuthenticationFailure", "Authenticator.load",
            "Authenticator.needsRefresh", "Authenticator.refresh", "Authenticator.save",
            "AuthenticationInterceptor.now", "DigestAuth", "OAuth2Client.now", "TokenStore.load", "TokenStore.remove",
            "TokenStore.save",
        ])
    }

    @Test("options, encoders and bodies run in their request's environment")
    func making() async throws {
        let environments = environments
        let session = StubSession { _ in .text("") }
        let form = URLEncodedFormEncoder(
            arrayEncoding: .custom { name, _ in environments.record("ArrayEncoding", name) })
        let isSending = Protected(false)
        // The closure also runs when the options are created, outside of any request.
        let options = RequestOptions {
            $0.timeouts.total = nil
            if isSending.value { environments.record("RequestOptions") }
        }
        isSending.withLock { $0 = true }
        let router = manager(options: RequestOptions { $0.timeouts.idle = .seconds(9) }, session: session)
            .router(for: NumbersApi.self)
        let encoded = HTTPTask.requestParameters(
            bodyParameters: ["a": 1], bodyEncoding: .custom(RecordingParameterEncoder(environments: environments)))
        _ = try await router.response(for: NumbersApi(httpMethod: .post, task: encoded), options: options)
        _ = try await router.response(
            for: NumbersApi(httpMethod: .post, task: .requestBody(RecordingBody(environments: environments))))
        let common = CommonParameters(
            ["list": [1]],
            bodyEncoding: .jsonEncoding(query: form))
        _ = try await manager([common], session: session).response(for: NumbersApi())
        _ = try await router.prepare(NumbersApi()).send { _ in environments.record("changing") }
        environments.expect([
            "ArrayEncoding", "HTTPBody.encode", "ParameterEncoder",
            "RequestOptions", "changing",
        ])
    }

    @Test("validation and decoding run in their request's environment")
    func response() async throws {
        let environments = environments
        let session = StubSession { request in request.path == "/list" ? .json("[1]") : .json("[1]", statusCode: 418) }
        var options = RequestOptions()
        options.acceptedStatusCodes = .init { environments.record("AcceptedStatusCodes", $0 == 200) }
        options.statusMap = StatusMap(
            code: { _ in environments.record("StatusMap.code", .badRequest) },
            message: { _ in environments.record("StatusMap.message", "failed") })
        options.decoder = RecordingDecoder(environments: environments)
        let manager = NetworkManager(environment: .staging, session: session, options: options)
        let router = manager.router(for: NumbersApi.self)
        #expect(try await router.request(NumbersApi(), as: [Int].self) == [1])
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: NumbersApi(path: "no")) }
        let response = try await router.rawResponse(for: NumbersApi())
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { _ in environments.record("JSONDecoder", Date()) }
        #expect(try response.decode([Date].self, decoder: decoder).count == 1)
        decoder.dateDecodingStrategy = .custom { _ in environments.record("NetworkError.decode", Date()) }
        #expect(try error?.decode([Date].self, decoder: decoder).count == 1)
        environments.expect([
            "AcceptedStatusCodes", "JSONDecoder", "NetworkError.decode", "ResponseDecoder", "StatusMap.code",
            "StatusMap.message",
        ])
    }

    @Test(
        "completions and transforms run in their request's environment",
        arguments: [true, false])
    func completions(hasQueue: Bool) async throws {
        let environments = environments
        let session = StubSession { _ in .json("[1]") }
        let manager = manager(queue: hasQueue ? DispatchQueue(label: "completions") : nil, session: session)
        let router = manager.router(for: NumbersApi.self)
        let ended = Deliveries<String>()
        let end: @Sendable (String) -> Void = { name in
            environments.record(name)
            ended.add(name)
        }
        let call = router.call(for: NumbersApi(), as: [Int].self).map { environments.record("map", $0) }
            .compactMap { environments.record("compactMap", $0) }
            .flatMap { _ in environments.record("flatMap", router.call(for: NumbersApi(), as: [Int].self)) }
            .flatMap(width: 2) { _ in
                environments.record("flatMap(width:)", router.call(for: NumbersApi(), as: [Int].self))
            }
            .flatMapResults(width: 2) { _ in
                environments.record("flatMapResults", router.call(for: NumbersApi(), as: [Int].self))
            }
        router.request(NumbersApi()) { _, _, _ in end("data, response, error") }
        router.request(NumbersApi(), as: [Int].self) { _ in end("request") }
        router.response(for: NumbersApi()) { _ in end("response") }
        _ = router.prepare(NumbersApi()).start(
            transform: { _ in Transferred(environments.record("transform")) }, completion: { _ in end("perform") })
        manager.send(Typed()) { _ in end("send") }
        call.start(on: hasQueue ? DispatchQueue(label: "call") : nil) { _ in end("start") }
        call.start(on: MainActor.self) { _ in end("start on the main actor") }
        call.start(on: Place()) { _, _ in end("start on an actor") }
        LatestCall<[Int]>().start(manager.call(for: Typed()), on: DispatchQueue(label: "latest")) { _ in
            end("LatestCall")
        }
        router.request(NumbersApi(base: [:])) { _, _, _ in end("a request that cannot be made") }
        _ = try await ended.wait(for: 10)
        environments.expect(
            ended.all + ["compactMap", "flatMap", "flatMap(width:)", "flatMapResults", "map", "transform"])
    }

    @Test("closures of a session chain run in the environment of the request")
    func sessionChain() async throws {
        let environments = environments
        let session = StubSession { _ in environments.record("session", .text("")) }
        var request = try manager(session: session).router(for: NumbersApi.self).makeRequest(for: NumbersApi())
        request.options.monitors = [RecordingMonitor(environments: environments)]
        let chain = SessionChain {
            RequestModifier { _ in environments.record("RequestModifier") }
            BearerAuth { environments.record("BearerAuth", nil) }
            session
        }
        _ = try await chain.send(request)
        environments.expect(["BearerAuth", "EventMonitor", "RequestModifier", "session"])
    }

    @Test("without a manager, closures run in the environment of their task")
    func withoutManager() async throws {
        let environments = environments
        let ended = Deliveries<Bool>()
        let router = Router<NumbersApi>(
            session: StubSession { _ in .json("[1]") },
            interceptors: [BearerAuth { environments.record("BearerAuth", nil) }],
            completionQueue: DispatchQueue(label: "completions"))
        NetworkEnvironment.withCurrent(.staging) {
            _ = router.request(NumbersApi(), as: [Int].self) { _ in
                environments.record("completion")
                ended.open()
            }
        }
        _ = try await ended.first()
        environments.expect(["BearerAuth", "completion"])
    }

    @Test("a router without a manager uses the environment of a request around it")
    func routerInProvider() async throws {
        let login = StubSession { _ in .text("token") }
        let router = Router<NumbersApi>(session: login)
        let bearer = BearerAuth { try await router.response(for: NumbersApi()).text }
        let api = StubSession { _ in .text("") }
        _ = try await manager([bearer], session: api).response(for: NumbersApi())
        #expect(login.requests.map(\.url?.host) == ["staging.example.com"])
        #expect(api.requests.map { $0.headers["Authorization"] } == ["Bearer token"])
    }

    @Test("a call that a monitor makes at the end of a call is in its environment", arguments: [200, 404, nil])
    func callOfMonitor(statusCode: Int?) async throws {
        struct Beacon: EventMonitor {
            let send: @Sendable () -> Void
            func record(_ event: CallEvent) { if event.kind.isLast { send() } }
        }
        let ended = Deliveries<Bool>()
        let box = Protected<NetworkManager?>(nil)
        let session = StubSession { request in
            if request.path == "/list" { return .json("[1]") }
            box.value?.environment = .production
            guard let statusCode else { throw NetworkError(.connectionLost) }
            return .text("", statusCode: statusCode)
        }
        let manager = manager(session: session)
        box.withLock { $0 = manager }
        defer { box.withLock { $0 = nil } }
        let beacon = Beacon { box.value?.send(Typed()) { _ in ended.open() } }
        _ = try? await manager.response(for: NumbersApi(), options: RequestOptions { $0.monitors = [beacon] })
        _ = try await ended.first()
        #expect(session.requests.map(\.environment) == [.staging, .staging])
    }

    private struct Typed: TypedEndPoint {
        typealias Response = [Int]
        var baseURL: String { "https://api.example.com" }
        var path: String { "list" }
    }

    private actor Place {}
}
