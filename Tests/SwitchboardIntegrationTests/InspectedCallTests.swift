import Foundation
import Switchboard
import SwitchboardAuth
import SwitchboardCache
import SwitchboardPlatform
import SwitchboardResilience
import SwitchboardStreams
import SwitchboardTestSupport
import SwitchboardTesting
import SwitchboardWebSocket
import Testing

@testable import SwitchboardInspector

/// The details of calls that several products handle, as the inspector's page gets them.
@Suite(.timeLimit(.minutes(10)))
struct InspectedCallTests {
    private struct Detail: Decodable {
        struct Step: Decodable {
            let at: Double
            let kind: String
            let text: String
            let attempt: Int
        }

        struct Exchange: Decodable {
            let number: Int?
            let attempt: Int
            let at: Double
            let duration: Double
            let source: String?
            let cause: String?
            let outcome: String
            let error: String?
            let remote: String?
            let phases: [Phase]
            let request: Request
            let response: Response?
        }

        struct Response: Decodable {
            struct Body: Decodable { let text: String? }

            let status: Int
            let headers: [[String]]
            let body: Body?
        }

        struct Phase: Decodable {
            let name: String
            let at: Double
            let duration: Double
        }

        struct Request: Decodable {
            let headers: [[String]]
        }

        struct Message: Decodable {
            let sent: Bool
            let kind: String
            let size: Int
            let text: String?
        }

        struct Failure: Decodable { let summary: String }

        let state: String
        let kind: String
        let stub: String
        let closed: String?
        let error: Failure?
        let messages: [Message]
        let status: Int?
        let source: String?
        let revalidation: Bool?
        let statuses: [Int]
        let duration: Double?
        let attempts: Int
        let exchanges: [Exchange]
        let steps: [Step]
    }

    private struct Archive: Decodable {
        struct Log: Decodable { let entries: [Entry] }

        struct Entry: Decodable {
            let request: Request
            let response: Response
            let resourceType: String?
            let webSocketMessages: [Message]?

            enum CodingKeys: String, CodingKey {
                case request, response
                case resourceType = "_resourceType"
                case webSocketMessages = "_webSocketMessages"
            }
        }

        struct Request: Decodable { let url: String }

        struct Response: Decodable {
            struct Content: Decodable { let text: String? }

            let status: Int
            let content: Content
            let error: String?

            enum CodingKeys: String, CodingKey {
                case status, content
                case error = "_error"
            }
        }

        struct Message: Decodable {
            let type: String
            let time: Double
            let opcode: Int
            let data: String
        }

        let log: Log
    }

    private func detail(_ id: Int, of inspector: NetworkInspector) async throws -> Detail {
        try JSONDecoder().decode(Detail.self, from: try await get("calls/\(id)", of: inspector))
    }

    /// Makes a call for each wait, in seconds of the cache's clock after it.
    private func callThroughCache(
        _ session: StubSession, waiting waits: [Double], _ inspector: NetworkInspector
    ) async throws {
        let now = Protected(Date(timeIntervalSince1970: 1_800_000_000))
        let router = Router<URLEndPoint>(
            session: session, exchangeInterceptors: [ResponseCache(now: { now.value })], monitors: [inspector])
        for wait in waits {
            _ = try await router.response(for: URLEndPoint(.get, URL(text: "https://example.com/a")))
            now.withLock { $0 += wait }
        }
    }

    private func archive(of inspector: NetworkInspector) async throws -> [Archive.Entry] {
        try JSONDecoder().decode(Archive.self, from: try await get("har", of: inspector)).log.entries
    }

    private func get(_ path: String, of inspector: NetworkInspector) async throws -> Data {
        let url = try #require(inspector.url)
        let key = try #require(url.query?.dropFirst("key=".count))
        let port = try #require(url.port)
        var request = NetworkRequest(.get, URL(string: "http://127.0.0.1:\(port)/\(path)"))
        request.headers["Cookie"] = "switchboard-inspector-\(port)=\(key)"
        return try await DefaultSession.make().send(request).body
    }

    @Test(
        "a call shows its retries, refresh and phases, the next its cache hit",
        arguments: SessionKind.allCases)
    func decisions(kind: SessionKind) async throws {
        let inspector = try NetworkInspector(CallLimits())
        try await MockServer.run { server in
            server.enqueue(
                .status(503), .status(401), .json("[1]", headers: ["Cache-Control": "max-age=600", "ETag": "\"1\""]),
                .status(304, headers: ["ETag": "\"1\""]))
            let manager = NetworkManager(
                baseURL: server.url, session: kind.make(),
                interceptors: [
                    RetryPolicy(clock: TestClock(skips: true)), AuthenticationInterceptor(KeyAuthenticator()),
                    ResponseCache(),
                ], monitors: [inspector])
            let router = manager.router(for: PathEndPoint.self)
            for _ in 0..<2 { _ = try await router.response(for: .get("films")) }
            _ = try await router.response(
                for: .get("films"), options: RequestOptions { $0.cachePolicy = .reloadRevalidatingCacheData })

            let first = try await detail(1, of: inspector)
            #expect(first.state == "finished" && first.status == 200 && first.source == "network")
            #expect(first.attempts == 2)
            #expect(first.exchanges.map(\.outcome) == ["503", "401", "200"])
            #expect(first.exchanges.map(\.attempt) == [1, 2, 2])
            #expect(first.exchanges.map(\.cause) == ["refreshed", "retry after HTTP 503", "refreshed"])
            #expect(first.exchanges.last?.request.headers.contains(["Authorization", "REDACTED"]) == true)
            let kinds = first.steps.map(\.kind)
            #expect(kinds.first == "started" && kinds.last == "finished")
            #expect(first.steps.contains { $0.kind == "cache" && $0.text == "cache: miss" })
            #expect(first.steps.contains { $0.kind == "retry" && $0.text.hasSuffix("HTTP 503") })
            #expect(first.steps.contains { $0.kind == "authentication" && $0.text.hasSuffix("refreshed") })
            #expect(first.steps.map(\.at) == first.steps.map(\.at).sorted())
            for exchange in first.exchanges {
                #expect(!exchange.phases.isEmpty)
                let end = exchange.phases.last.map { $0.at + $0.duration } ?? 0
                #expect(exchange.phases.map(\.at) == exchange.phases.map(\.at).sorted())
                #expect(end >= exchange.at && end <= exchange.at + exchange.duration + 1)
            }
            if kind == .curl { #expect(first.exchanges[0].remote == "127.0.0.1:\(server.port)") }

            let second = try await detail(2, of: inspector)
            #expect(second.source == "cache" && second.status == 200)
            #expect(second.exchanges.map(\.source) == ["cache"] && second.exchanges[0].number == nil)
            #expect(second.steps.contains { $0.kind == "cache" && $0.text.hasPrefix("cache: hit") })
            let third = try await detail(3, of: inspector)
            #expect(third.source == "revalidated" && third.exchanges.map(\.outcome) == ["304", "200"])
            #expect(third.exchanges.map(\.source) == [nil, "revalidated"] && third.status == 200)
            for response in [second.exchanges[0].response, third.exchanges[1].response] {
                #expect(response?.status == 200 && response?.body?.text == "[1]")
                #expect(response?.headers.contains { $0[0].lowercased() == "etag" && $0[1] == "\"1\"" } == true)
            }
        }
    }

    @Test("a stale answer shows its response, and the failure that it replaces", arguments: [503, nil])
    func staleAnswers(failure: Int?) async throws {
        let inspector = try NetworkInspector(CallLimits())
        let fresh: HTTPHeaders = ["Cache-Control": "max-age=60, stale-if-error=600"]
        let session = StubSession(
            .json(#"{"title":"A","token":"secret-token-1"}"#, headers: fresh),
            failure.map { .status($0) } ?? .failure(.connectionLost))
        try await callThroughCache(session, waiting: [120, 0], inspector)
        let detail = try await detail(2, of: inspector)
        #expect(detail.source == "stale" && detail.exchanges.map(\.source) == [nil, "stale"])
        let answer = try #require(detail.exchanges.last)
        #expect(answer.cause?.hasPrefix("hit, 120 s old, in place of ") == true)
        #expect(answer.response?.body?.text == #"{"title":"A","token":"REDACTED"}"#)
        #expect(detail.stub.contains(##".json(#"{"title":"A","token":"REDACTED"}"#"##))
        #expect(!detail.stub.contains("503") && !detail.stub.contains("connectionLost"))
    }

    @Test("a stale response and its revalidation are two calls")
    func staleWhileRevalidating() async throws {
        let inspector = try NetworkInspector(CallLimits())
        let session = StubSession(
            .text("old", headers: ["Cache-Control": "max-age=60, stale-while-revalidate=600"]), .text("new"))
        try await callThroughCache(session, waiting: [120, 0], inspector)
        let detail = try await detail(2, of: inspector)
        #expect(detail.source == "stale" && detail.exchanges.map(\.source) == ["stale"])
        #expect(detail.exchanges.first?.response?.body?.text == "old")
        #expect(await comesTrue { inspector.calls.count == 3 && inspector.calls[2].state == .finished })
        #expect(detail.state == "finished" && detail.revalidation == nil)
        let revalidation = try await self.detail(3, of: inspector)
        #expect(revalidation.revalidation == true && revalidation.exchanges.first?.response?.body?.text == "new")
        #expect(revalidation.steps[1].text == "cache: revalidation in the background")
    }

    @Test("a call that shares an exchange says so and has its response")
    func sharedExchange() async throws {
        let inspector = try NetworkInspector(CallLimits())
        let (begun, gate) = (Gate(), Gate())
        let session = StubSession { _ in
            begun.open()
            try await gate.wait()
            return .json(#"{"token":"secret-token-1"}"#)
        }
        let router = Router<URLEndPoint>(session: session, interceptors: [Deduplicator()], monitors: [inspector])
        let endPoint = URLEndPoint(.get, URL(text: "https://example.com/a"))
        async let first = router.response(for: endPoint)
        try await begun.wait()
        async let second = router.response(for: endPoint)
        #expect(await comesTrue { inspector.calls.last?.steps.contains { $0.text.hasPrefix("cache: shared") } == true })
        gate.open()
        _ = try await [first, second]
        let details = [try await detail(1, of: inspector), try await detail(2, of: inspector)]
        #expect(details.map(\.source) == ["stub", "shared"])
        #expect(details.map { $0.exchanges.map(\.source) } == [[nil], ["shared"]])
        #expect(details[1].exchanges.first?.response?.body?.text == #"{"token":"REDACTED"}"#)
        #expect(details[1].stub.contains(##".json(#"{"token":"REDACTED"}"#"##))
        #expect(try await archive(of: inspector).count == 1)
    }

    @Test("the steps of a cache are fresh, stale and validated (RFC 9111)")
    func cacheWords() async throws {
        let inspector = try NetworkInspector(CallLimits())
        let session = StubSession(
            .text("a", headers: ["Cache-Control": "no-cache", "ETag": "\"1\""]),
            .status(304, headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""]), .text("b"))
        try await callThroughCache(session, waiting: [0, 120, 0], inspector)
        var texts: [[String]] = []
        for id in 1...3 {
            texts.append(try await detail(id, of: inspector).steps.filter { $0.kind == "cache" }.map(\.text))
        }
        #expect(
            texts == [
                ["cache: miss", "cache: stored", "cache: new response of the server"],
                ["cache: no-cache, 0 s old, to be validated", "cache: validated, not modified"],
                ["cache: stale, 120 s old", "cache: stored", "cache: new response of the server"],
            ])
    }

    @Test("a retry says that Retry-After asked for it, and errors are words")
    func retryAfter() async throws {
        let inspector = try NetworkInspector(CallLimits())
        let session = StubSession(.status(503, headers: ["Retry-After": "2"]), .failure(.timedOut), .text("a"))
        let policy = RetryPolicy(jitter: nil, clock: TestClock(skips: true))
        let router = Router<URLEndPoint>(session: session, interceptors: [policy], monitors: [inspector])
        _ = try await router.response(for: URLEndPoint(.get, URL(text: "https://example.com/a")))
        let detail = try await detail(1, of: inspector)
        let retries = detail.steps.filter { $0.kind == "retry" }.map(\.text)
        #expect(retries.first == "retry after 2000 ms: HTTP 503 with Retry-After")
        #expect(retries.last?.hasSuffix(": the request timed out") == true)
        #expect(detail.exchanges.map(\.outcome) == ["503", "The request timed out", "200"])
        #expect(detail.exchanges.last?.cause == "retry after the request timed out")
        #expect(detail.statuses == [200, 503])
        #expect(detail.stub.contains("    .failure(.timedOut),\n"))
    }

    @Test("an exchange whose body ends early has its head, bytes and error", arguments: SessionKind.allCases)
    func partialBody(kind: SessionKind) async throws {
        let inspector = try NetworkInspector(CallLimits())
        try await MockServer.run { server in
            server.enqueue(.json("[1,2,3,4,5,6,7]", headers: ["X-Part": "1"]).truncated(after: 7))
            let router = Router<URLEndPoint>(session: kind.make(), monitors: [inspector])
            let error = await #expect(throws: NetworkError.self) {
                try await router.response(for: URLEndPoint(.get, server.url))
            }
            if kind == .curl { #expect(error?.statusCode == 200 && error?.body == Data("[1,2,3,".utf8)) }
            let detail = try await detail(1, of: inspector)
            #expect(detail.state == "failed" && detail.source == "network")
            let exchange = try #require(detail.exchanges.first)
            let entry = try #require(try await archive(of: inspector).first)
            #expect(
                entry.response.status == error?.statusCode ?? 0 && entry.response.error == "\(error?.code ?? .unknown)")
            guard error?.statusCode != nil else { return }
            #expect(
                exchange.response?.status == 200
                    && exchange.response?.body?.text ?? "" == error?.body.map { String(decoding: $0, as: UTF8.self) })
            #expect(exchange.response?.headers.contains { $0 == ["X-Part", "1"] } == true)
            #expect(exchange.outcome == "200" && exchange.error != nil)
            guard kind == .curl else { return }
            #expect(exchange.error == "The response ended early")
            #expect(detail.stub.contains(".truncated(after: 7)"))
        }
    }

    @Test("a failure of a stub comes from the stub, others from the network")
    func failedSource() async throws {
        let inspector = try NetworkInspector(CallLimits())
        let stub = Router<URLEndPoint>(session: StubSession(.failure(.timedOut)), monitors: [inspector])
        _ = try? await stub.response(for: URLEndPoint(.get, URL(text: "https://example.com/a")))
        try await MockServer.run { server in
            server.enqueue(.close)
            let router = Router<URLEndPoint>(monitors: [inspector])
            _ = try? await router.response(for: URLEndPoint(.post, server.url))
        }
        #expect(inspector.calls.map(\.source) == [.stub, .network])
    }

    @Test("archive and stub of a WebSocket have its messages without secrets")
    func socketArchive() async throws {
        let inspector = try NetworkInspector(CallLimits())
        let session = StubSession(
            .webSocket(
                .text("hello"), .receive, .text(#"{"token":"secret-in-1"}"#), .binary(Data([0, 255])), .close(1001)))
        let router = Router<URLEndPoint>(session: session, monitors: [inspector])
        let socket = try await router.webSocket(for: URLEndPoint(.get, URL(text: "https://example.com/chat")))
        _ = try await socket.receive()
        try await socket.send(.text("my token=secret-out-1"))
        for try await _ in socket {}
        #expect(await comesTrue { inspector.calls.first?.state == .finished })
        let entry = try #require(try await archive(of: inspector).first)
        #expect(entry.request.url == "wss://example.com/chat" && entry.resourceType == "websocket")
        let messages = (entry.webSocketMessages ?? []).filter { $0.opcode < 8 }
        #expect(messages.map(\.type) == ["receive", "send", "receive", "receive"])
        #expect(messages.map(\.opcode) == [1, 1, 1, 2])
        #expect(messages.map(\.data) == ["hello", "my token=REDACTED", #"{"token":"REDACTED"}"#, "AP8="])
        #expect(
            entry.webSocketMessages?.contains { $0.opcode == 8 && $0.type == "receive" && $0.data == "A+k=" } == true)
        let script =
            ##".webSocket(.text("hello"), .receive, .text(#"{"token":"REDACTED"}"#), "##
            + #".binary(Data(base64Encoded: "AP8=") ?? Data()), .close(1001))"#
        let stub = try await detail(1, of: inspector).stub
        #expect(stub.contains(script), "\(stub)")
    }

    @Test("the stub of a WebSocket that the client closed sends no Close frame")
    func socketClosedByClient() async throws {
        let inspector = try NetworkInspector(CallLimits())
        let session = StubSession(.webSocket(.text("hello")))
        let router = Router<URLEndPoint>(session: session, monitors: [inspector])
        let socket = try await router.webSocket(for: URLEndPoint(.get, URL(text: "https://example.com/chat")))
        _ = try await socket.receive()
        await socket.close(4001, reason: "seen")
        #expect(await comesTrue { inspector.calls.first?.state == .finished })
        let stub = try await detail(1, of: inspector).stub
        #expect(stub.contains(#".webSocket(.text("hello"))"#), "\(stub)")
    }

    @Test("the stub of a WebSocket has no subprotocol that is a secret")
    func secretSubprotocol() async throws {
        let inspector = try NetworkInspector(CallLimits())
        for name in ["bearer.secret-token-1", "chat.v2"] {
            let router = Router<URLEndPoint>(
                session: StubSession(.webSocket(.text("hello"), .close(), subprotocol: name)), monitors: [inspector])
            let endPoint = URLEndPoint(
                .get, URL(text: "https://example.com/chat"), headers: ["Authorization": "Bearer secret-token-1"])
            let options = RequestOptions { $0.webSocket.subprotocols = [name] }
            for try await _ in try await router.webSocket(for: endPoint, options: options) {}
        }
        #expect(await comesTrue { inspector.calls.allSatisfy { $0.state == .finished } })
        let secret = try await detail(1, of: inspector).stub
        #expect(secret.contains(#".webSocket(.text("hello"), .close(1000))"#), "\(secret)")
        let plain = try await detail(2, of: inspector).stub
        #expect(plain.contains(#".close(1000), subprotocol: "chat.v2")"#), "\(plain)")
    }

    @Test("messages of both directions of a WebSocket are shown without secrets")
    func messages() async throws {
        let inspector = try NetworkInspector(CallLimits())
        let session = StubSession(
            .webSocket(
                .text("hello"), .receive, .text(#"{"token":"secret-in-1"}"#), .binary(Data([0, 255])), .close()))
        let router = Router<URLEndPoint>(session: session, monitors: [inspector])
        let socket = try await router.webSocket(for: URLEndPoint(.get, URL(text: "https://example.com/chat")))
        try await socket.send(.text("my token=secret-out-1"))
        for try await _ in socket {}
        let detail = try await detail(1, of: inspector)
        #expect(detail.kind == "websocket" && detail.status == 101 && detail.source == "stub")
        let received = detail.messages.filter { !$0.sent }
        #expect(received.map(\.kind) == ["text", "text", "binary", "close"])
        #expect(received.map(\.text) == ["hello", #"{"token":"REDACTED"}"#, nil, "1000"])
        #expect(received.map(\.size).prefix(3) == [5, 23, 2])
        let sent = detail.messages.filter(\.sent)
        #expect(sent.map(\.kind) == ["text", "close"] && sent.first?.text == "my token=REDACTED")
    }

    @Test("a WebSocket is open until its end, which shows the Close frame")
    func openSocket() async throws {
        let inspector = try NetworkInspector(CallLimits())
        let session = StubSession(.webSocket(.text("a"), .receive, .close(4001, reason: "token=secret-bye-1")))
        let router = Router<URLEndPoint>(session: session, monitors: [inspector])
        let socket = try await router.webSocket(for: URLEndPoint(.get, URL(text: "https://example.com/chat")))
        _ = try await socket.receive()
        let open = try await detail(1, of: inspector)
        #expect(open.state == "open" && open.status == 101 && open.messages.count == 1 && open.closed == nil)
        #expect(open.steps.last?.kind == "open" && open.duration == nil)
        try await socket.send(.text("b"))
        for try await _ in socket {}
        #expect(await comesTrue { inspector.calls.first?.state == .finished })
        let closed = try await detail(1, of: inspector)
        #expect(closed.closed == #"4001 by the server, "token=<redacted>""#)
        #expect(closed.steps.last?.kind == "closed" && closed.duration != nil && closed.error == nil)
        #expect(closed.messages.contains { $0.kind == "close" && $0.text == "4001 token=REDACTED" })
    }

    @Test("a lost WebSocket has failed, and one that the app closes has a code", arguments: [true, false])
    func endOfSocket(isLost: Bool) async throws {
        let inspector = try NetworkInspector(CallLimits())
        try await MockServer.run { server in
            server.enqueue(.webSocket(.text("a"), isLost ? .drop : .echo))
            let router = Router<URLEndPoint>(monitors: [inspector])
            let socket = try await router.webSocket(for: URLEndPoint(.get, server.url))
            _ = try await socket.receive()
            if !isLost { await socket.close(.normalClosure, reason: "bye") }
            #expect(await comesTrue { inspector.calls.first?.duration != nil })
            let detail = try await detail(1, of: inspector)
            #expect(detail.state == (isLost ? "failed" : "finished"))
            #expect(detail.closed == (isLost ? nil : #"1000 by the client, "bye""#))
            #expect((detail.error?.summary.contains("connection") == true) == isLost)
        }
    }

    @Test("a reconnecting WebSocket is one call until its last connection ends")
    func reconnectingSocket() async throws {
        let inspector = try NetworkInspector(CallLimits())
        let session = StubSession(
            .webSocket(.text("a"), .close(1012)), .webSocket(.text("b"), .close(1000, reason: "done")))
        let router = Router<URLEndPoint>(session: session, monitors: [inspector])
        let options = RequestOptions { $0.webSocket.reconnects = true }
        let socket = try await router.webSocket(
            for: URLEndPoint(.get, URL(text: "https://example.com/chat")), options: options,
            clock: TestClock(skips: true))
        let messages = try await socket.elements()
        #expect(messages == [.text("a"), .text("b")])
        #expect(await comesTrue { inspector.calls.first?.state == .finished })
        #expect(inspector.calls.count == 1)
        let detail = try await detail(1, of: inspector)
        #expect(detail.closed == #"1000 by the server, "done""#)
        #expect(detail.exchanges.count == 2)
        #expect(detail.steps.filter { $0.kind == "closed" }.map(\.text).first == "closed: 1012 by the server")
        #expect(detail.messages.filter { $0.kind == "text" }.map(\.text) == ["a", "b"])
    }

    @Test("the events of an event stream are shown over its connections")
    func events() async throws {
        let inspector = try NetworkInspector(CallLimits())
        let fields: HTTPHeaders = ["Content-Type": "text/event-stream"]
        let session = StubSession(
            .text("data: a\n\nevent: price\ndata: {\"password\":\"secret-pass-2\"}\n\n", headers: fields),
            .text("data: b\n\n", headers: fields), .status(204))
        let router = Router<URLEndPoint>(session: session, monitors: [inspector])
        let options = RequestOptions { $0.retry = RetryPolicy(clock: TestClock(skips: true)) }
        let endPoint = URLEndPoint(.get, URL(text: "https://example.com/events"))
        for try await _ in router.events(for: endPoint, options: options) {}
        let detail = try await detail(1, of: inspector)
        #expect(detail.kind == "events" && detail.state == "finished" && detail.exchanges.count == 3)
        #expect(detail.source == "stub")
        #expect(detail.messages.map(\.text) == ["a", #"price: {"password":"REDACTED"}"#, "b"])
        #expect(detail.messages.allSatisfy { !$0.sent && $0.kind == "event" })
    }

    @Test("a stream over a session comes from the network", arguments: SessionKind.allCases)
    func streamSource(kind: SessionKind) async throws {
        let inspector = try NetworkInspector(CallLimits())
        try await MockServer.run { server in
            server.enqueue(.text("data: a\n\n", headers: ["Content-Type": "text/event-stream"]), .status(204))
            let router = Router<URLEndPoint>(session: kind.make(), monitors: [inspector])
            let options = RequestOptions { $0.retry = RetryPolicy(clock: TestClock(skips: true)) }
            for try await _ in router.events(for: URLEndPoint(.get, server.url), options: options) {}
            let detail = try await detail(1, of: inspector)
            #expect(detail.source == "network" && detail.messages.map(\.text) == ["a"])
        }
    }

    @Test("a monitor that is off is left out of calls")
    func off() async throws {
        let inspector = try await NetworkInspector.start(isEnabled: false)
        let session = StubSession { _ in .text("") }
        let router = Router<URLEndPoint>(session: session, monitors: [inspector])
        let response = try await router.response(for: URLEndPoint(.get, URL(text: "https://example.com/")))
        #expect(response.request?.call?.hasMonitors == false)
    }
}

extension NetworkInspector {
    fileprivate var calls: [InspectedCall] { server?.calls.all ?? [] }
}
