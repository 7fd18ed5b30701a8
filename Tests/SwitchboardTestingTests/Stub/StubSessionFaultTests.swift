import Foundation
import Switchboard
import SwitchboardTesting
import Testing

@Suite(.timeLimit(.minutes(3)))
struct StubSessionFaultTests {
    private let request = NetworkRequest(.get, URL(string: "https://h.example/p"))

    @Test(arguments: [
        (MockResponse.truncated(after: 3), NetworkError.Code.truncatedBody), (.close, .connectionLost),
        (.reset, .connectionLost),
        (.raw("HTTP/1.1 200 OK\r\n\r\n"), .unsupported), (.failure(.cannotFindHost), .cannotFindHost),
        (.status(200, headers: ["a": "\n"]), .invalidResponse), (.stall, .timedOut), (.stalled(after: 1), .timedOut),
    ])
    func eachFaultIsTheErrorOfASession(fault: MockResponse, code: NetworkError.Code) async throws {
        let session = StubSession(clock: TestClock(skips: true), fault)
        let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
        #expect(error?.code == code)
        #expect(error?.url == request.url)
        #expect(error?.method == .get)
        #expect(session.requests.count == 1)
    }

    @Test func whatArrivedBeforeTheFaultIsInTheError() async throws {
        let response = MockResponse.text("abcdef", status: 201, headers: ["X": "1"])
        let session = StubSession(
            clock: TestClock(skips: true), response.truncated(after: 2), response.stalled(after: 3))
        for body in ["ab", "abc"] {
            let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
            #expect(error?.status == 201)
            #expect(error?.headers?["X"] == "1")
            #expect(error?.body == Data(body.utf8))
        }
    }

    @Test(arguments: [
        (MockResponse.stall, Timeouts(idle: .seconds(3), attempt: .seconds(5)), 3),
        (.stall, Timeouts(idle: nil, attempt: .seconds(5)), 5),
        (.stall, .standard, 60), (.text("late").delayed(by: .seconds(9)), Timeouts(idle: .seconds(4)), 4),
        (.stall.delayed(by: .seconds(2)), Timeouts(idle: .seconds(3)), 3),
        (.stalled(after: 1).delayed(by: .seconds(2)), Timeouts(idle: .seconds(3)), 5),
        (.stalled(after: 1).delayed(by: .seconds(2)), Timeouts(idle: .seconds(3), attempt: .seconds(4)), 4),
    ])
    func silenceLastsAsLongAsTheTimeoutsAllow(fault: MockResponse, timeouts: Timeouts, seconds: Int) async throws {
        let clock = TestClock(skips: true)
        let session = StubSession(clock: clock) { _ in fault }
        let request = request.with(timeouts)
        await #expect(throws: NetworkError.self) { try await session.send(request) }
        #expect(clock.now.offset == .seconds(seconds))
    }

    @Test func aDelayIsSleptOnTheClock() async throws {
        let clock = TestClock(skips: true)
        let session = StubSession(clock: clock, .text("late").delayed(by: .seconds(7)).delayed(by: .milliseconds(500)))
        #expect(try await session.send(request).text == "late")
        #expect(clock.now.offset == .milliseconds(7_500))
    }

    @Test(
        arguments: [MockResponse.stall, .stalled(after: 1), .text("late").delayed(by: .seconds(30))],
        [Timeouts.standard, .none])
    func cancellingEndsEveryWait(response: MockResponse, timeouts: Timeouts) async throws {
        let clock = TestClock()
        let session = StubSession(clock: clock, response)
        let request = request.with(timeouts)
        let task = Task { try await session.send(request) }
        _ = try await clock.nextSleep()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func aCancelledTaskSendsNothing() async throws {
        let session = StubSession(.text("unused"))
        let task = Task { [request] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await session.send(request)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(session.requests.isEmpty)
    }

    @Test func whatTheClosureThrowsArrivesAsASessionsError() async throws {
        struct Odd: Error {}
        let odd = StubSession { _ in throw Odd() }
        let error = await #expect(throws: NetworkError.self) { try await odd.send(request) }
        #expect(error?.code == .unknown)
        #expect(error?.underlying is Odd)
        let own = StubSession { _ in throw NetworkError(.cannotAuthenticate) }
        await #expect(throws: NetworkError.self) { try await own.send(request) }
        let cancelled = StubSession { _ in throw CancellationError() }
        await #expect(throws: CancellationError.self) { try await cancelled.send(request) }
    }
}

extension NetworkRequest {
    fileprivate func with(_ timeouts: Timeouts) -> NetworkRequest {
        var request = self
        request.timeouts = timeouts
        return request
    }
}
