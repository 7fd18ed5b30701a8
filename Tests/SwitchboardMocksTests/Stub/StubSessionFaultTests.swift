import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct StubSessionFaultTests {
    private let request = NetworkRequest(.get, URL(string: "https://h.example/p"))

    @Test(
        "each fault throws the error of a session",
        arguments: [
            (MockResponse.truncated(after: 3), NetworkError.Code.truncatedBody), (.close, .connectionLost),
            (.reset, .connectionLost),
            (.raw("HTTP/1.1 200 OK\r\n\r\n"), .unsupported), (.failure(.cannotFindHost), .cannotFindHost),
            (.status(200, headers: ["a": "\n"]), .invalidResponse), (.stall, .timedOut),
            (.stalled(after: 1), .timedOut), (.truncated(after: 1 << 40), .responseTooLarge),
            (.close(at: .body(after: .max)), .responseTooLarge),
        ])
    func faults(fault: MockResponse, code: NetworkError.Code) async throws {
        let session = StubSession(clock: TestClock(skips: true), fault)
        let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
        #expect(error?.code == code)
        #expect(error?.url == request.url)
        #expect(error?.method == .get)
        #expect(session.requests.count == 1)
    }

    @Test("the error has the part of the response before the fault")
    func partialResponse() async throws {
        let response = MockResponse.text("abcdef", statusCode: 201, headers: ["X": "1"])
        let session = StubSession(
            clock: TestClock(skips: true), response.truncated(after: 2), response.stalled(after: 3))
        for body in ["ab", "abc"] {
            let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
            #expect(error?.statusCode == 201)
            #expect(error?.headers?["X"] == "1")
            #expect(error?.body == Data(body.utf8))
        }
    }

    @Test(
        "a stall ends with the request's timeouts",
        arguments: [
            (MockResponse.stall, Timeouts(idle: .seconds(3), attempt: .seconds(5)), 3),
            (.stall, Timeouts(idle: nil, attempt: .seconds(5)), 5),
            (.stall, .standard, 60), (.text("late").delayed(by: .seconds(9)), Timeouts(idle: .seconds(4)), 4),
            (.stall.delayed(by: .seconds(2)), Timeouts(idle: .seconds(3)), 3),
            (.stalled(after: 1).delayed(by: .seconds(2)), Timeouts(idle: .seconds(3)), 5),
            (.stalled(after: 1).delayed(by: .seconds(2)), Timeouts(idle: .seconds(3), attempt: .seconds(4)), 4),
        ])
    func stalls(fault: MockResponse, timeouts: Timeouts, seconds: Int) async throws {
        let clock = TestClock(skips: true)
        let session = StubSession(clock: clock) { _ in fault }
        let request = request.with(timeouts)
        await #expect(throws: NetworkError.self) { try await session.send(request) }
        #expect(clock.now.offset == .seconds(seconds))
    }

    @Test("a delay sleeps on the clock")
    func delay() async throws {
        let clock = TestClock(skips: true)
        let session = StubSession(clock: clock, .text("late").delayed(by: .seconds(7)).delayed(by: .milliseconds(500)))
        #expect(try await session.send(request).text == "late")
        #expect(clock.now.offset == .milliseconds(7_500))
    }

    @Test(
        "cancellation ends every wait",
        arguments: [MockResponse.stall, .stalled(after: 1), .text("late").delayed(by: .seconds(30))],
        [Timeouts.standard, .none])
    func cancellation(response: MockResponse, timeouts: Timeouts) async throws {
        let clock = TestClock()
        let session = StubSession(clock: clock, response)
        let request = request.with(timeouts)
        let task = Task { try await session.send(request) }
        _ = try await clock.nextSleep()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("a canceled task sends nothing")
    func canceledTask() async throws {
        let session = StubSession(.text("unused"))
        let task = Task { [request] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await session.send(request)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(session.requests.isEmpty)
    }

    @Test("a request is canceled also if the cancel ends its stream", arguments: [false, true])
    func cancelledStream(isThrown: Bool) async throws {
        struct Spoiled: Error {}
        let started = Deliveries<Bool>()
        let body = StreamBody {
            HTTPBodyStream {
                started.add(true)
                let isWaiting: Void? = try? await Task.sleep(for: .seconds(600))
                if isThrown, isWaiting == nil { throw Spoiled() }
                return nil
            }
        }
        let session = StubSession(.text(""))
        let task = Task { [request] in try await session.send(NetworkRequest(.post, request.url, body: body)) }
        _ = try await started.first()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("an error of the closure arrives as a session's error")
    func closureErrors() async throws {
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
