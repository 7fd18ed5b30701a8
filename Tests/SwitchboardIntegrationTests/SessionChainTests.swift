import Foundation
import Switchboard
import SwitchboardCache
import SwitchboardCookies
import SwitchboardCalls
import SwitchboardJSON
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ChainTests {
    private let url = URL(text: "https://a.example/x")

    /// Appends a mark to a field.
    private struct Mark: Interceptor {
        let text: String

        func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
            var request = request
            request.headers["X-Order"] = (request.headers["X-Order"] ?? "") + text
            return try await next(request)
        }
    }

    @Test("a chain is a session whose interceptors run in the order listed", .requirement("S2.11"))
    func order() async throws {
        let stub = StubSession { _ in .text("done") }
        let isDebug = true
        let session = SessionChain {
            Mark(text: "a")
            if isDebug { Mark(text: "b") }
            if !isDebug { Mark(text: "-") } else { Mark(text: "c") }
            for text in ["d", "e"] { Mark(text: text) }
            [Mark(text: "f"), Mark(text: "g")]
            SessionChain {
                Mark(text: "h")
                stub
            }
        }
        let response = try await session.send(NetworkRequest(.get, url))
        #expect(response.text == "done")
        #expect(stub.requests.map { $0.headers["X-Order"] } == ["abcdefgh"])
        _ = try await SessionChain { stub }.send(NetworkRequest(.get, url))
    }

    @Test("a chain encodes a body with the encoder of the options")
    func encoder() async throws {
        var snakeCase = FastJSONEncoder()
        snakeCase.keyEncodingStrategy = .convertToSnakeCase
        let stub = StubSession { _ in .text("done") }
        struct Todo: Encodable { var userId = 1 }
        let options = RequestOptions { [snakeCase] in $0.encoder = snakeCase }
        _ = try await SessionChain { stub }.send(NetworkRequest(.post, url, body: JSONBody(Todo()), options: options))
        #expect(try stub.requests.first?.body.encode() == Data("{\"user_id\":1}".utf8))
        let form = MultipartBody(.body("todo", JSONBody(Todo())))
        _ = try await SessionChain { stub }.send(NetworkRequest(.post, url, body: form, options: options))
        let sent = try stub.requests.last?.body.encode() ?? Data()
        #expect(String(decoding: sent, as: UTF8.self).contains("{\"user_id\":1}"))
    }

    @Test("a cassette counts no bytes that a cache in its chain delivers")
    func cachedBytes() async throws {
        try await withFolder { folder in
            let cache = try ResponseCache(folder: folder.appendingPathComponent("cache"))
            let stub = StubSession { _ in .data(Data(count: 3_000_000), headers: ["Cache-Control": "max-age=60"]) }
            let session = SessionChain {
                cache
                stub
            }
            let file = folder.appendingPathComponent("cassette.har")
            let cassette = try Cassette(file: file, mode: .rewrite, recording: session)
            let router = Router<URLEndPoint>(session: cassette)
            var counts: [Int64] = []
            for name in ["a", "b"] {
                let response = try await router.download(
                    URLEndPoint(.get, url), to: folder.appendingPathComponent(name))
                counts.append(response.metrics.bytesReceived)
            }
            #expect(counts == [3_000_000, 0] && stub.requests.count == 1)
        }
    }

    @Test(
        "a cache before the defaults of servers does not mix their responses",
        arguments: ["people", "people?next=https://c.example/"])
    func cacheBeforeDefaults(url: String) async throws {
        let stub = StubSession { request in .text(request.host, headers: ["Cache-Control": "max-age=60"]) }
        let session = SessionChain {
            ResponseCache(identity: { _ in "me" })
            ServerDefaults(host: "a.example")
            stub
        }
        var texts: [String] = []
        for host in ["a.example", "b.example"] {
            var request = NetworkRequest(.get, URL(string: url))
            request.options.serverDefaults = ServerDefaults(host: host)
            texts.append(try await session.send(request).text)
        }
        #expect(texts == ["a.example", "b.example"])
    }

    @Test("a chain without a session fails with cannotConnect and says why", .requirement("S2.11"))
    func noSession() async throws {
        let chains = [
            SessionChain {
                Mark(text: "a"); RetryPolicy(maximumAttempts: 1)
            }, SessionChain {},
        ]
        let reasons = ["the chain ends with RetryPolicy: add a session", "the chain is empty: add a session"]
        for (chain, words) in zip(chains, reasons) {
            let error = await #expect(throws: NetworkError.self) { try await chain.send(NetworkRequest(.get, url)) }
            #expect(error?.code == .cannotConnect)
            #expect(error?.reason?.contains(words) == true)
            #expect(error?.url == url)
            let router = Router<URLEndPoint>(session: chain)
            let again = await #expect(throws: NetworkError.self) {
                try await router.response(for: URLEndPoint(.get, url))
            }
            #expect(again?.code == .cannotConnect)
        }
    }

    @Test("a request sent by a chain has its total timeout, monitors and history", .requirement("S2.11"))
    func bareCall() async throws {
        let stub = StubSession(.status(503), .text("done"))
        let session = SessionChain {
            RetryPolicy(clock: TestClock(skips: true))
            stub
        }
        let heard = Events()
        var request = NetworkRequest(.put, url, body: JSONBody(["a": 1]))
        request.options.monitors = [heard]
        let response = try await session.send(request)
        #expect(response.history.map(\.outcome) == [.status(503), .status(200)])
        #expect(heard.texts.first == "started")
        #expect(heard.texts.last == "finished: HTTP 200")
        #expect(Set(stub.requests.map(\.id)) == [request.id])

        let clock = TestClock()
        let slow = SessionChain(clock: clock) { StubSession { _ in .stall } }
        request.timeouts = Timeouts(idle: nil, total: .seconds(3))
        let call = Task { [request] in try await slow.send(request) }
        while try await clock.nextSleep() != .seconds(3) {}
        clock.advance(by: .seconds(3))
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.code == .timedOut)
    }

    @Test("a chain as a router's session shares its history, plan and reset", .requirement("S2.11"))
    func underRouter() async throws {
        let stub = StubSession(.redirect(to: "/home").setting("id=1; Path=/"), .status(503), .text("home"))
        let jar = CookieJar()
        let chain = SessionChain {
            RetryPolicy(clock: TestClock(skips: true))
            CookieInterceptor(jar)
            stub
        }
        let router = Router<URLEndPoint>(session: chain, interceptors: [Mark(text: "a")])
        let response = try await router.response(for: URLEndPoint(.get, url))
        #expect(response.text == "home")
        #expect(response.history.map(\.outcome) == [.status(302), .status(503), .status(200)])
        #expect(response.history.map(\.number) == [1, 2, 3])
        #expect(stub.requests.map { $0.headers["Cookie"] } == [nil, "id=1", "id=1"])
        let plan = await router.explain(URLEndPoint(.get, url))
        #expect(plan.interceptors == ["Mark", "RetryPolicy", "RedirectInterceptor", "CookieInterceptor"])
        #expect(plan.session == "StubSession")
        await router.reset()
        #expect(jar.cookies().isEmpty)
    }

    @Test("a chain within another session is one exchange of the router's call", .requirement("S2.11"))
    func withinASession() async throws {
        let stub = StubSession(.status(503), .text("done"))
        let chain = SessionChain {
            RetryPolicy(clock: TestClock(skips: true))
            stub
        }
        let router = Router<URLEndPoint>(session: AdHocSession { try await chain.send($0) })
        let response = try await router.response(for: URLEndPoint(.get, url))
        #expect(response.text == "done")
        #expect(stub.requests.count == 2)
        #expect(response.history.map(\.number) == [1])
    }

    @Test(
        "a chain follows redirects, sends cookies and resends bodies", .requirement("S2.11"),
        arguments: SessionKind.allCases
    )
    func wire(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.redirect(to: "/end", statusCode: 307).setting("id=1"), .text("end"))
            let session = SessionChain {
                RedirectInterceptor()
                CookieInterceptor()
                kind.make()
            }
            let response = try await session.send(NetworkRequest(.post, server.url, body: JSONBody(["a": 1])))
            #expect(response.text == "end")
            #expect(server.requests.map(\.text) == [#"{"a":1}"#, #"{"a":1}"#])
            #expect(server.requests.map { $0.headers["Cookie"] } == [nil, "id=1"])
        }
    }

    @Test("canceling the task or resetting the chain ends calls in flight", .requirement("S2.11", "S2.16"))
    func cancelling() async throws {
        for isReset in [false, true] {
            let arrived = AsyncStream<Void>.makeStream()
            let jar = CookieJar()
            let chain = SessionChain {
                CookieInterceptor(jar)
                AdHocSession { _ in
                    arrived.continuation.yield()
                    try await Task.sleep(for: .seconds(3_600))
                    return NetworkResponse(statusCode: 200)
                }
            }
            jar.store(["a=1"], from: url)
            let call = Task { try await chain.send(NetworkRequest(.get, url)) }
            for await _ in arrived.stream { break }
            if isReset { await chain.reset() } else { call.cancel() }
            await #expect(throws: CancellationError.self) { try await call.value }
            #expect(jar.cookies().isEmpty == isReset)
        }
    }
}
