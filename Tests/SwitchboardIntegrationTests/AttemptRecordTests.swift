import Foundation
import SwitchboardResilience
import SwitchboardStreams
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

@testable import Switchboard

/// A transfer or a reconnecting stream is one call, with one history, one series of events and one number of attempts.
@Suite(.timeLimit(.minutes(10)))
struct AttemptRecordTests {
    private let url = URL(text: "http://h.test/a")

    private func options(_ monitor: Events, _ policy: RetryPolicy? = nil) -> RequestOptions {
        RequestOptions {
            $0.monitors = [monitor]
            $0.retry = policy ?? RetryPolicy(jitter: nil, clock: TestClock(skips: true))
        }
    }

    /// Returns the texts of all events but the ends of exchanges, which have times.
    private func texts(_ monitor: Events) -> [String] {
        monitor.texts.filter { !$0.hasPrefix("exchanged") }
    }

    @Test("a download is one call with one history of all its attempts", .requirement("S2.19"))
    func download() async throws {
        let files = RangeServer(content: RangeServer.content(200_000))
        let session = StubSession(
            .status(503), files.whole.truncated(after: 100_000), files.part(100_000..<200_000))
        let monitor = Events()
        try await withFolder { folder in
            let response = try await Router<URLEndPoint>(session: session).download(
                URLEndPoint(.get, url), to: folder.appendingPathComponent("a"), options: options(monitor))
            #expect(response.history.map(\.number) == [1, 2, 3])
            #expect(
                response.history.map(\.cause) == [nil, "retry after HTTP 503", "retry after truncatedBody"])
        }
        #expect(
            texts(monitor) == [
                "started", "exchange 1", "retry after 500 ms: HTTP 503", "exchange 2",
                "retry after 500 ms: truncatedBody",
                "exchange 3", "finished: HTTP 206",
            ])
        #expect(Set(monitor.all.map(\.request.id)).count == 1)
    }

    @Test("an upload in pieces is one call; its error is the last event", .requirement("S2.19"))
    func upload() async throws {
        let session = StubSession(
            .status(201, headers: ["Location": "/u"]), .failure(.connectionLost),
            .status(200, headers: ["Upload-Offset": "0"]), .status(400))
        let monitor = Events()
        try await withFolder { folder in
            let file = folder.appendingPathComponent("a")
            try Data("abc".utf8).write(to: file)
            let error = await #expect(throws: NetworkError.self) {
                try await Router<URLEndPoint>(session: session).upload(
                    URLEndPoint(.post, url), from: file, by: .tus, options: options(monitor))
            }
            #expect(error?.history.map(\.outcome).last == .status(400))
            #expect(error?.history.map(\.number) == [1, 2, 3, 4])
        }
        let events = texts(monitor)
        #expect(
            events.filter { $0.hasPrefix("exchange ") } == ["exchange 1", "exchange 2", "exchange 3", "exchange 4"])
        #expect(events.first == "started" && events.filter { $0 == "started" }.count == 1)
        #expect(events.last?.hasPrefix("failed") == true && events.filter { $0.hasPrefix("failed") }.count == 1)
    }

    @Test("a stream is one call until a 204, an error or its reader ends it", .requirement("S2.19"))
    func events() async throws {
        let event = MockResponse.text("data: 1\n\n").with("Content-Type", "text/event-stream")
        for (last, end) in [(MockResponse.status(204), "finished: HTTP 204"), (.status(404), "failed: ")] {
            let monitor = Events()
            let session = StubSession(event, .failure(.connectionLost), event.truncated(after: 9), last)
            let router = Router<URLEndPoint>(session: session)
            do {
                for try await _ in router.events(for: URLEndPoint(.get, url), options: options(monitor)) {}
            } catch NetworkError.notFound {}
            let events = texts(monitor)
            #expect(
                events.dropLast() == [
                    "started", "exchange 1", "retry after 500 ms: the end of a connection", "exchange 2",
                    "retry after 500 ms: connectionLost", "exchange 3", "retry after 500 ms: truncatedBody",
                    "exchange 4",
                ])
            #expect(events.last?.hasPrefix(end) == true)
        }
        let monitor = Events()
        do {
            let events = Router<URLEndPoint>(session: StubSession(event)).events(
                for: URLEndPoint(.get, url), options: options(monitor))
            for try await _ in events { break }
        }
        try await monitor.wait(for: "cancelled")
        let other = Events()
        let values = Router<URLEndPoint>(session: StubSession(event)).events(
            for: URLEndPoint(.get, url), as: Int.self, until: "1", options: options(other))
        for try await value in values { Issue.record("\(value)") }
        #expect(texts(other).last == "finished: HTTP 200")
    }

    @Test("two policies in a chain share one number of attempts", .requirement("S2.19"))
    func twice() async throws {
        let policy = RetryPolicy(clock: TestClock(skips: true))
        let session = StubSession { _ in .status(503) }
        let lists: [[any Interceptor]] = [[policy, policy], [policy, RedirectInterceptor(), policy]]
        for list in lists {
            let before = session.requests.count
            let router = Router<URLEndPoint>(session: session, interceptors: list)
            let error = await #expect(throws: NetworkError.self) {
                try await router.response(for: URLEndPoint(.get, url))
            }
            #expect(session.requests.count - before == 3 && error?.attempts == 3)
        }
    }

    @Test("an empty retry budget ends a download; ended streams cost nothing", .requirement("S2.19"))
    func budget() async throws {
        let clock = TestClock(skips: true)
        let frozen = TestClock()
        let budget = RetryBudget(ratio: 0, minimumPerSecond: 1, clock: frozen)
        let policy = RetryPolicy(maximumAttempts: 9, clock: clock).limited(by: budget)
        let monitor = Events()
        let event = MockResponse.text("data: 1\n\n").with("Content-Type", "text/event-stream")
        let stream = StubSession(event, event, event, .status(204))
        let events = Router<URLEndPoint>(session: stream).events(
            for: URLEndPoint(.get, url), options: options(monitor, policy))
        #expect(try await events.reduce(0) { count, _ in count + 1 } == 3)
        #expect(budget.remaining == 1)
        let session = StubSession { _ in .status(503) }
        try await withFolder { folder in
            let error = await #expect(throws: NetworkError.self) {
                try await Router<URLEndPoint>(session: session).download(
                    URLEndPoint(.get, url), to: folder.appendingPathComponent("a"), options: options(monitor, policy))
            }
            #expect(error?.attempts == 2)
        }
        #expect(session.requests.count == 2)
    }

    @Test("a download obeys Retry-After within its total timeout", .requirement("S2.19"))
    func retryAfter() async throws {
        let clock = TestClock(skips: true)
        let monitor = Events()
        let session = StubSession(
            .status(503, headers: ["Retry-After": "7"]), .status(503, headers: ["Retry-After": "4000"]), .text("no"))
        var options = options(monitor, RetryPolicy(maximumDelay: .seconds(9_000), clock: clock))
        options.timeouts.total = .seconds(3_000)
        try await withFolder { [options] folder in
            let error = await #expect(throws: NetworkError.self) {
                try await Router<URLEndPoint>(session: session).download(
                    URLEndPoint(.get, url), to: folder.appendingPathComponent("a"), options: options)
            }
            #expect(error?.statusCode == 503 && error?.attempts == 2)
        }
        #expect(clock.sleeps == [.seconds(7)])
        #expect(texts(monitor).contains("not retried: a wait of 4000 s would exceed the total timeout"))
    }

    @Test(
        "a repeat over a new connection counts as an attempt of the call", .requirement("S2.19"),
        arguments: SessionKind.curlAlone)
    func repetition(kind: SessionKind) async throws {
        let heads = Deliveries<String>()
        try await RawServer.run { connection in
            let head = try connection.readHead()
            heads.add(head)
            guard !head.contains("/probe") else { return }
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            heads.add(try connection.readHead())
        } body: { server in
            let session = kind.make()
            _ = try await session.send(NetworkRequest(.get, server.url))
            let policy = RetryPolicy(maximumAttempts: 3, clock: TestClock(skips: true))
            let router = Router<URLEndPoint>(session: session, interceptors: [policy])
            let error = await #expect(throws: NetworkError.self) {
                try await router.response(for: URLEndPoint(.get, server.url.appendingPathComponent("probe")))
            }
            #expect(heads.all.count == 4)
            #expect(error?.attempts == 3)
            #expect(error?.history.map(\.number) == [1, 2, 3])
        }
    }
}
