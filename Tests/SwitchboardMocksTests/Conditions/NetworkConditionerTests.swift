import Foundation
import Switchboard
import SwitchboardTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct NetworkConditionerTests {
    private let url = URL(string: "https://h.example/p")
    private let clock = TestClock(skips: true)
    private var request: NetworkRequest { request(.standard) }

    private func request(_ timeouts: Timeouts) -> NetworkRequest {
        NetworkRequest(.get, url, options: RequestOptions { $0.timeouts = timeouts })
    }

    @Test("the request is sent between the two halves of the latency")
    func latencyHalves() async throws {
        let stub = StubSession { [clock] _ in
            #expect(clock.now.offset == .milliseconds(15))
            return .text("there")
        }
        let session = stub.under(NetworkConditions(latency: .milliseconds(30)), clock: clock)
        #expect(try await session.send(request).text == "there")
        #expect(clock.now.offset == .milliseconds(30))
    }

    @Test("a lost request takes its latency and is not sent")
    func lostRequest() async throws {
        let stub = StubSession { _ in .text("unused") }
        let session = stub.under(NetworkConditions(latency: .seconds(2), loss: 1), clock: clock)
        let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
        #expect(error?.code == .connectionLost)
        #expect(clock.sleeps == [.seconds(2)])
        #expect(stub.requests.isEmpty)
    }

    @Test("offline, a request fails at once and is not sent")
    func offline() async throws {
        let stub = StubSession { _ in .text("unused") }
        let session = stub.under(.offline, clock: clock)
        let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
        #expect(error?.code == .noInternetConnection)
        #expect(error?.url == url)
        #expect(clock.sleeps.isEmpty)
        #expect(stub.requests.isEmpty)
    }

    @Test("changed conditions apply from the next request on")
    func change() async throws {
        let clock = TestClock()
        let session = StubSession { _ in .text("there") }.under(.lossy, clock: clock)
        let conditioner = session.conditioner
        conditioner.conditions = NetworkConditions(latency: .seconds(2))
        let call = Task { try await session.send(request) }
        #expect(try await clock.nextSleep() == .seconds(1))
        conditioner.conditions = .offline
        clock.advance(by: .seconds(1))
        #expect(try await clock.nextSleep() == .seconds(1))
        clock.advance(by: .seconds(1))
        #expect(try await call.value.text == "there")
        await #expect(throws: NetworkError.self) { try await session.send(request) }
        #expect(conditioner.conditions.isOffline)
    }

    @Test("as an interceptor, the conditions apply to each attempt")
    func eachAttempt() async throws {
        let stub = StubSession { _ in .text("there") }
        // With this seed the first request is lost and the second is not; see ConditionChanceTests.
        let conditioner = NetworkConditioner(
            NetworkConditions(latency: .milliseconds(20), loss: 0.4), seed: 1_234_567, clock: clock)
        let retries = RetryPolicy(baseDelay: .seconds(1), jitter: nil, clock: clock)
        let router = Router<URLEndPoint>(session: stub, interceptors: [retries, conditioner])
        #expect(try await router.response(for: URLEndPoint(.get, #require(url))).text == "there")
        #expect(clock.sleeps == [.milliseconds(20), .seconds(1), .milliseconds(10), .milliseconds(10)])
        #expect(stub.requests.count == 1)
    }

    @Test("an invalid request fails at once and uses no random value")
    func invalidRequest() async throws {
        let session = StubSession().under(NetworkConditions(latency: .seconds(1), loss: 1), seed: 5, clock: clock)
        let error = await #expect(throws: NetworkError.self) { try await session.send(NetworkRequest(.get, nil)) }
        #expect(error?.code == .missingURL)
        #expect(clock.sleeps.isEmpty)
        let lost = await #expect(throws: NetworkError.self) { try await session.send(request) }
        #expect(lost?.reason?.contains("request 1 of seed 5 ") == true)
    }

    @Test("the session's errors pass through")
    func sessionErrors() async throws {
        let session = StubSession(.failure(.cannotFindHost, reason: "scripted")).under(.threeG, clock: clock)
        let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
        #expect(error?.code == .cannotFindHost)
        #expect(error?.reason == "scripted")
    }

    // MARK: Timeouts

    /// Idle seconds, attempt seconds, and the waits before the error in milliseconds. The latency is 4 s, and the body
    /// takes another 10 s.
    @Test(
        "waits end with the request's timeouts",
        arguments: [
            (1.0, nil, [1_000]), (2.0, nil, [2_000, 0]), (3, nil, [2_000, 1_000]), (nil, 1.5, [1_500]),
            (nil, 3, [2_000, 1_000]), (nil, 9, [2_000, 2_000, 5_000]), (3.5, 3, [2_000, 1_000]),
            (1, 3, [1_000]),
        ] as [(Double?, Double?, [Int])])
    func timeouts(idle: Double?, attempt: Double?, milliseconds: [Int]) async throws {
        let request = request(Timeouts(idle: idle.map { .seconds($0) }, attempt: attempt.map { .seconds($0) }))
        let conditions = NetworkConditions(latency: .seconds(4), downloadBytesPerSecond: 100)
        let session = StubSession { _ in .data(Data(count: 1_000)) }.under(conditions, clock: clock)
        let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
        #expect(error?.code == .timedOut)
        #expect(clock.sleeps == milliseconds.filter { $0 > 0 }.map { .milliseconds($0) })
    }

    @Test("waits equal to the timeouts are no error")
    func waitsEqualToTimeouts() async throws {
        let request = request(Timeouts(idle: .seconds(4), attempt: .seconds(14)))
        let conditions = NetworkConditions(latency: .seconds(4), downloadBytesPerSecond: 100)
        let session = StubSession { _ in .data(Data(count: 1_000)) }.under(conditions, clock: clock)
        let response = try await session.send(request)
        #expect(response.body.count == 1_000)
        #expect(response.request?.timeouts == request.timeouts)
        #expect(clock.now.offset == .seconds(14))
    }

    @Test("the session receives the rest of the attempt's time")
    func restOfAttempt() async throws {
        let request = request(Timeouts(idle: nil, attempt: .seconds(10)))
        let session = StubSession(clock: clock, .stall).under(NetworkConditions(latency: .seconds(4)), clock: clock)
        let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
        #expect(error?.code == .timedOut)
        #expect(clock.sleeps == [.seconds(2), .seconds(8)])
    }

    @Test("the error of a late body has the bytes that arrived in time")
    func lateBody() async throws {
        let request = request(Timeouts(attempt: .seconds(3)))
        let session = StubSession(.text("abcdefghij", statusCode: 201, headers: ["X": "1"]))
            .under(NetworkConditions(downloadBytesPerSecond: 2), clock: clock)
        let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
        #expect(error?.code == .timedOut)
        #expect(error?.statusCode == 201)
        #expect(error?.headers?["X"] == "1")
        #expect(error?.body == Data("abcdef".utf8))
    }

    // MARK: Cancellation

    /// Cancels one of four sleeps: upload, first half of the latency, second half, download.
    @Test("cancellation ends each wait", arguments: 0..<4)
    func cancellation(place: Int) async throws {
        let clock = TestClock()
        let conditions = NetworkConditions(
            latency: .seconds(2), downloadBytesPerSecond: 1, uploadBytesPerSecond: 1)
        let stub = StubSession { _ in .text("abc") }
        let session = stub.under(conditions, clock: clock)
        let request = NetworkRequest(.post, url, body: DataBody(Data("abc".utf8)))
        let call = Task { try await session.send(request) }
        for _ in 0..<place { clock.advance(by: try await clock.nextSleep()) }
        _ = try await clock.nextSleep()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(clock.sleeperCount == 0)
        #expect(stub.requests.count == (place < 2 ? 0 : 1))
    }

    @Test("canceling the router ends the wait of an async call")
    func routerCancellation() async throws {
        let clock = TestClock()
        let conditioner = NetworkConditioner(NetworkConditions(latency: .seconds(2)), clock: clock)
        let router = Router<URLEndPoint>(session: StubSession { _ in .text("there") }, interceptors: [conditioner])
        let endPoint = URLEndPoint(.get, try #require(url))
        let call = Task { try await router.response(for: endPoint) }
        _ = try await clock.nextSleep()
        router.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(clock.sleeperCount == 0)
    }
}
