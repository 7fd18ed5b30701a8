import Foundation
import Switchboard
import SwitchboardAuth
import SwitchboardCache
import SwitchboardResilience
import SwitchboardTestSupport
import SwitchboardTesting

extension Exhibit {
    /// The exhibits in the order in which a request can meet their errors.
    static let all = unmade + unsent + broken + refused + statuses + valueless

    // MARK: No request could be made

    private static let unmade: [Exhibit] = [
        Exhibit(.invalidRequest, "A header value with a line break in it.") {
            let endPoint = URLEndPoint(
                .get, URL(text: "https://films.example.com/films?api_key=hunter2"),
                headers: ["X-Client": "tour\r\nX-Evil: 1"])
            _ = try await Router<URLEndPoint>(session: StubSession()).response(for: endPoint)
        },
        Exhibit(.missingURL, "A typed endpoint without a base URL, sent by a manager without `servers:`.") {
            struct FindFilms: TypedEndPoint { typealias Response = [Film]; var path: String { "films" } }
            _ = try await NetworkManager(session: StubSession()).send(FindFilms())
        },
        Exhibit(.parametersNil, "`JSONParameterEncoder().encode(urlRequest: &request, with: nil)`.") {
            var request = URLRequest(url: URL(text: "https://films.example.com/films"))
            try JSONParameterEncoder().encode(urlRequest: &request, with: nil)
        },
        Exhibit(.encodingFailed, "A body parameter that is not a number: `[\"stars\": Double.nan]`.") {
            _ = try await Gallery.router(StubSession()).response(for: .rate(id: 7, stars: .nan))
        },
        Exhibit(.unreadableFile, "A form with a file that is not there.") {
            let form = MultipartBody(.field("title", "Alien"), .file("poster", URL(fileURLWithPath: "/no/poster.png")))
            let endPoint = URLEndPoint(.post, URL(text: "https://films.example.com/films"), task: .upload(form))
            _ = try await Router<URLEndPoint>(session: StubSession()).response(for: endPoint)
        },
        Exhibit(.bodyNotAllowed, "A GET with body parameters.") {
            _ = try await Gallery.router(StubSession()).response(for: .filtered)
        },
        Exhibit(.unsupported, "`timeouts.connect` over `FoundationSession`, which cannot keep it.") {
            let options = RequestOptions { $0.timeouts.connect = .seconds(1) }
            _ = try await Gallery.router(FoundationSession(), options: options).response(for: .list)
        },
        Exhibit(.unknownEnvironment, "A manager in the environment `staging`, whose `servers:` have production alone.")
        {
            let manager = NetworkManager(
                environment: .staging, servers: [.production: "https://films.example.com/"], session: StubSession())
            _ = try await manager.router(for: GalleryApi.self).response(for: .list)
        },
    ]

    // MARK: It was not sent

    private static let unsent: [Exhibit] = [
        Exhibit(.sessionInvalidated, "A request over a session that was invalidated.") {
            let session = DefaultSession.make()
            session.invalidate()
            _ = try await Gallery.router(session).response(for: .list)
        },
        Exhibit(.resetInProgress, "A request during `router.reset()`, from what is being reset.") {
            let asked = Deliveries<NetworkError?>()
            let vault = Vault()
            let router = Gallery.router(StubSession(), [vault])
            vault.onReset = {
                do {
                    _ = try await router.response(for: .list)
                    asked.add(nil)
                } catch {
                    asked.add(error as? NetworkError)
                }
            }
            await router.reset()
            if let error = try await asked.first() { throw error }
        },
        Exhibit(
            .circuitOpen, "The second request through `CircuitBreaker(failures: 1)`, when the first was answered 503."
        ) {
            let breaker = CircuitBreaker(failures: 1, clock: TestClock())
            let router = Gallery.router(StubSession { _ in .status(503) }, [breaker])
            _ = try? await router.response(for: .list)
            _ = try await router.response(for: .list)
        },
        Exhibit(.notCached, "`cachePolicy` of `.returnCacheDataDontLoad`, and a `ResponseCache` that has nothing.") {
            let options = RequestOptions { $0.cachePolicy = .returnCacheDataDontLoad }
            _ = try await Gallery.router(StubSession(), [ResponseCache()], options: options).response(for: .list)
        },
        Exhibit(.cancelled, "`router.cancel()` while a call with a completion waits for its answer.") {
            let sent = Deliveries<Bool>()
            let router = Gallery.router(
                StubSession { _ in
                    sent.open()
                    return .stall
                })
            let results = Deliveries<Result<[Film], NetworkError>>()
            router.request(.list, as: [Film].self) { results.add($0) }
            _ = try await sent.first()
            router.cancel()
            _ = try await results.first().get()
        },
        Exhibit(.cannotAuthenticate, "An `AuthenticationInterceptor` for which nobody has signed in.") {
            let session = StubSession()
            let client = OAuth2Client(
                id: "app", tokenURL: URL(text: "https://login.example.com/token"), session: session)
            _ = try await Gallery.router(session, [AuthenticationInterceptor(OAuth2Authenticator(client))])
                .response(for: .list)
        },
    ]

    // MARK: A response was accepted and gave no value

    private static let valueless: [Exhibit] = [
        Exhibit(.noData, "`as: [Film].self` for an answer without a body.") {
            try await Gallery.ask(.status(200))
        },
        Exhibit(.decodingFailed, "An answer in which a film's title is null.") {
            try await Gallery.ask(.json(#"[{"title":"Stalker","token":"hunter2"},{"title":null}]"#))
        },
        Exhibit(.unexpectedContentType, "A page of HTML where JSON was expected, as a login page of a hotel's network.")
        {
            try await Gallery.ask(
                .text("<html><title>Welcome</title></html>", headers: ["Content-Type": "text/html; charset=utf-8"]))
        },
        Exhibit(.unknown, "A custom session that throws a custom error.") {
            enum RadioError: Error { case batteryEmpty }
            _ = try await Gallery.router(AdHocSession { _ in throw RadioError.batteryEmpty }).response(for: .list)
        },
    ]
}

/// Sends a request while it is reset.
private final class Vault: Interceptor, Resettable, @unchecked Sendable {  // set once, before it is used
    var onReset: @Sendable () async -> Void = {}

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        try await next(request)
    }

    func reset() async {
        await onReset()
    }
}
