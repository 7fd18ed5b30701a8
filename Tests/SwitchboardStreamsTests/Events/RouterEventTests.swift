import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardStreams
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// `router.events`: reconnecting as HTML §9.2 specifies.
@Suite(.timeLimit(.minutes(10)))
struct RouterEventTests {
    private let url = URL(text: "http://h.test/ticker")

    private func events(_ text: String) -> MockResponse {
        .text(text).with("Content-Type", "text/event-stream; charset=utf-8")
    }

    private func read(
        _ session: any NetworkSession, _ method: HTTPMethod = .get, lastEventID: String = "", attempts: Int = 3,
        clock: TestClock = TestClock(skips: true)
    ) -> ResponseSequence<ServerSentEvent> {
        Router<URLEndPoint>(session: session).events(
            for: URLEndPoint(method, url), lastEventID: lastEventID,
            options: RequestOptions {
                $0.retry = RetryPolicy(
                    maximumAttempts: attempts, baseDelay: .seconds(3), maximumDelay: .seconds(60), clock: clock)
            })
    }

    @Test("reconnects with the last event's ID after every end, until a 204")
    func reconnects() async throws {
        let session = StubSession(
            events("id: 1\ndata: a\n\nid: 2\ndata: b\n\nid: 3\ndata: ha").truncated(after: 38),
            events("data: c\n\nid: 4\n\n"), .failure(.connectionLost), events("data: d\n\nid\ndata: e\n\n"),
            .status(204))
        let seen = try await read(session).reduce(into: []) { $0.append($1) }
        #expect(seen.map(\.data) == ["a", "b", "c", "d", "e"])
        #expect(seen.map(\.id) == ["1", "2", "2", "4", ""])
        let requests = session.requests
        // The third event was cut, so its ID does not count. An event with only an ID sets it without being delivered.
        #expect(requests.map { $0.headers["Last-Event-ID"] } == [nil, "2", "4", "4", nil])
        #expect(requests.allSatisfy { $0.headers["Accept"] == "text/event-stream" })
        #expect(requests.allSatisfy { $0.headers["Cache-Control"] == "no-store" })
    }

    @Test("tasks that share the events cause one connection at a time")
    func shared() async throws {
        let data = (0..<1_000).map(String.init)
        let text = data.map { "id: \($0)\ndata: \($0)\n\n" }
        let session = StubSession(
            events(text[..<500].joined()).chunked(100), events(text[500...].joined()).chunked(100), .status(204))
        let events = read(session)
        let seen = try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<4 { group.addTask { try await events.reduce(into: []) { $0.append($1.data) } } }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(Set(seen) == Set(data) && seen.count == data.count)
        #expect(session.requests.map { $0.headers["Last-Event-ID"] } == [nil, "499", "999"])
    }

    @Test("an ID that no field can carry is delivered, and not sent")
    func unsentIDs() async throws {
        let long = String(repeating: "i", count: 900_000)
        let session = StubSession(
            events("id: 1\ndata: a\n\nid: 2\u{1}\ndata: b\n\n"), events("data: c\n\nid: \(long)\ndata: d\n\n"),
            events("id: é\u{7F}\ndata: e\n\nid: é\tf\ndata: f\n\n"), .status(204))
        let seen = try await read(session).reduce(into: []) { $0.append($1) }
        #expect(seen.map(\.data) == ["a", "b", "c", "d", "e", "f"])
        #expect(seen.map(\.id) == ["1", "2\u{1}", "2\u{1}", long, "é\u{7F}", "é\tf"])
        #expect(session.requests.map { $0.headers["Last-Event-ID"] } == [nil, "1", "1", "é\tf"])
    }

    @Test(
        "an initial ID that no field can carry is not sent",
        arguments: ["a\u{1}b", String(repeating: "i", count: 5_000)])
    func unsentInitialID(id: String) async throws {
        let session = StubSession(events("data: a\n\n"), .status(204))
        let options = RequestOptions { $0.retry = RetryPolicy(clock: TestClock(skips: true)) }
        let events = Router<Signed>(session: session).events(for: Signed(), lastEventID: id, options: options)
        #expect(try await events.reduce(into: []) { $0.append($1.id) } == [id])
        #expect(session.requests.map { $0.headers["Last-Event-ID"] } == [nil, nil])
    }

    @Test("the endpoint is read for each connection")
    func fresh() async throws {
        let session = StubSession(events("data: a\n\n"), events("data: b\n\n"), .status(204))
        let options = RequestOptions { $0.retry = RetryPolicy(clock: TestClock(skips: true)) }
        let signed = Signed()
        let events = Router<Signed>(session: session).events(for: signed, options: options)
        #expect(try await events.reduce(into: []) { $0.append($1.data) } == ["a", "b"])
        #expect(session.requests.map { $0.headers["X-Count"] } == ["1", "2", "3"])
    }

    @Test("waits by the server's retry, within bounds, longer without events")
    func waits() async throws {
        let clock = TestClock(skips: true)
        let session = StubSession(
            events("data: a\n\n"), events("retry: 500\ndata: b\n\n"), events(": nothing\n\n"), events(""),
            events("retry: 0\ndata: c\n\n"), events("retry: 900000\ndata: d\n\n"), .status(204))
        let seen = try await read(session, clock: clock).reduce(into: []) { $0.append($1.data) }
        #expect(seen == ["a", "b", "c", "d"])
        #expect(
            clock.sleeps == [
                .seconds(3), .milliseconds(500), .milliseconds(500), .seconds(1), .milliseconds(100), .seconds(60),
            ])
    }

    @Test("the first connection's error is thrown, and that of the last attempt")
    func givesUp() async throws {
        let never = StubSession(.failure(.cannotConnect))
        let error = await #expect(throws: NetworkError.self) { for try await _ in read(never) {} }
        #expect(error?.code == .cannotConnect)
        #expect(never.requests.count == 1)
        let later = StubSession(events("data: a\n\n"), .failure(.timedOut).repeated())
        var seen: [String] = []
        let events = read(later, attempts: 4)
        let other = await #expect(throws: NetworkError.self) {
            for try await event in events { seen.append(event.data) }
        }
        #expect(seen == ["a"])
        #expect(other?.code == .timedOut)
        #expect(other?.attempts == 5)
        #expect(later.requests.count == 5)
        for try await event in events { Issue.record("\(event)") }
    }

    @Test("a feed of comments counts as alive, however often it reconnects")
    func comments() async throws {
        let session = StubSession(events(": nothing yet\n\n").repeated(9), events("data: a\n\n"), .status(204))
        let seen = try await read(session, attempts: 3).elements().map(\.data)
        #expect(seen == ["a"])
    }

    @Test("connections without data count as attempts since the last event")
    func dead() async throws {
        let session = StubSession(
            events(""), events(""), events("data: a\n\n"), events(""), events("data: b\n\n"), events("").repeated())
        var seen: [String] = []
        let error = await #expect(throws: NetworkError.self) {
            for try await event in read(session, attempts: 4) { seen.append(event.data) }
        }
        #expect(seen == ["a", "b"])
        #expect(error?.code == .connectionLost && error?.reason?.hasPrefix("4 connections in a row") == true)
        #expect(session.requests.count == 5 + 4)
        let never = StubSession(events("").repeated())
        await #expect(throws: NetworkError.self) { for try await _ in read(never, attempts: 4) {} }
        #expect(never.requests.count == 4)
    }

    @Test("an empty connection without another attempt is an error", arguments: [false, true])
    func lastAttempt(isFirst: Bool) async throws {
        let session = StubSession()
        if !isFirst { session.enqueue(events("data: a\n\n")) }
        session.enqueue(.status(503), .status(503), events(""), .status(204))
        let policy = RetryPolicy(clock: TestClock(skips: true))
        let router = Router<URLEndPoint>(session: session, interceptors: [policy])
        var seen: [String] = []
        let error = await #expect(throws: NetworkError.self) {
            let options = RequestOptions { $0.retry = policy }
            for try await event in router.events(for: URLEndPoint(.get, url), options: options) {
                seen.append(event.data)
            }
        }
        #expect(seen == (isFirst ? [] : ["a"]))
        #expect(error?.code == .connectionLost && error?.reason == "a connection ended without an event")
    }

    @Test("an empty stream that may not reconnect ends without an error")
    func emptyStream() async throws {
        let router = Router<URLEndPoint>(session: StubSession(events("")))
        let options = RequestOptions { $0.retry = .never }
        for try await _ in router.events(for: URLEndPoint(.get, url), options: options) { Issue.record() }
    }

    @Test("a bad status or content type is an error without reconnection")
    func refusals() async throws {
        let cases: [(MockResponse, NetworkError.Code)] = [
            (.status(404), .notFound), (.status(503), .error5xx), (.json("{}"), .unexpectedContentType),
            (.data(Data("data: a\n\n".utf8)), .unexpectedContentType),
        ]
        for (answer, code) in cases {
            let session = StubSession(events("data: a\n\n"), answer)
            var count = 0
            let error = await #expect(throws: NetworkError.self) { for try await _ in read(session) { count += 1 } }
            #expect(error?.code == code)
            #expect(count == 1)
            #expect(session.requests.count == 2)
        }
    }

    @Test("a repeated content type is no error")
    func repeatedType() async throws {
        var answer = events("data: a\n\n").with("Content-Type", "text/event-stream")
        answer.headers.add("Content-Type", "text/event-stream")
        let data = try await read(StubSession(answer), .post).reduce(into: []) { $0.append($1.data) }
        #expect(data == ["a"])
    }

    @Test("a POST is sent once, and its events end with its response")
    func posted() async throws {
        let session = StubSession(events("data: a\n\n"), events("data: a\n\n").truncated(after: 9))
        let result1 = try await read(session, .post).reduce(0) { count, _ in count + 1 }
        #expect(result1 == 1)
        let error = await #expect(throws: NetworkError.self) { for try await _ in read(session, .post) {} }
        #expect(error?.code == .truncatedBody)
        #expect(session.requests.count == 2)
    }

    @Test("without a policy it connects once, with the initial ID")
    func once() async throws {
        let session = StubSession(events("data: a\n\n"), .failure(.cannotConnect))
        let events = Router<URLEndPoint>(session: session).events(
            for: URLEndPoint(.get, url), lastEventID: "7", options: RequestOptions { $0.retry = .never })
        let result2 = try await events.reduce(into: []) { $0.append($1.id) }
        #expect(result2 == ["7"])
        #expect(session.requests.map { $0.headers["Last-Event-ID"] } == ["7"])
    }

    @Test("the idle timeout reconnects", arguments: SessionKind.allCases)
    func idle(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(events("data: a\n\n:").stalled(after: 10).repeated())
            let events = Router<URLEndPoint>(session: kind.make()).events(
                for: URLEndPoint(.get, server.url),
                options: RequestOptions {
                    $0.retry = RetryPolicy(maximumAttempts: 100, clock: TestClock(skips: true))
                    $0.timeouts.idle = .milliseconds(1_000)
                })
            let received = try await events.prefix(2).reduce(into: []) { $0.append($1.data) }
            #expect(received == ["a", "a"])
            #expect(server.requests.count >= 2)
        }
    }

    @Test("comments reset the idle timeout, in virtual time")
    func idleComments() async throws {
        let clock = TestClock(skips: true)
        let session = StubSession(
            clock: clock,
            events("data: a\n\n:" + String(repeating: "\n:", count: 10) + "\ndata: c\n\n").chunked(11, 2)
                .paced(every: .seconds(1)),
            events("data: b\n\n ").stalled(after: 9), .status(204))
        let events = Router<URLEndPoint>(session: session).events(
            for: URLEndPoint(.get, url),
            options: RequestOptions {
                $0.retry = RetryPolicy(clock: clock)
                $0.timeouts.idle = .milliseconds(1_500)
            })
        let received = try await events.reduce(into: []) { $0.append($1.data) }
        #expect(received == ["a", "c", "b"])
        #expect(session.requests.count == 3)
    }

    @Test("decodes each event's data until the end marker or a decoding error", arguments: SessionKind.allCases)
    func typed(kind: SessionKind) async throws {
        struct Price: Decodable, Equatable, Sendable { var cents: Int }
        try await MockServer.run { server in
            server.enqueue(
                events("data: {\"cents\":5}\n\ndata: {\"cents\":\ndata: 6}\n\ndata: [DONE]\n\n").stalled(after: 65),
                events("data: {\"cents\":5}\n\ndata: {\"cents\":\"x\"}\n\n"))
            let router = Router<URLEndPoint>(session: kind.make())
            let endPoint = URLEndPoint(.get, server.url)
            let prices = router.events(for: endPoint, as: Price.self, until: "[DONE]")
            let result4 = try await prices.reduce(into: []) { $0.append($1) }
            #expect(result4 == [Price(cents: 5), Price(cents: 6)])
            try await server.waitForDisconnect()
            var seen: [Price] = []
            let error = await #expect(throws: NetworkError.self) {
                for try await price in router.events(for: endPoint, as: Price.self) { seen.append(price) }
            }
            #expect(seen == [Price(cents: 5)])
            #expect(error?.code == .decodingFailed)
            #expect(error?.reason?.contains("cents") == true)
            #expect(error?.url == server.url)
        }
    }

    @Test(
        "an endless event and a line of 5 MB are refused by the limit", arguments: SessionKind.allCases,
        ["data: x\n", "x"])
    func limits(kind: SessionKind, piece: String) async throws {
        try await MockServer.run { server in
            server.enqueue(events("data: a\n\n" + String(repeating: piece, count: (5 << 20) / piece.utf8.count)))
            let events = Router<URLEndPoint>(session: kind.make()).events(
                for: URLEndPoint(.get, server.url),
                options: RequestOptions { $0.retry = RetryPolicy(clock: TestClock(skips: true)) })
            var count = 0
            let error = await #expect(throws: NetworkError.self) { for try await _ in events { count += 1 } }
            #expect(error?.code == .responseTooLarge)
            #expect(error?.url == server.url)
            #expect(count == 1)
            #expect(server.requests.count == 1)
        }
    }

    @Test("canceling while it waits to reconnect throws CancellationError", arguments: [true, false])
    func cancelledWait(byRouter: Bool) async throws {
        let clock = TestClock()
        let session = StubSession(events("data: a\n\n").repeated())
        let router = Router<URLEndPoint>(session: session)
        let task = Task {
            let options = RequestOptions { $0.retry = RetryPolicy(baseDelay: .seconds(3), clock: clock) }
            for try await _ in router.events(for: URLEndPoint(.get, url), options: options) {}
        }
        _ = try await clock.nextSleep()
        if byRouter { router.cancel() } else { task.cancel() }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(session.requests.count == 1)
    }
}

/// An endpoint with another header field each time that it is read.
private struct Signed: EndPointType {
    private let count = Protected(0)
    var baseURL: String { "http://h.test" }
    var path: String { "ticker" }
    var headers: HTTPHeaders {
        let count = count.withLock { count in
            count += 1
            return count
        }
        return ["X-Count": "\(count)"]
    }
}
