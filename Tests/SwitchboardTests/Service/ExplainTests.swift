import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ExplainTests {
    private struct Stamp: Interceptor, RequestAdapter {
        func adapt(_ request: inout NetworkRequest) { request.headers["X-Stamp"] = "1" }
    }

    private struct Trace: ExchangeInterceptor {
        func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
            try await next(request)
        }
    }

    private let session = StubSession { _ in .text("") }

    @Test("explain shows the request and the interceptors' order, sending nothing")
    func plan() async throws {
        let foreign = AdHocInterceptor { request, next in try await next(request) }
        let router = Router<URLEndPoint>(
            session: session, interceptors: [NetworkLogger(), Stamp(), foreign],
            exchangeInterceptors: [Trace()])
        let endPoint = URLEndPoint(
            .post, URL(text: "https://api.example.com/films"),
            task: .requestParameters(
                bodyParameters: ["title": "Alien", "password": "hunter2"], urlParameters: ["page": 1]),
            headers: ["Authorization": "Bearer hunter2"])
        let plan = await router.explain(endPoint)
        #expect(plan.error == nil)
        #expect(plan.request?.url == URL(text: "https://api.example.com/films?page=1"))
        #expect(plan.request?.headers["X-Stamp"] == "1")
        #expect(
            plan.interceptors == [
                "NetworkLogger", "Stamp", "AdHocInterceptor", "RedirectInterceptor", "Trace",
            ])
        #expect(plan.session == "StubSession")
        #expect(session.requests.isEmpty)
        let text = plan.description
        for expected in [
            "POST https://api.example.com/films?page=1", "X-Stamp: 1", "Authorization: <redacted>",
            #"{"title":"Alien","password":"<redacted>"}"#, "idle 60 s", "total none",
            "4. RedirectInterceptor\n5. Trace (each exchange)\n6. StubSession",
        ] {
            #expect(text.contains(expected), "\(expected) is missing in:\n\(text)")
        }
        #expect(!text.contains("hunter2"))
        #expect(!String(reflecting: plan).contains("hunter2"))
        var dumped = ""
        dump(plan, to: &dumped)
        #expect(!dumped.contains("hunter2"))
    }

    @Test("explain reports why no request can be made")
    func failure() async throws {
        let router = Router<URLEndPoint>(session: session)
        let plan = await router.explain(URLEndPoint(.get, URL(text: "ftp://api.example.com/")))
        #expect(plan.error?.code == .invalidRequest)
        #expect(plan.description.hasPrefix("No request: "))
        let body = await router.explain(
            URLEndPoint(.get, URL(text: "https://api.example.com/"), task: .requestBody(JSONBody(1))))
        #expect(body.error?.code == .bodyNotAllowed)
    }

    @Test("explain names the adapter that throws, as the call does")
    func failingAdapter() async {
        struct Refusing: Interceptor, RequestAdapter {
            enum Refusal: Error { case noToken }
            func adapt(_ request: inout NetworkRequest) async throws { throw Refusal.noToken }
        }
        let router = Router<URLEndPoint>(session: session, interceptors: [Stamp(), Refusing()])
        let endPoint = URLEndPoint(.get, URL(text: "https://api.example.com/"))
        let plan = await router.explain(endPoint)
        #expect(plan.error?.reason == "Refusing threw Refusal.noToken")
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
        #expect(error?.reason == plan.error?.reason)
    }

    @Test("explain warns of clear text, whatever the case of the scheme")
    func upperCaseScheme() async throws {
        let endPoint = URLEndPoint(.get, URL(text: "HTTP://api.example.com/"), headers: ["Authorization": "Bearer x"])
        let plan = await Router<URLEndPoint>(session: StubSession()).explain(endPoint)
        #expect(plan.warnings.contains { $0.contains("clear text") })
    }

    @Test("explain shows the idempotency key that a retry policy adds")
    func idempotencyKey() async throws {
        let options = RequestOptions { $0.idempotencyKey = "order-7" }
        let endPoint = URLEndPoint(.post, URL(text: "https://api.example.com/"), options: options)
        let plan = await Router<URLEndPoint>(session: StubSession(), interceptors: [RetryPolicy()]).explain(endPoint)
        #expect(plan.request?.headers["Idempotency-Key"] == "order-7")
    }

    @Test("explain warns of clear text, secrets in URLs and useless timeouts")
    func warnings() async throws {
        var options = RequestOptions()
        options.timeouts = Timeouts(connect: .seconds(9), idle: nil, attempt: .seconds(5), total: .seconds(2))
        let router = Router<URLEndPoint>(
            session: session, options: options)
        let url = URL(text: "http://api.example.com/a?api_key=hunter2")
        let text = await router.explain(URLEndPoint(.get, url)).warnings.joined(separator: "\n")
        for expected in [
            "clear text", "the URL has a secret", "the attempt timeout of 5 s never passes: total is 2 s",
            "the connect timeout of 9 s never passes",
        ] {
            #expect(text.contains(expected), "\(expected) is missing in:\n\(text)")
        }
        #expect(!text.contains("hunter2"))
        let quiet = Router<URLEndPoint>(session: session, interceptors: [RetryPolicy()])
        #expect(await quiet.explain(URLEndPoint(.get, URL(text: "https://api.example.com/a"))).warnings.isEmpty)
        let local = URLEndPoint(.get, URL(text: "http://127.0.0.1:8080/"), headers: ["Authorization": "Bearer hunter2"])
        #expect(await quiet.explain(local).warnings.isEmpty)
    }

    @Test("explain shows the Accept field with which a typed endpoint is sent")
    func acceptOfTypedEndPoint() async throws {
        struct Report: TypedEndPoint {
            typealias Response = String
            var path: String { "report" }
        }
        let session = StubSession { _ in .text("ok") }
        let manager = NetworkManager(environment: .qa, servers: [.qa: "https://qa.example.com/v1"], session: session)
        let plan = await manager.explain(Report())
        _ = try await manager.send(Report())
        #expect(plan.request?.headers["Accept"] == "*/*")
        #expect(session.requests.map { $0.headers["Accept"] } == ["*/*"])
    }

    @Test("a manager's explain uses the current environment")
    func environment() async throws {
        struct Films: TypedEndPoint {
            typealias Response = String
            var path: String { "/films" }
        }
        let manager = NetworkManager(
            environment: .qa, servers: [.qa: "https://qa.example.com/v1", .production: "https://example.com"],
            session: session)
        #expect(await manager.explain(Films()).request?.url == URL(text: "https://qa.example.com/v1/films"))
        manager.environment = .staging
        #expect(await manager.explain(Films()).error?.code == .unknownEnvironment)
    }
}
