import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct EventMonitorTests {
    private let endPoint = URLEndPoint(.get, URL(text: "https://api.example.com/a"))

    private func router(_ session: any NetworkSession, _ notes: Events, _ interceptors: [any Interceptor] = [])
        -> Router<URLEndPoint>
    {
        Router(
            session: session, interceptors: interceptors,
            options: RequestOptions { $0.monitors.append(notes) })
    }

    @Test("a monitor receives the events of a call in order, retries included", .requirement("S2.24"))
    func order() async throws {
        let notes = Events()
        let session = StubSession(
            .status(503), .status(302, headers: ["Location": "/b?token=hunter2"]), .text("here"))
        let retry = RetryPolicy(clock: TestClock(skips: true))
        _ = try await router(session, notes, [retry]).response(for: endPoint)
        #expect(
            notes.kinds == [
                "started", "exchange 1", "exchanged: HTTP 503 in N ms", "retry after N ms: HTTP 503", "exchange 2",
                "exchanged: HTTP 302 in N ms", "redirected to https://api.example.com/b?token=<redacted>", "exchange 3",
                "exchanged: HTTP 200 in N ms", "finished: HTTP 200",
            ])
        #expect(Set(notes.all.map(\.request.id)).count == 1)
        #expect(notes.all.map(\.elapsed) == notes.all.map(\.elapsed).sorted())
        #expect(!notes.all.map(\.description).joined().contains("hunter2"))
        // The event names both URLs.
        let redirect = try #require(notes.all.first { "\($0.kind)".hasPrefix("redirected") })
        #expect(redirect.request.url?.path == "/a")
    }

    @Test("the last event is the failure or the cancellation of the call", .requirement("S2.24"))
    func ends() async throws {
        let notes = Events()
        let stalls = Deliveries<Bool>()
        let session = StubSession { request in
            guard request.headers.contains("X-Stalls") else { return .failure(.timedOut, reason: "no sign of life") }
            stalls.open()
            return .stall
        }
        let router = router(session, notes)
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
        #expect(error?.code == .timedOut)
        #expect(
            notes.kinds == [
                "started", "exchange 1", "exchanged: timedOut in N ms",
                "failed: The request timed out: no sign of life",
            ])
        let waiting = URLEndPoint(.get, URL(text: "https://api.example.com/a"), headers: ["X-Stalls": "1"])
        let call = Task { try await router.response(for: waiting) }
        _ = try await stalls.first()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(notes.kinds.suffix(2) == ["exchanged: cancelled in N ms", "cancelled"])
    }

    @Test("a monitor that keeps events keeps no stream open", arguments: SessionKind.allCases)
    func keptEvents(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.text("one\ntwo\n").stalled(after: 4))
            let notes = Events()
            let router = router(kind.make(), notes)
            for try await line in router.lines(for: URLEndPoint(.get, server.url)) {
                #expect(line == "one")
                break
            }
            try await server.waitForDisconnect()
            #expect(notes.kinds.suffix(2) == ["exchanged: HTTP 200 in N ms", "cancelled"])
        }
    }

    @Test("an endpoint's monitor receives only its calls, and an app's reports")
    func ownEvents() async throws {
        let notes = Events()
        let answers = AdHocInterceptor { request, _ in
            request.report(.cache("hit"))
            return NetworkResponse(statusCode: 200)
        }
        let router = Router<URLEndPoint>(session: StubSession { _ in .text("") }, interceptors: [answers])
        _ = try await router.response(for: endPoint)
        #expect(notes.kinds.isEmpty)
        let watched = URLEndPoint(
            .get, URL(text: "https://api.example.com/a"), options: RequestOptions { $0.monitors.append(notes) })
        _ = try await router.response(for: watched)
        #expect(notes.kinds == ["started", "cache: hit", "finished: HTTP 200"])
    }

    @Test("a response has its call's history: requests, causes and outcomes")
    func historyOfResponse() async throws {
        let session = StubSession(.failure(.connectionLost), .status(303, headers: ["Location": "/b"]), .text("here"))
        let retry = RetryPolicy(clock: TestClock(skips: true))
        let response = try await router(session, Events(), [retry]).response(for: endPoint)
        #expect(response.history.map(\.number) == [1, 2, 3])
        #expect(response.history.map(\.outcome) == [.failure(.connectionLost), .status(303), .status(200)])
        #expect(response.history.map { $0.cause?.hasPrefix("retry") } == [nil, true, false])
        #expect(response.history.last?.cause == "redirect")
        #expect(response.history.map(\.request.url?.path) == ["/a", "/a", "/b"])
        #expect(response.history.map(\.metrics?.bytesReceived) == [nil, 0, 4])
    }

    @Test("an error has its call's history, and a later call has another", .requirement("S2.19"))
    func historyOfError() async throws {
        let session = StubSession(.failure(.timedOut), .failure(.connectionLost), .status(404))
        let retry = RetryPolicy(maximumAttempts: 2, clock: TestClock(skips: true))
        let router = router(session, Events(), [retry])
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
        #expect(error?.history.map(\.outcome) == [.failure(.timedOut), .failure(.connectionLost)])
        let missing = await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
        #expect(missing?.history.map(\.outcome) == [.status(404)])
    }

    @Test("a history keeps at most 100 exchanges")
    func bounded() async throws {
        let session = StubSession { _ in .failure(.timedOut) }
        let retry = RetryPolicy(maximumAttempts: 150, clock: TestClock(skips: true))
        let error = await #expect(throws: NetworkError.self) {
            try await router(session, Events(), [retry]).response(for: endPoint)
        }
        #expect(error?.attempts == 150)
        #expect(error?.history.count == 100)
        #expect(error?.history.last?.number == 100)
    }

    @Test("the waterfall has a line and a bar per exchange, and no secret")
    func waterfall() async throws {
        let session = StubSession(.status(503), .text("here"))
        let retry = RetryPolicy(clock: TestClock(skips: true))
        let url = URL(text: "https://me:hunter2@api.example.com/a?token=hunter2")
        let response = try await router(session, Events(), [retry]).response(for: URLEndPoint(.get, url))
        let lines = response.waterfall.split(separator: "\n")
        let exchanges = lines.filter { $0.contains("|") }
        #expect(exchanges.count == 2)
        #expect(exchanges.first?.hasPrefix("1 GET https://<redacted>@api.example.com/a?token=<redacted>") == true)
        #expect(exchanges.first?.contains("HTTP 503") == true)
        #expect(exchanges.last?.contains("retry after") == true)
        #expect(exchanges.allSatisfy { $0.split(separator: "|").count >= 2 && $0.contains("#") })
        #expect(!response.waterfall.contains("hunter2"))
        #expect([ExchangeRecord]().waterfall == "nothing was sent")
    }

    @Test("the logger writes a line per event, with an identifier of the call", .requirement("S2.24"))
    func eventLogger() async throws {
        let lines = Deliveries<String>()
        let logger = NetworkLogger(output: { lines.add($0) })
        let router = Router<URLEndPoint>(
            session: StubSession(.status(404), .status(404)),
            options: RequestOptions { $0.monitors.append(logger) })
        for _ in 0..<2 { _ = try await router.rawResponse(for: endPoint) }
        #expect(lines.all.count == 8)
        #expect(lines.all.allSatisfy { $0.hasPrefix("[") && $0.contains("GET https://api.example.com/a") })
        #expect(Set(lines.all.map { $0.prefix { $0 != "]" } }).count == 2)
        #expect(lines.all.last?.hasSuffix("finished: HTTP 404") == true)
    }

    @Test("the log has the exchanges of a call and their measured phases", .requirement("S3.14"))
    func exchangesInTheLog() async throws {
        try await MockServer.run { server in
            server.enqueue(.status(503), .text("here"))
            let lines = Deliveries<String>()
            let chain: [any Interceptor] = [
                NetworkLogger(output: { lines.add($0) }), RetryPolicy(clock: TestClock(skips: true)),
            ]
            let router = Router<URLEndPoint>(session: DefaultSession.shared, interceptors: chain)
            _ = try await router.response(for: URLEndPoint(.get, server.url))
            #expect(lines.all.last?.contains(", exchanges HTTP 503, HTTP 200") == true)
            #expect(lines.all.last?.contains("TIMES: ") == true)
            #expect(lines.all.last?.contains("first byte") == true)
        }
    }

    @Test(
        "over sockets each attempt has the session's metrics", .requirement("S2.24"),
        arguments: SessionKind.allCases)
    func sockets(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.status(503), .text("here"))
            let retry = RetryPolicy(clock: TestClock(skips: true))
            let router = router(kind.make(), Events(), [retry])
            let response = try await router.response(for: URLEndPoint(.get, server.url))
            #expect(response.history.map(\.outcome) == [.status(503), .status(200)])
            #expect(response.history.allSatisfy { $0.metrics?.timeToFirstByte != nil })
            #expect(response.history.last?.metrics?.bytesReceived == 4)
            #expect(response.waterfall.contains("first byte"))
        }
    }
}

extension Events {
    /// The kinds of the events, without times.
    fileprivate var kinds: [String] { texts.map { $0.replacing(/\d+ ms/, with: "N ms") } }
}
