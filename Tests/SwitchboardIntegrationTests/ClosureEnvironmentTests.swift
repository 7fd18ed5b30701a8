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
    private let notes = EnvironmentNotes()

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
        let notes = notes
        let session = StubSession { _ in notes.note("session", .json("[]", headers: ["Set-Cookie": "a=1; Max-Age=9"])) }
        let retry = RetryPolicy(
            strategy: .custom { attempt, _, _ in notes.note("RetryStrategy", attempt == 1 ? .zero : nil) })
        let jitter = RetryPolicy(jitter: { notes.note("RetryJitter", 0) }, now: { notes.note("now", Date()) })
        let breaker = CircuitBreaker(
            key: { _ in notes.note("CircuitBreaker.key", "a") }, isFailure: { _ in notes.note("Judge", false) })
        let all: [any Interceptor] = [
            NetworkLogger { _ in notes.note("NetworkLogger") }, retry, jitter, breaker,
            APIKeyAuth(in: .query("k")) { notes.note("APIKeyAuth", "k") }, BearerAuth { notes.note("BearerAuth", nil) },
            BasicAuth { notes.note("BasicAuth", nil) }, CommonHeaders { notes.note("CommonHeaders", [:]) },
            CommonParameters { notes.note("CommonParameters", ["c": 1]) },
            CompositeAuth(["a": BearerAuth("t")]) { _ in notes.note("CompositeAuth", .named("a")) },
            RequestModifier { _ in notes.note("RequestModifier") },
            ResponseModifier { _ in notes.note("ResponseModifier") },
            ResultModifier { _ in notes.note("ResultModifier") },
            RequestSigner { _ in notes.note("RequestSigner") }, NotingInterceptor(notes: notes),
            ResponseCache(identity: { _ in notes.note("ResponseCache.identity", "me") }),
        ]
        let monitors = RequestOptions {
            $0.monitors = [NotingMonitor(notes: notes), NetworkLogger { _ in notes.note("EventLogger") }]
        }
        let exchanges: [any ExchangeInterceptor] = [
            NotingExchange(notes: notes), CookieInterceptor(CookieJar(now: { notes.note("CookieJar.now", Date()) })),
        ]
        let manager = manager(all, exchanges, options: monitors, session: session)
        let router = manager.router(for: PlaceApi.self)
        _ = try await router.response(for: PlaceApi())
        let failing = StubSession(
            .status(503), .status(503, headers: ["Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"]), .text(""))
        _ = try await self.manager([jitter], session: failing).response(for: PlaceApi())
        _ = await router.explain(PlaceApi())
        notes.expect([
            "APIKeyAuth", "BasicAuth", "BearerAuth", "CircuitBreaker.key", "CommonHeaders", "CommonParameters",
            "CompositeAuth", "CookieJar.now", "EventLogger", "EventMonitor", "ExchangeInterceptor", "Interceptor",
            "Judge", "RequestModifier", "ResponseModifier", "ResultModifier", "NetworkLogger",
            "RequestAdapter", "RequestSigner", "ResponseCache.identity", "RetryJitter", "RetryStrategy", "now",
            "session",
        ])
    }

    @Test("authenticators and token stores run in their request's environment")
    func credentials() async throws {
        let notes = notes
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
            now: { notes.note("OAuth2Client.now", Date()) })
        let login = AuthenticationInterceptor(
            NotingAuthenticator(notes: notes), now: { notes.note("AuthenticationInterceptor.now", Date()) })
        let oauth = AuthenticationInterceptor(OAuth2Authenticator(client, store: NotingStore(notes: notes)))
        let digest = DigestAuth { notes.note("DigestAuth", BasicCredentials(user: "u", password: "p")) }
        for interceptor in [login, oauth, digest] as [any Interceptor] {
            let manager = manager([interceptor], session: session)
            #expect(try await manager.request(PlaceApi(), as: String.self) == "ok")
        }
        try await oauth.signIn(OAuthToken(accessToken: "new"), in: .staging)
        try await oauth.signOut(in: .staging)
        notes.expect([
            "Authenticator.apply", "Authenticator.isAuthenticationFailure", "Authenticator.load",
            "Authenticator.needsRefresh", "Authenticator.refresh", "Authenticator.save",
            "AuthenticationInterceptor.now", "DigestAuth", "OAuth2Client.now", "TokenStore.load", "TokenStore.remove",
            "TokenStore.save",
        ])
    }

    @Test("options, encoders and bodies run in their request's environment")
    func making() async throws {
        let notes = notes
        let session = StubSession { _ in .text("") }
        let form = URLEncodedFormEncoder(arrayEncoding: .custom { name, _ in notes.note("ArrayEncoding", name) })
        let isSending = Protected(false)
        // The closure also runs when the options are created, outside of any request.
        let options = RequestOptions {
            $0.timeouts.total = nil
            if isSending.value { notes.note("RequestOptions") }
        }
        isSending.withLock { $0 = true }
        let router = manager(options: RequestOptions { $0.timeouts.idle = .seconds(9) }, session: session)
            .router(for: PlaceApi.self)
        let encoded = HTTPTask.requestParameters(
            bodyParameters: ["a": 1], bodyEncoding: .custom(NotingParameterEncoder(notes: notes)))
        _ = try await router.response(for: PlaceApi(httpMethod: .post, task: encoded), options: options)
        _ = try await router.response(for: PlaceApi(httpMethod: .post, task: .requestBody(NotingBody(notes: notes))))
        let common = CommonParameters(
            ["list": [1]],
            bodyEncoding: .jsonEncoding(query: form))
        _ = try await manager([common], session: session).response(for: PlaceApi())
        _ = try await router.prepare(PlaceApi()).send { _ in notes.note("changing") }
        notes.expect([
            "ArrayEncoding", "HTTPBody.encode", "ParameterEncoder",
            "RequestOptions", "changing",
        ])
    }

    @Test("validation and decoding run in their request's environment")
    func response() async throws {
        let notes = notes
        let session = StubSession { request in request.path == "/list" ? .json("[1]") : .json("[1]", statusCode: 418) }
        var options = RequestOptions()
        options.acceptedStatusCodes = .init { notes.note("AcceptedStatusCodes", $0 == 200) }
        options.statusMap = StatusMap(
            code: { _ in notes.note("StatusMap.code", .badRequest) },
            message: { _ in notes.note("StatusMap.message", "failed") })
        options.decoder = NotingDecoder(notes: notes)
        let manager = NetworkManager(environment: .staging, session: session, options: options)
        let router = manager.router(for: PlaceApi.self)
        #expect(try await router.request(PlaceApi(), as: [Int].self) == [1])
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: PlaceApi(path: "no")) }
        let response = try await router.rawResponse(for: PlaceApi())
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { _ in notes.note("JSONDecoder", Date()) }
        #expect(try response.decode([Date].self, decoder: decoder).count == 1)
        decoder.dateDecodingStrategy = .custom { _ in notes.note("NetworkError.decode", Date()) }
        #expect(try error?.decode([Date].self, decoder: decoder).count == 1)
        notes.expect([
            "AcceptedStatusCodes", "JSONDecoder", "NetworkError.decode", "ResponseDecoder", "StatusMap.code",
            "StatusMap.message",
        ])
    }

    @Test(
        "completions and transforms run in their request's environment",
        arguments: [true, false])
    func completions(hasQueue: Bool) async throws {
        let notes = notes
        let session = StubSession { _ in .json("[1]") }
        let manager = manager(queue: hasQueue ? DispatchQueue(label: "completions") : nil, session: session)
        let router = manager.router(for: PlaceApi.self)
        let ended = Deliveries<String>()
        let end: @Sendable (String) -> Void = { name in
            notes.note(name)
            ended.add(name)
        }
        let call = router.call(for: PlaceApi(), as: [Int].self).map { notes.note("map", $0) }
            .compactMap { notes.note("compactMap", $0) }
            .flatMap { _ in notes.note("flatMap", router.call(for: PlaceApi(), as: [Int].self)) }
            .flatMap(width: 2) { _ in notes.note("flatMap(width:)", router.call(for: PlaceApi(), as: [Int].self)) }
            .flatMapResults(width: 2) { _ in notes.note("flatMapResults", router.call(for: PlaceApi(), as: [Int].self))
            }
        router.request(PlaceApi()) { _, _, _ in end("data, response, error") }
        router.request(PlaceApi(), as: [Int].self) { _ in end("request") }
        router.response(for: PlaceApi()) { _ in end("response") }
        _ = router.prepare(PlaceApi()).start(
            transform: { _ in notes.note("transform") }, completion: { _ in end("perform") })
        manager.send(Typed()) { _ in end("send") }
        call.start(on: hasQueue ? DispatchQueue(label: "call") : nil) { _ in end("start") }
        call.start(on: MainActor.self) { _ in end("start on the main actor") }
        call.start(on: Place()) { _, _ in end("start on an actor") }
        LatestCall<[Int]>().start(manager.call(for: Typed()), on: DispatchQueue(label: "latest")) { _ in
            end("LatestCall")
        }
        router.request(PlaceApi(base: [:])) { _, _, _ in end("a request that cannot be made") }
        _ = try await ended.wait(for: 10)
        notes.expect(
            ended.all + ["compactMap", "flatMap", "flatMap(width:)", "flatMapResults", "map", "transform"])
    }

    @Test("without a manager, closures run in the environment of their task")
    func withoutManager() async throws {
        let notes = notes
        let ended = Deliveries<Bool>()
        let router = Router<PlaceApi>(
            session: StubSession { _ in .json("[1]") }, interceptors: [BearerAuth { notes.note("BearerAuth", nil) }],
            completionQueue: DispatchQueue(label: "completions"))
        NetworkEnvironment.withCurrent(.staging) {
            _ = router.request(PlaceApi(), as: [Int].self) { _ in
                notes.note("completion")
                ended.open()
            }
        }
        _ = try await ended.first()
        notes.expect(["BearerAuth", "completion"])
    }

    private struct Typed: TypedEndPoint {
        typealias Response = [Int]
        var baseURL: String { "https://api.example.com" }
        var path: String { "list" }
    }

    private actor Place {}
}
