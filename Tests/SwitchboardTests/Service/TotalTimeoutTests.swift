import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct TotalTimeoutTests {
    private let url = URL(text: "https://api.example.com/a")
    private let options = RequestOptions { $0.timeouts = Timeouts(idle: nil, total: .milliseconds(2_500)) }

    @Test("the total timeout fails the whole call, by the router's clock", .requirement("S3.10"))
    func ends() async throws {
        let clock = TestClock()
        let session = StubSession { _ in .stall }
        let router = Router<URLEndPoint>(session: session, clock: clock)
        let call = Task { try await router.response(for: URLEndPoint(.get, url, options: options)) }
        #expect(try await clock.nextSleep() == .milliseconds(2_500))
        clock.advance(by: .milliseconds(2_499))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .milliseconds(1))
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.code == .timedOut)
        #expect(error?.reason?.contains("2.5 s") == true)
        #expect(error?.url == url)
    }

    @Test("the total timeout covers attempts and waits: no wait begins beyond it", .requirement("S3.10"))
    func coversRetries() async throws {
        let clock = TestClock()
        let session = StubSession { _ in .status(503) }
        let retries = RetryPolicy(maximumAttempts: 10, baseDelay: .seconds(1), jitter: nil, clock: clock)
        let router = Router<URLEndPoint>(session: session, interceptors: [retries], clock: clock)
        let call = Task { try await router.response(for: URLEndPoint(.get, url, options: options)) }
        _ = try await clock.nextSleep()  // the total, and the wait of 1 s before the second attempt, in either order
        _ = try await clock.nextSleep()
        clock.advance(by: .seconds(1))
        // The wait of 2 s before the third attempt would end after 3 s.
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.statusCode == 503)
        #expect(session.requests.count == 2)
    }

    @Test("a response within the total timeout is delivered", .requirement("S3.10"))
    func inTime() async throws {
        let router = Router<URLEndPoint>(session: StubSession { _ in .text("in time") }, clock: TestClock())
        #expect(try await router.request(URLEndPoint(.get, url, options: options), as: String.self) == "in time")
    }

    /// Lets the total timeout pass after an exchange, waits for the cancellation, and returns the response nevertheless.
    private struct Late: Interceptor {
        let clock: TestClock

        func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
            let response = try await next(request)
            _ = try await clock.nextSleep()
            clock.advance(by: .milliseconds(2_500))
            let (endless, continuation) = AsyncStream<Void>.makeStream()
            for await _ in endless {}  // a cancellation ends it
            continuation.finish()
            return response
        }
    }

    @Test("a download that the total timeout cancels keeps the old file", .requirement("S3.10"))
    func late() async throws {
        let clock = TestClock()
        let session = StubSession { _ in .text("new") }
        let router = Router<URLEndPoint>(session: session, interceptors: [Late(clock: clock)], clock: clock)
        try await withFolder { folder in
            let file = folder.appendingPathComponent("a")
            try Data("old".utf8).write(to: file)
            let error = await #expect(throws: NetworkError.self) {
                try await router.download(URLEndPoint(.get, url, options: options), to: file)
            }
            #expect(error?.code == .timedOut)
            let content = try String(contentsOf: file, encoding: .utf8)
            #expect(content == "old")
        }
    }

    @Test("the total timeout ends a stream whose head does not come", .requirement("S3.10"))
    func streamWithoutHead() async throws {
        let clock = TestClock()
        let router = Router<URLEndPoint>(session: StubSession { _ in .stall }, clock: clock)
        let call = Task { try await router.streamedResponse(for: URLEndPoint(.get, url, options: options)) }
        #expect(try await clock.nextSleep() == .milliseconds(2_500))
        clock.advance(by: .milliseconds(2_500))
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.code == .timedOut)
    }

    @Test("the total timeout does not end the body of a stream", .requirement("S3.10"))
    func streamedBody() async throws {
        let (clock, gate) = (TestClock(), Gate())
        let session = AdHocSession { request in
            let count = Deliveries<Void>()
            var response = NetworkResponse(statusCode: 200, url: request.url)
            response.bytes = ResponseBytes {
                guard count.count(adding: ()) == 1 else { return nil }
                try await gate.wait()
                return Data("late".utf8)
            }
            return response
        }
        let router = Router<URLEndPoint>(session: session, clock: clock)
        let response = try await router.streamedResponse(for: URLEndPoint(.get, url, options: options))
        let body = Task { try await response.bytes.elements() }
        #expect(await comesTrue { clock.sleeperCount == 0 })
        clock.advance(by: .seconds(10))
        gate.open()
        #expect(try await body.value == [Data("late".utf8)])
    }

    @Test(
        "a total timeout of any length works with the real clock", .requirement("S3.10"),
        arguments: [Int64.max, 1 << 40, 60])
    func anyLength(seconds: Int64) async throws {
        let router = Router<URLEndPoint>(session: StubSession { _ in .text("in time") })
        let options = RequestOptions { $0.timeouts.total = .seconds(seconds) }
        #expect(try await router.request(URLEndPoint(.get, url, options: options), as: String.self) == "in time")
    }
}
