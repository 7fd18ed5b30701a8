#if os(Linux)
@testable import Switchboard
@testable import SwitchboardCurl
import Foundation
import SwitchboardTesting
import SwitchboardTestSupport
import Synchronization
import Testing

/// More calls than libcurl can serve at once.
@Suite(.timeLimit(.minutes(10)))
struct CurlQueueTests {
    private typealias Call = Task<NetworkResponse, any Error>

    private let session = CurlSession(configuration: SessionConfiguration(maximumConnectionsPerHost: 1))

    private func call(_ url: URL?, _ change: (inout NetworkRequest) -> Void = { _ in }) -> Call {
        var request = NetworkRequest(.get, url)
        change(&request)
        return Task { [session, request] in try await session.send(request) }
    }

    private var waitingCount: Int { session.existingLoop?.waitingCount.load(ordering: .relaxed) ?? 0 }
    private var handleCount: Int { session.existingLoop?.handleCount.load(ordering: .relaxed) ?? 0 }

    private func waitUntil(waiting count: Int) async {
        while waitingCount != count { await Task.yield() }
    }

    /// Starts calls over one connection while the first one waits for its answer, so that libcurl has some 65 of them and
    /// the others wait. Runs `body` with their number, waits until its calls wait too, answers the first call, and returns
    /// their results.
    private func withCrowd(
        _ body: (MockServer, _ waiting: Int) async throws -> [Call]
    ) async throws -> [Result<NetworkResponse, any Error>] {
        let answer = DispatchSemaphore(value: 0)
        return try await MockServer.run { request in
            if request.path == "/first" { answer.wait() }
            return .text(request.path + request.text, headers: ["X-Echo": request.headers["X-Sent"] ?? ""])
        } body: { server in
            defer { answer.signal() }
            let first = call(server.url.appendingPathComponent("first"))
            _ = try await server.takeRequest()
            let others = (0..<80).map { call(server.url.appendingPathComponent("\($0)")) }
            while handleCount + waitingCount < 81 { await Task.yield() }
            let waiting = waitingCount
            #expect(waiting > 0)
            let calls = try await body(server, waiting)
            await waitUntil(waiting: waiting + calls.count)
            answer.signal()
            let text = try await first.value.text
            #expect(text == "/first")
            for (number, other) in others.enumerated() {
                let text = try await other.value.text
                #expect(text == "/\(number)")
            }
            var results: [Result<NetworkResponse, any Error>] = []
            for call in calls { results.append(await call.result) }
            #expect(server.connectionCount == 1 && waitingCount == 0 && handleCount == 0)
            return results
        }
    }

    @Test("a call that waited is sent with its fields and its body or stream")
    func content() async throws {
        let results = try await withCrowd { server, _ in
            let stream = StreamBody { HTTPBodyStream(chunks: [Data("str".utf8), Data("eam".utf8)]) }
            return ([DataBody(Data("data".utf8)), stream] as [any HTTPBody]).map { body in
                call(server.url) { $0 = NetworkRequest(.post, server.url, headers: ["X-Sent": "yes"], body: body) }
            }
        }
        let responses = try results.map { try $0.get() }
        #expect(responses.map(\.text) == ["/data", "/stream"])
        #expect(responses.map { $0.headers["X-Echo"] } == ["yes", "yes"])
    }

    @Test("a call that is canceled while it waits is not sent")
    func canceled() async throws {
        let servers = Deliveries<MockServer>()
        let results = try await withCrowd { server, waiting in
            servers.add(server)
            let canceled = call(server.url.appendingPathComponent("canceled"))
            await waitUntil(waiting: waiting + 1)
            let later = call(server.url.appendingPathComponent("later"))
            await waitUntil(waiting: waiting + 2)
            canceled.cancel()
            await #expect(throws: CancellationError.self) { try await canceled.value }
            return [later]
        }
        let later = try #require(results.first).get()
        #expect(later.text == "/later")
        #expect(servers.all.first?.requests.contains { $0.path == "/canceled" } == false)
    }

    @Test("the timeouts run while a call waits", arguments: [true, false])
    func timeouts(isAttempt: Bool) async throws {
        _ = try await withCrowd { server, _ in
            let limit = Duration.milliseconds(100)
            let late = call(server.url) {
                $0.timeouts = isAttempt ? Timeouts(idle: nil, attempt: limit) : Timeouts(idle: limit)
            }
            let error = await #expect(throws: NetworkError.self) { try await late.value }
            #expect(error?.code == .timedOut)
            #expect(server.requests.count == 1)
            return []
        }
    }

    @Test("calls to other servers do not wait")
    func otherServer() async throws {
        _ = try await withCrowd { _, _ in
            try await MockServer.run { other in
                other.enqueue(.text("other"))
                let text = try await session.send(NetworkRequest(.get, other.url)).text
                #expect(text == "other")
            }
            return []
        }
    }

    @Test("a URL that libcurl refuses is an error after the wait")
    func refusedURL() async throws {
        let results = try await withCrowd { server, _ in
            [call(URL(string: server.url.absoluteString + "/" + String(repeating: "a", count: 9_000_000)))]
        }
        let error = #expect(throws: NetworkError.self) { try #require(results.first).get() }
        #expect(error?.code == .invalidRequest)
    }

    @Test("shutdown() ends the calls that wait")
    func shutdown() async throws {
        try await MockServer.run { server in
            server.enqueue(.stall)
            let calls = (0..<100).map { _ in call(server.url) }
            while handleCount + waitingCount < 100 { await Task.yield() }
            #expect(waitingCount > 0)
            await session.shutdown()
            for call in calls {
                let error = await #expect(throws: NetworkError.self) { try await call.value }
                #expect(error?.code == .sessionInvalidated)
            }
        }
    }
}
#endif
