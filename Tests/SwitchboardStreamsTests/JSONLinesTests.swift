import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardStreams
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// `router.jsonLines(as:after:cursor:of:)`: reconnecting as events do (HTML §9.2), with the caller's cursor.
@Suite(.timeLimit(.minutes(10)))
struct JSONLinesTests {
    private struct Change: Decodable, Equatable, Sendable { var seq: Int?, name: String }

    private func read(
        _ session: any NetworkSession, _ method: HTTPMethod = .get, after position: Int? = nil, attempts: Int = 3,
        limit: Int = 1 << 20, clock: TestClock = TestClock(skips: true)
    ) -> ResponseSequence<Change> {
        Router<URLEndPoint>(session: session).jsonLines(
            as: Change.self, after: position, cursor: \.seq,
            for: { seq in
                URLEndPoint(
                    method, URL(text: "http://h.test/changes"),
                    task: .requestParameters(urlParameters: seq.map { ["since": $0] }))
            },
            options: RequestOptions {
                $0.retry = RetryPolicy(
                    maximumAttempts: attempts, baseDelay: .seconds(3), maximumDelay: .seconds(60), clock: clock)
            }, limit: limit)
    }

    private func line(_ seq: Int?, _ name: String) -> String {
        #"{"name":"\#(name)""# + (seq.map { ",\"seq\":\($0)" } ?? "") + "}\n"
    }

    @Test("reconnects with the last line's cursor after every end, until a 204")
    func reconnects() async throws {
        let cut = line(1, "a") + line(2, "b") + line(3, "lost")
        let session = StubSession(
            .text(cut).truncated(after: cut.utf8.count - 5), .text(line(3, "c") + line(nil, "d")),
            .failure(.connectionLost), .text("\n" + line(4, "e") + #"{"seq":5,"name":"f"}"#), .status(204))
        let seen = try await read(session).reduce(into: []) { $0.append($1.name) }
        #expect(seen == ["a", "b", "c", "d", "e", "f"])
        #expect(session.requests.map(\.url?.query) == [nil, "since=2", "since=3", "since=3", "since=5"])
    }

    @Test("the first request uses the initial cursor")
    func start() async throws {
        let session = StubSession(.text(line(8, "a")), .status(204))
        let seen = try await read(session, after: 7).reduce(into: []) { $0.append($1.seq) }
        #expect(seen == [8])
        #expect(session.requests.map(\.url?.query) == ["since=7", "since=8"])
    }

    @Test("waits as the policy says, longer after each connection without a line")
    func waits() async throws {
        let clock = TestClock(skips: true)
        let session = StubSession(.text(line(1, "a")), .text(""), .text("\n"), .text(line(2, "b")), .status(204))
        _ = try await read(session, clock: clock).reduce(0) { count, _ in count + 1 }
        #expect(clock.sleeps == [.seconds(3), .seconds(3), .seconds(6), .seconds(3)])
    }

    @Test("connections without data count as attempts since the last line")
    func dead() async throws {
        let session = StubSession(.text(line(1, "a")), .text("").repeated())
        var seen: [Int?] = []
        let error = await #expect(throws: NetworkError.self) {
            for try await change in read(session, attempts: 3) { seen.append(change.seq) }
        }
        #expect(seen == [1])
        #expect(error?.code == .connectionLost && session.requests.count == 4)
        #expect(error?.reason == "3 connections in a row ended without a line")
    }

    @Test("a line of another shape, or too long, ends the values with an error")
    func badLines() async throws {
        let cases: [(String, NetworkError.Code)] = [
            (line(1, "a") + "{\"name\":5}\n", .decodingFailed),
            (line(1, "a") + line(2, String(repeating: "x", count: 200)), .responseTooLarge),
        ]
        for (text, code) in cases {
            let session = StubSession(.text(text).repeated())
            var seen: [Int?] = []
            let error = await #expect(throws: NetworkError.self) {
                for try await change in read(session, limit: 100) { seen.append(change.seq) }
            }
            #expect(error?.code == code)
            #expect(seen == [1])
            #expect(session.requests.count == 1)
        }
    }

    @Test("an error status, the last attempt or a POST's end finishes the values")
    func gaveUp() async throws {
        let refused = StubSession(.text(line(1, "a")), .status(404))
        var error = await #expect(throws: NetworkError.self) { for try await _ in read(refused) {} }
        #expect(error?.code == .notFound && refused.requests.count == 2)
        let lost = StubSession(.text(line(1, "a")), .failure(.cannotConnect).repeated())
        error = await #expect(throws: NetworkError.self) { for try await _ in read(lost, attempts: 3) {} }
        #expect(error?.code == .cannotConnect && lost.requests.count == 4)
        let posted = StubSession(.text(line(1, "a")))
        let count = try await read(posted, .post).reduce(0) { count, _ in count + 1 }
        #expect(count == 1 && posted.requests.count == 1)
    }

    @Test("a last line without a line end arrives before the wait to reconnect")
    func lastLine() async throws {
        let clock = TestClock(skips: true)
        let session = StubSession(.text(#"{"seq":1,"name":"a"}"#), .status(204))
        var changes = read(session, clock: clock).makeAsyncIterator()
        #expect(try await changes.next()?.seq == 1)
        #expect(clock.sleeps.isEmpty)
        #expect(try await changes.next() == nil)
        #expect(clock.sleeps == [.seconds(3)])
    }

    @Test("a cancel or a reset between two connections ends the values", arguments: [false, true])
    func canceledBetween(byReset: Bool) async throws {
        let session = StubSession(.text(#"{"seq":1,"name":"a"}"#), .text(line(2, "b")).repeated())
        let router = Router<URLEndPoint>(session: session)
        var changes = router.jsonLines(
            as: Change.self, cursor: \.seq, for: { _ in URLEndPoint(.get, URL(text: "http://h.test/changes")) },
            options: RequestOptions { $0.retry = RetryPolicy(clock: TestClock(skips: true)) }
        ).makeAsyncIterator()
        #expect(try await changes.next()?.seq == 1)
        if byReset { await router.reset() } else { router.cancel() }
        await #expect(throws: CancellationError.self) { _ = try await changes.next() }
        #expect(try await changes.next() == nil)
        #expect(session.requests.count == 1)
    }

    @Test("a reset ends a stream that waits to reconnect as canceled")
    func resetWhileWaiting() async throws {
        struct Slow: Interceptor, Resettable {
            let gate: Gate
            func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
                try await next(request)
            }
            func reset() async { try? await gate.wait() }
        }
        let (clock, gate) = (TestClock(), Gate())
        let router = Router<URLEndPoint>(
            session: StubSession(.text(line(1, "a"))), interceptors: [Slow(gate: gate)])
        let changes = router.jsonLines(
            as: Change.self, cursor: \.seq, for: { _ in URLEndPoint(.get, URL(text: "http://h.test/changes")) },
            options: RequestOptions { $0.retry = RetryPolicy(clock: clock) })
        let reader = Task { for try await _ in changes {} }
        _ = try await clock.nextSleep()
        let reset = Task { await router.reset() }
        await #expect(throws: CancellationError.self) { try await reader.value }
        gate.open()
        await reset.value
    }

    private final class Element: Sendable {}

    @Test("an element is released when its reader has it")
    func releasedElements() async throws {
        let chunks = Protected([[Element(), Element(), Element()]])
        weak var second: Element?
        second = chunks.value[0][1]
        let sequence = ResponseSequence<Element>(more: { chunks.withLock { $0.popLast() }.map { Transferred($0) } })
        var iterator = sequence.makeAsyncIterator()
        _ = try await iterator.next()
        #expect(second != nil)
        _ = try await iterator.next()
        #expect(second == nil)
        let third = try await iterator.next()
        #expect(third != nil)
    }
}
