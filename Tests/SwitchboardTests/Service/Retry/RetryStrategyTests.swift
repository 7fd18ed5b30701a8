import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RetryStrategyTests {
    private let url = URL(text: "https://api.example.com/a")

    private func waits(_ policy: (TestClock) -> RetryPolicy, change: (inout RequestOptions) -> Void = { _ in }) async
        -> [Duration]
    {
        let clock = TestClock(skips: true)
        let session = StubSession { _ in .status(503) }
        let router = Router<URLEndPoint>(session: session, interceptors: [policy(clock)])
        var options = RequestOptions()
        change(&options)
        _ = try? await router.response(for: URLEndPoint(.get, url, options: options))
        #expect(session.requests.count == clock.sleeps.count + 1)
        return clock.sleeps
    }

    @Test("waits are zero, constant, or doubling up to a maximum", .requirement("S2.19"))
    func strategies() async {
        #expect(await waits { RetryPolicy(strategy: .immediate, clock: $0) } == [.zero, .zero])
        #expect(await waits { RetryPolicy(strategy: .constant(.seconds(3)), clock: $0) } == [.seconds(3), .seconds(3)])
        let long = await waits { RetryPolicy(strategy: .constant(.seconds(300)), clock: $0) }
        #expect(long == [.seconds(30), .seconds(30)])
        let doubled = await waits {
            RetryPolicy(
                maximumAttempts: 5, strategy: .exponential(from: .seconds(1), jitter: nil),
                maximumDelay: .seconds(5), clock: $0)
        }
        #expect(doubled == [.seconds(1), .seconds(2), .seconds(4), .seconds(5)])
        #expect(await waits { RetryPolicy(strategy: .constant(.seconds(-3)), clock: $0) } == [.zero, .zero])
    }

    @Test("a wait after very many attempts is the longest one, or zero")
    func manyAttempts() {
        #expect(Duration.milliseconds(1).doubled(.max, upTo: .seconds(30)) == .seconds(30))
        #expect(Duration.zero.doubled(.max, upTo: .seconds(30)) == .zero)
    }

    @Test("full jitter waits a random fraction of the doubled wait", .requirement("S2.19"))
    func jitter() async {
        let fractions = InOrder([0.5, 0.25, 0, 1, .nan, 7, -1])
        let drawn = await waits {
            RetryPolicy(
                maximumAttempts: 8, baseDelay: .seconds(1), maximumDelay: .seconds(4),
                jitter: { fractions.next() }, clock: $0)
        }
        #expect(
            drawn == [
                .milliseconds(500), .milliseconds(500), .zero, .seconds(4), .seconds(4), .seconds(4), .zero,
            ])
        // The default spreads waits over the whole interval and never beyond.
        var all: [Duration] = []
        for _ in 0..<200 { all += await waits { RetryPolicy(maximumAttempts: 2, baseDelay: .seconds(8), clock: $0) } }
        #expect(all.count == 200 && all.allSatisfy { $0 >= .zero && $0 < .seconds(8) })
        #expect(all.contains { $0 < .seconds(2) } && all.contains { $0 > .seconds(6) })
    }

    @Test("a custom strategy decides by attempt, request and any result", .requirement("S2.19"))
    func custom() async throws {
        let clock = TestClock(skips: true)
        let session = StubSession(
            .status(202), .status(503), .failure(.insecureConnection), .status(202), .text("made"))
        let strategy = RetryStrategy.custom { attempt, request, result in
            guard request.method == .get else { return nil }
            switch result {
            case .success(let response) where response.statusCode == 202: return .seconds(attempt)
            case .success(let response): return response.statusCode == 503 ? .seconds(100) : nil
            case .failure(let error): return error.code == .insecureConnection ? .milliseconds(1) : nil
            }
        }
        let router = Router<URLEndPoint>(
            session: session, interceptors: [RetryPolicy(maximumAttempts: 9, strategy: strategy, clock: clock)])
        let text = try await router.request(URLEndPoint(.get, url), as: String.self)
        #expect(text == "made")
        #expect(clock.sleeps == [.seconds(1), .seconds(30), .milliseconds(1), .seconds(4)])
        // The rules that protect the server still apply.
        let post = StubSession { _ in .status(202) }
        let other = Router<URLEndPoint>(
            session: post, interceptors: [RetryPolicy(strategy: .custom { _, _, _ in .zero })])
        _ = try await other.response(for: URLEndPoint(.post, url))
        #expect(post.requests.count == 1)
        _ = try await other.response(for: URLEndPoint(.get, url))
        #expect(post.requests.count == 4)
        for code in [NetworkError.Code.cancelled, .resetInProgress] {
            let over = StubSession { _ in .failure(code) }
            let always = RetryPolicy(strategy: .custom { _, _, _ in .zero })
            _ = try? await Router<URLEndPoint>(session: over, interceptors: [always]).rawResponse(
                for: URLEndPoint(.get, url))
            #expect(over.requests.count == 1)
        }
    }

    @Test("a request's policy replaces the chain's and keeps the chain's clock", .requirement("S2.19"))
    func perRequest() async {
        #expect(
            await waits {
                RetryPolicy(clock: $0)
            } change: {
                $0.retry = .never
            } == [])
        let own = await waits {
            RetryPolicy(clock: $0)
        } change: {
            $0.retry = RetryPolicy(maximumAttempts: 4, strategy: .constant(.seconds(7)))
        }
        #expect(own == [.seconds(7), .seconds(7), .seconds(7)])
        #expect(
            await waits {
                RetryPolicy(maximumAttempts: 1, clock: $0)
            } change: {
                $0.retry = nil
            } == [])
    }

    @Test("methods, statuses and error codes can be changed", .requirement("S2.19"))
    func sets() async throws {
        let session = StubSession(.status(425), .failure(.insecureConnection), .text("in"), .status(503))
        var policy = RetryPolicy(strategy: .immediate)
        policy.methods = [.post]
        policy.statusCodes = [425]
        policy.errorCodes = [.insecureConnection]
        let router = Router<URLEndPoint>(session: session, interceptors: [policy])
        #expect(try await router.request(URLEndPoint(.post, url), as: String.self) == "in")
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: URLEndPoint(.post, url)) }
        #expect(error?.statusCode == 503)
        #expect(session.requests.count == 4)
    }

    @Test("exactly the listed error codes are retried, not their special cases", .requirement("S2.19"))
    func exactCodes() async throws {
        #expect(NetworkError.Code.cannotFindHost.isKind(of: .cannotConnect))
        for (code, count) in [(NetworkError.Code.cannotFindHost, 1), (.cannotConnect, 3)] {
            let session = StubSession { _ in .failure(code) }
            var policy = RetryPolicy(strategy: .immediate)
            policy.errorCodes = [.cannotConnect]
            let router = Router<URLEndPoint>(session: session, interceptors: [policy])
            let error = await #expect(throws: NetworkError.self) {
                try await router.response(for: URLEndPoint(.get, url))
            }
            #expect(error?.code == code && session.requests.count == count)
        }
    }

    @Test("a monitor hears why a request is not retried")
    func reasons() async throws {
        let monitor = Events()
        let session = StubSession(.status(503), .close, .status(404), .status(503))
        let router = Router<URLEndPoint>(session: session, interceptors: [RetryPolicy()])
        let options = RequestOptions { $0.monitors = [monitor] }
        for _ in 0..<3 {
            await #expect(throws: NetworkError.self) {
                try await router.response(for: URLEndPoint(.post, url, options: options))
            }
        }
        let body = StreamBody(isReplayable: false) { HTTPBodyStream { nil } }
        await #expect(throws: NetworkError.self) {
            try await router.response(for: URLEndPoint(.put, url, task: .requestBody(body), options: options))
        }
        #expect(
            monitor.texts.filter { $0.contains("not retried") } == [
                "not retried: POST is not retried without Idempotency-Key",
                "not retried: POST is not retried without Idempotency-Key",
                "not retried: its body cannot be sent twice",
            ])
    }

    @Test("response and error have the history, and every retry is reported", .requirement("S2.19"))
    func visible() async throws {
        let session = StubSession(.status(503), .close, .text("done"), .status(502), .status(500), .status(504))
        let monitor = Events()
        let router = Router<URLEndPoint>(
            session: session, interceptors: [RetryPolicy(jitter: nil, clock: TestClock(skips: true))])
        let endPoint = URLEndPoint(.get, url, options: RequestOptions { $0.monitors = [monitor] })
        let response = try await router.response(for: endPoint)
        #expect(response.attempts == 3)
        #expect(response.history.map(\.outcome) == [.status(503), .failure(.connectionLost), .status(200)])
        #expect(response.history.map(\.cause) == [nil, "retry after HTTP 503", "retry after connectionLost"])
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
        #expect(error?.attempts == 3)
        #expect(error?.history.map(\.outcome) == [.status(502), .status(500), .status(504)])
        let texts = monitor.texts.filter { $0.contains("retry") || $0.contains("not retried") }
        #expect(
            texts == [
                "retry after 500 ms: HTTP 503", "retry after 1000 ms: connectionLost", "retry after 500 ms: HTTP 502",
                "retry after 1000 ms: HTTP 500", "not retried: 3 attempts were made",
            ])
    }
}

/// Returns the values of a list, one per call.
private final class InOrder: Sendable {
    private let values: [Double]
    private let asked = Deliveries<Bool>()

    init(_ values: [Double]) {
        self.values = values
    }

    func next() -> Double {
        asked.add(true)
        return values[min(asked.all.count, values.count) - 1]
    }
}
