import Foundation
import Switchboard
import SwitchboardResilience
import SwitchboardStreams
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

/// Every kind of call sends a failing server as many requests as the policy allows, never the square of that.
@Suite(.timeLimit(.minutes(10)))
struct AttemptCountTests {
    /// The kind of call.
    enum Asking: String, CaseIterable, Sendable {
        case call, download, upload, events, jsonLines, pages
    }

    /// The retry policies of the chain and of the call.
    struct Policies: Sendable, CustomTestStringConvertible {
        /// The attempts of the policy in the chain.
        var chain: Int?
        /// The attempts of the policy of the call.
        var own: Int?

        var testDescription: String { "chain \(chain ?? 0), own \(own ?? 0)" }

        func attempts(_ asking: Asking) -> Int {
            switch asking {
            case .download, .upload: own ?? chain ?? 3
            // The policy of a stream counts its reconnections. A stream that never opened has none.
            case .events, .jsonLines: chain == nil ? 1 : own ?? chain ?? 1
            case .call, .pages: own ?? chain ?? 1
            }
        }
    }

    private static let policies = [
        Policies(), Policies(chain: 4), Policies(own: 4), Policies(chain: 4, own: 2), Policies(chain: 2, own: 4),
        Policies(chain: 4, own: 1),
    ]

    @Test(
        "a server that always answers 503 gets as many requests as allowed", .requirement("S2.19"),
        arguments: SessionKind.allCases)
    func unavailable(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.stub(.any) { _ in .status(503) }
            for policies in Self.policies {
                for asking in Asking.allCases {
                    let before = server.requests.count
                    let error = await failure(of: asking, at: server.url, policies, kind)
                    let count = server.requests.count - before
                    expect(error, count, policies.attempts(asking), .error5xx, "\(asking), \(policies.testDescription)")
                }
            }
        }
    }

    @Test(
        "a server that always closes early gets as many requests as allowed", .requirement("S2.19"),
        arguments: SessionKind.allCases)
    func cuts(kind: SessionKind) async throws {
        let heads = Deliveries<String>()
        try await RawServer.run { connection in
            heads.add(try connection.readHead())
        } body: { server in
            for policies in Self.policies {
                for asking in Asking.allCases {
                    let before = heads.all.count
                    let error = await failure(of: asking, at: server.url, policies, kind)
                    let count = heads.all.count - before
                    expect(
                        error, count, policies.attempts(asking), .connectionLost,
                        "\(asking), \(policies.testDescription)")
                }
            }
        }
    }

    @Test(
        "a server that refuses connections gets as many attempts as allowed", .requirement("S2.19"),
        arguments: SessionKind.allCases)
    func refuses(kind: SessionKind) async throws {
        let url = try #require(URL(string: "http://127.0.0.1:\(try MockServer().deadPort)/"))
        for policies in Self.policies {
            for asking in Asking.allCases {
                let (session, sent) = (kind.make(), Deliveries<NetworkRequest>())
                let counting = AdHocSession {
                    sent.add($0)
                    return try await session.send($0)
                }
                let error = await failure(of: asking, at: url, policies, counting)
                let count = sent.all.count
                expect(
                    error, count, policies.attempts(asking), .cannotConnect, "\(asking), \(policies.testDescription)")
            }
        }
    }

    @Test(
        "a server that dies later gets as many requests as allowed", .requirement("S2.19"),
        arguments: SessionKind.allCases, [Policies(chain: 4), Policies(chain: 2, own: 4), Policies(own: 4)])
    func later(kind: SessionKind, policies: Policies) async throws {
        for asking in [Asking.download, .upload, .events, .jsonLines] {
            let count = Deliveries<String>()
            try await RawServer.run { connection in
                let head = try connection.readHead()
                count.add(head)
                if count.all.count == 1 { try connection.send(asking.beginning) }
            } body: { server in
                let error = await failure(of: asking, at: server.url, policies, kind)
                // An ended stream has not failed, but a broken download or piece has.
                let rest =
                    switch asking {
                    case .events, .jsonLines: policies.own ?? 10
                    case .download: (policies.own ?? policies.chain ?? 3) - 1
                    default: policies.own ?? policies.chain ?? 3
                    }
                #expect(count.all.count == 1 + rest, "\(asking)")
                #expect(error?.history.map(\.number) == Array(1...count.all.count), "\(asking)")
                // The first request of an upload in pieces is no attempt of the second.
                if asking != .upload { #expect(error?.attempts == count.all.count, "\(asking)") }
            }
        }
    }

    @Test("events reconnect after an open circuit")
    func openCircuit() async throws {
        func events(_ text: String) -> MockResponse { .text(text).with("Content-Type", "text/event-stream") }
        let clock = TestClock(skips: true)
        let session = StubSession(
            events("data: a\n\n"), .failure(.cannotConnect), events("data: b\n\n"), .status(204))
        let breaker = CircuitBreaker(failures: 1, openFor: .seconds(20), clock: clock)
        let router = Router<URLEndPoint>(session: session, interceptors: [breaker])
        let options = RequestOptions {
            $0.retry = RetryPolicy(maximumAttempts: 10, baseDelay: .seconds(3), clock: clock)
        }
        let endPoint = URLEndPoint(.get, URL(text: "https://example.com/ticker"))
        let seen = try await router.events(for: endPoint, options: options).reduce(into: []) { $0.append($1.data) }
        #expect(seen == ["a", "b"])
        #expect(session.requests.count == 4)
    }

    private func expect(
        _ error: NetworkError?, _ count: Int, _ expected: Int, _ code: NetworkError.Code, _ comment: Comment
    ) {
        #expect(error?.code == code, comment)
        #expect(count == expected, comment)
        #expect(error?.attempts == expected, comment)
        #expect(error?.history.map(\.number) == Array(1...expected), comment)
    }

    private func failure(
        of asking: Asking, at url: URL, _ policies: Policies, _ kind: SessionKind
    ) async -> NetworkError? {
        await failure(of: asking, at: url, policies, kind.make())
    }

    private func failure(
        of asking: Asking, at url: URL, _ policies: Policies, _ session: any NetworkSession
    ) async -> NetworkError? {
        let clock = TestClock(skips: true)
        let chain = policies.chain.map { RetryPolicy(maximumAttempts: $0, clock: clock) }
        let own = policies.own.map { RetryPolicy(maximumAttempts: $0, clock: clock) }
        let router = Router<URLEndPoint>(session: session, interceptors: chain.map { [$0] } ?? [])
        let options = RequestOptions { $0.retry = own }
        let endPoint = URLEndPoint(asking == .upload ? .put : .get, url)
        do {
            switch asking {
            case .call: _ = try await router.response(for: endPoint, options: options)
            case .download:
                try await withFolder { folder in
                    _ = try await router.download(endPoint, to: folder.appendingPathComponent("a"), options: options)
                }
            case .upload:
                try await withFolder { folder in
                    let file = folder.appendingPathComponent("a")
                    try Data("abc".utf8).write(to: file)
                    _ = try await router.upload(endPoint, from: file, by: .ietf, options: options)
                }
            case .events: for try await _ in router.events(for: endPoint, options: options) {}
            case .jsonLines:
                let lines = router.jsonLines(as: Int.self, cursor: { $0 }, for: { _ in endPoint }, options: options)
                for try await _ in lines {}
            case .pages:
                let endPoint = URLEndPoint(.get, url, options: options)
                for try await _ in router.pages(for: endPoint, as: [Int].self) {}
            }
            Issue.record("\(asking) succeeded")
            return nil
        } catch {
            return error as? NetworkError
        }
    }
}

extension AttemptCountTests.Asking {
    /// A complete first response. A download gets 100,000 of its 200,000 bytes.
    fileprivate var beginning: String {
        switch self {
        case .upload:
            "HTTP/1.1 201 Created\r\nLocation: /u\r\nUpload-Offset: 0\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        case .events: "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\ndata: a\n\n"
        case .download:
            "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 200000\r\nConnection: close\r\n\r\n"
                + String(repeating: "a", count: 100_000)
        default: "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n1\n"
        }
    }
}
