import Foundation
import Switchboard
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

/// A script has the same result from a stub as from the real sessions over a real socket.
@Suite(.timeLimit(.minutes(10)))
struct DoublesAgreeTests {
    @Test(
        "stub and server agree on answers",
        arguments: SessionKind.allCases,
        [
            MockResponse.json("{}", statusCode: 201), .text("abc").chunked(1), .status(204),
            .status(404, body: Data("no".utf8)), .status(200, headers: ["Set-Cookie": "a=1", "Set-Cookie": "b=2"]),
            .text("late").delayed(by: .milliseconds(20)),
        ])
    func answers(kind: SessionKind, response: MockResponse) async throws {
        try await MockServer.run { server in
            server.enqueue(response)
            let request = NetworkRequest(.get, server.url)
            let real = try await kind.make().send(request)
            let stubbed = try await StubSession(response).send(request)
            #expect(real.statusCode == stubbed.statusCode)
            #expect(real.body == stubbed.body)
            #expect(real.url?.host == stubbed.url?.host)
            for name in Set(stubbed.headers.map(\.name)) {
                #expect(real.headers.values(for: name) == stubbed.headers.values(for: name))
            }
        }
    }

    @Test(
        "stub and server agree on faults",
        arguments: SessionKind.allCases,
        [
            (MockResponse.truncated(after: 3), false), (.text("abcdef", statusCode: 500).truncated(after: 3), false),
            (.text("abc").chunked(1).truncated(after: 1), false), (.close, false), (.reset, false), (.stall, true),
            (.stalled(after: 5), true), (.text("late").delayed(by: .seconds(50)), true),
            (.data(Data(count: 2_000)), false),
            (.text("ab", headers: ["Content-Length": "2"]).truncated(after: 9), false),
        ] as [(MockResponse, Bool)])
    func faults(kind: SessionKind, faulty: (response: MockResponse, isTimedOut: Bool)) async throws {
        let fault = faulty.response
        try await MockServer.run { server in
            var (real, stubbed): (NetworkError?, NetworkError?) = (nil, nil)
            // A busy machine may report the other faults late, and receive the head of a stalled answer after a timeout.
            for turn in 0..<6 where real == nil || real?.statusCode != stubbed?.statusCode {
                server.enqueue(fault)
                let options = RequestOptions {
                    $0.timeouts.attempt = faulty.isTimedOut ? .seconds(3 << turn) : .seconds(3_000)
                    $0.limits.responseBody = 1_500
                }
                let request = NetworkRequest(.get, server.url, options: options)
                real = await #expect(throws: NetworkError.self) { try await kind.make().send(request) }
                stubbed = await #expect(throws: NetworkError.self) { try await StubSession(fault).send(request) }
            }
            #expect(real?.code == stubbed?.code)
            #expect(real?.statusCode == stubbed?.statusCode)
            #expect(real?.url == stubbed?.url)
            #expect(real?.method == stubbed?.method)
        }
    }

    @Test("stub and server refuse lengths that differ", arguments: SessionKind.allCases)
    func lengths(kind: SessionKind) async throws {
        try await MockServer.run { server in
            let response = MockResponse.status(
                200, headers: ["Content-Length": "6", "Content-Length": "5"], body: Data("abcdef".utf8))
            server.enqueue(response)
            for session in [kind.make(), StubSession(response)] as [any NetworkSession] {
                let error = await #expect(throws: NetworkError.self) {
                    try await session.send(NetworkRequest(.get, server.url))
                }
                #expect(error?.code == .invalidResponse)
            }
        }
    }

    @Test("stub and server agree on a stream in another coding", arguments: SessionKind.allCases)
    func mislabelledStream(kind: SessionKind) async throws {
        try await MockServer.run { server in
            let response = MockResponse.text("abcdef").mislabelled()
            server.enqueue(response)
            let options = RequestOptions { $0.streamsResponse = true }
            for session in [kind.make(), StubSession(response)] as [any NetworkSession] {
                let answer = try await session.send(NetworkRequest(.get, server.url, options: options))
                #expect(answer.statusCode == 200)
                let error = await #expect(throws: NetworkError.self) { for try await _ in answer.bytes {} }
                #expect(error?.code == .cannotDecodeResponse && error?.statusCode == 200)
            }
        }
    }

    @Test("stub and server agree on no body in any coding", arguments: SessionKind.allCases)
    func emptyMislabelled(kind: SessionKind) async throws {
        try await MockServer.run { server in
            let response = MockResponse.text("").mislabelled()
            server.enqueue(response)
            for session in [kind.make(), StubSession(response)] as [any NetworkSession] {
                let answer = try await session.send(NetworkRequest(.get, server.url))
                #expect(answer.statusCode == 200 && answer.body.isEmpty)
            }
        }
    }

    @Test("stub and server refuse a body above a negative limit", arguments: SessionKind.allCases)
    func negativeLimit(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.text("abc"))
            let request = NetworkRequest(.get, server.url, options: RequestOptions { $0.limits.responseBody = -1 })
            let real = await #expect(throws: NetworkError.self) { try await kind.make().send(request) }
            let stubbed = await #expect(throws: NetworkError.self) { try await StubSession(.text("abc")).send(request) }
            #expect(real?.code == .responseTooLarge && stubbed?.code == .responseTooLarge)
        }
    }

    @Test(
        "stub and server refuse a body above the limit before it breaks or ends",
        arguments: SessionKind.allCases,
        [
            MockResponse.truncated(after: 3_000), .truncated(after: 1_000), .reset(at: .body(after: 3_000)),
            .stalled(after: 3_000), .data(Data(count: 3_000)).chunked(1_000).stalled(after: 2_500),
            .data(Data(count: 3_000)).chunked(2_000).paced(every: .seconds(3_000)),
            .data(Data(count: 3_000)).throttled(bytesPerSecond: 1),
        ])
    func limits(kind: SessionKind, response: MockResponse) async throws {
        try await MockServer.run { server in
            server.enqueue(response)
            let options = RequestOptions {
                $0.timeouts.attempt = .seconds(300)  // Turns a hang into a failure.
                $0.limits.responseBody = 1_500
            }
            let request = NetworkRequest(.get, server.url, options: options)
            let real = await #expect(throws: NetworkError.self) { try await kind.make().send(request) }
            let stubbed = await #expect(throws: NetworkError.self) { try await StubSession(response).send(request) }
            #expect(real?.code == .responseTooLarge && stubbed?.code == .responseTooLarge)
            #expect(real?.statusCode == 200 && stubbed?.statusCode == 200)
        }
    }

    @Test("stub and server agree on a compressed response changed afterwards")
    func changedCompression() async throws {
        var otherBody = MockResponse.text("old").gzipped()
        otherBody.body = Data("new".utf8)
        var noField = MockResponse.text("old").gzipped()
        noField.headers.remove("Content-Encoding")
        let session = DefaultSession.make()
        try await MockServer.run { server in
            server.enqueue(otherBody, noField)
            let stub = StubSession(otherBody, noField)
            let request = NetworkRequest(.get, server.url)
            for session in [session, stub] as [any NetworkSession] {
                let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
                #expect(error?.code == .cannotDecodeResponse)
                let compressed = try await session.send(request)
                #expect(compressed.body == noField.body)
            }
        }
    }

    @Test(
        "stub and server agree on the Content-Length of no body",
        arguments: SessionKind.allCases, [HTTPMethod.get, .head, .post, .put, .patch])
    func emptyRequest(kind: SessionKind, method: HTTPMethod) async throws {
        try await MockServer.run { server in
            server.enqueue(.status(200))
            let stub = StubSession(.status(200))
            let request = NetworkRequest(method, server.url)
            for session in [kind.make(), stub] as [any NetworkSession] { _ = try await session.send(request) }
            let sent = try #require(server.requests.first?.headers)
            let recorded = try #require(stub.recordedRequests.first?.headers)
            #expect(sent.values(for: "Content-Length") == recorded.values(for: "Content-Length"))
        }
    }

    @Test(
        "stub and server agree on cancellation",
        arguments: SessionKind.allCases,
        [MockResponse.stall, .stalled(after: 5), .text("late").delayed(by: .seconds(50))])
    func cancellation(kind: SessionKind, response: MockResponse) async throws {
        try await MockServer.run { server in
            server.enqueue(response)
            let session = kind.make()
            let request = NetworkRequest(.get, server.url)
            let task = Task { try await session.send(request) }
            let seen = try await server.takeRequest()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            try await server.waitForDisconnect(of: seen.connection)
        }
    }
}
