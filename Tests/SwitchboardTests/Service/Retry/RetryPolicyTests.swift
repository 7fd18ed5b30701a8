import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RetryPolicyTests {
    private let url = URL(text: "https://api.example.com/a")

    @Test(
        "transient statuses and failures are retried with doubling waits", .requirement("S2.19"), arguments: passing
    )
    func again(response: MockResponse) async throws {
        let clock = TestClock(skips: true)
        let session = StubSession(response, response, response, .text("at last"))
        let policy = RetryPolicy(maximumAttempts: 4, baseDelay: .milliseconds(100), jitter: nil, clock: clock)
        let router = Router<URLEndPoint>(session: session, interceptors: [policy])
        #expect(try await router.request(URLEndPoint(.get, url), as: String.self) == "at last")
        #expect(clock.sleeps == [.milliseconds(100), .milliseconds(200), .milliseconds(400)])
        #expect(Set(session.requests.map(\.id)).count == 1)
    }

    @Test("the number of attempts is exact and recorded on the error", .requirement("S2.19"), arguments: [1, 2, 3, 7])
    func exactAttempts(maximum: Int) async throws {
        for response in [MockResponse.close, .status(503)] {
            let session = StubSession { _ in response }
            let policy = RetryPolicy(maximumAttempts: maximum, clock: TestClock(skips: true))
            let router = Router<URLEndPoint>(session: session, interceptors: [policy])
            let error = await #expect(throws: NetworkError.self) {
                try await router.response(for: URLEndPoint(.get, url))
            }
            #expect(session.requests.count == maximum)
            #expect(error?.attempts == maximum)
        }
    }

    @Test("no wait exceeds maximumDelay", .requirement("S2.19"))
    func maximumDelay() async throws {
        let clock = TestClock(skips: true)
        let policy = RetryPolicy(
            maximumAttempts: 6, baseDelay: .seconds(1), maximumDelay: .seconds(5), jitter: nil, clock: clock)
        let router = Router<URLEndPoint>(session: StubSession { _ in .close }, interceptors: [policy])
        await #expect(throws: NetworkError.self) { try await router.response(for: URLEndPoint(.get, url)) }
        #expect(clock.sleeps == [.seconds(1), .seconds(2), .seconds(4), .seconds(5), .seconds(5)])
    }

    @Test("lasting statuses and errors are never retried", .requirement("S2.19"), arguments: lasting)
    func noRetry(response: MockResponse) async throws {
        let clock = TestClock(skips: true)
        let session = StubSession { _ in response }
        let router = Router<URLEndPoint>(session: session, interceptors: [RetryPolicy(clock: clock)])
        _ = try? await router.response(for: URLEndPoint(.get, url))
        #expect(session.requests.count == 1)
        #expect(clock.sleeps.isEmpty)
    }

    @Test(
        "only idempotent methods are retried (RFC 9110 §9.2.2)", .requirement("S2.19"),
        arguments: [
            (HTTPMethod.get, 3), (.head, 3), (.put, 3), (.delete, 3), (.options, 3), (.trace, 3), (.post, 1),
            (.patch, 1),
            ("PURGE", 1),
        ])
    func methods(method: HTTPMethod, attempts: Int) async throws {
        let session = StubSession { _ in .status(503) }
        let router = Router<URLEndPoint>(session: session, interceptors: [RetryPolicy(clock: TestClock(skips: true))])
        await #expect(throws: NetworkError.self) { try await router.response(for: URLEndPoint(method, url)) }
        #expect(session.requests.count == attempts)
    }

    @Test(
        "Retry-After in seconds replaces a shorter wait", .requirement("S2.19"),
        arguments: [
            ("5", Duration.seconds(5)), ("0", .milliseconds(500)), ("30", .seconds(30)), ("soon", .milliseconds(500)),
            ("-3", .milliseconds(500)), ("", .milliseconds(500)), ("Wed, 21 Oct 2015 07:28:00 GMT", .milliseconds(500)),
        ])
    func retryAfter(value: String, wait: Duration) async throws {
        let clock = TestClock(skips: true)
        let session = StubSession(.status(503, headers: ["Retry-After": value]), .text("done"))
        let policy = RetryPolicy(jitter: nil, clock: clock)
        let router = Router<URLEndPoint>(session: session, interceptors: [policy])
        #expect(try await router.request(URLEndPoint(.get, url), as: String.self) == "done")
        #expect(clock.sleeps == [wait])
    }

    @Test("Retry-After as a date is obeyed", .requirement("S2.19"))
    func retryAfterDate() async throws {
        let clock = TestClock(skips: true)
        let now = Date(timeIntervalSince1970: 784_111_777)  // Sun, 06 Nov 1994 08:49:37 GMT
        let date = "Sun, 06 Nov 1994 08:49:57 GMT"
        let session = StubSession(.status(429, headers: ["Retry-After": date]), .text("done"))
        let policy = RetryPolicy(clock: clock) { now }
        let router = Router<URLEndPoint>(session: session, interceptors: [policy])
        #expect(try await router.request(URLEndPoint(.get, url), as: String.self) == "done")
        #expect(clock.sleeps == [.seconds(20)])
    }

    @Test(
        "a Retry-After beyond maximumDelay makes the response final",
        .requirement("S2.19"),
        arguments: ["31", "4294967296", "99999999999999999999999", "Fri, 31 Dec 2999 23:59:59 GMT"])
    func retryAfterTooLong(value: String) async throws {
        let clock = TestClock(skips: true)
        let session = StubSession(.status(503, headers: ["Retry-After": value], body: Data("busy".utf8)), .text("no"))
        let router = Router<URLEndPoint>(session: session, interceptors: [RetryPolicy(clock: clock)])
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: URLEndPoint(.get, url)) }
        #expect(error?.statusCode == 503)
        #expect(error?.body == Data("busy".utf8))
        #expect(clock.sleeps.isEmpty)
    }

    @Test("a canceled wait sends nothing afterwards", .requirement("S2.19"))
    func cancellable() async throws {
        let clock = TestClock()
        let session = StubSession { _ in .status(503) }
        let router = Router<URLEndPoint>(session: session, interceptors: [RetryPolicy(clock: clock)])
        let call = Task { try await router.response(for: URLEndPoint(.get, url)) }
        _ = try await clock.nextSleep()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        clock.advance(by: .seconds(60))
        #expect(session.requests.count == 1)
    }

    @Test("a retry sends the same bytes over the wire, encoded once", .requirement("S2.7", "S2.19"))
    func sameBytes() async throws {
        let encodings = Deliveries<Bool>()
        try await MockServer.run { server in
            server.enqueue(.status(503), .status(503), .text("done"))
            let policy = RetryPolicy(clock: TestClock(skips: true))
            let router = Router<URLEndPoint>(session: DefaultSession.make(), interceptors: [policy])
            let endPoint = URLEndPoint(.put, server.url, task: .requestBody(CountedBody(encodings: encodings)))
            let text = try await router.request(endPoint, as: String.self)
            #expect(text == "done")
            #expect(server.requests.map(\.text) == ["body 1", "body 1", "body 1"])
            #expect(encodings.all.count == 1)
        }
    }

    @Test("a one-shot body is never retried", .requirement("S2.7", "S2.19"))
    func oneShot() async throws {
        let session = StubSession { _ in .status(503) }
        let router = Router<URLEndPoint>(session: session, interceptors: [RetryPolicy(clock: TestClock(skips: true))])
        let endPoint = URLEndPoint(.put, url, task: .requestBody(OneShotBody()))
        await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
        #expect(session.requests.count == 1)
    }

    static let passing: [MockResponse] =
        [408, 429, 500, 502, 503, 504].map { .status($0) } + [
            .close, .truncated(after: 10), .failure(.timedOut), .failure(.cannotConnect), .failure(.cannotFindHost),
            .failure(.noInternetConnection),
        ]
    static let lasting: [MockResponse] =
        [200, 204, 304, 400, 401, 403, 404, 409, 410, 422, 501, 505].map { .status($0) } + [
            .failure(.insecureConnection), .failure(.responseTooLarge), .failure(.invalidRequest), .failure(.cancelled),
            .failure(.resetInProgress), .failure(.circuitOpen),
        ]
}

/// A body whose text counts its encodings.
private struct CountedBody: HTTPBody {
    let encodings: Deliveries<Bool>

    func encode() throws -> Data {
        encodings.add(true)
        return Data("body \(encodings.all.count)".utf8)
    }
}
