import Foundation
import Switchboard
import SwitchboardStreams
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// `router.bytes`, `router.lines`, `router.jsonLines` and `router.streamedResponse`.
@Suite(.timeLimit(.minutes(10)))
struct RouterStreamTests {
    private func endPoint(_ server: MockServer) -> URLEndPoint { URLEndPoint(.get, server.url) }

    @Test("chunks arrive as received; nothing is sent before the first is read", arguments: SessionKind.allCases)
    func bytes(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.text("abcdef").chunked(2))
            let bytes = Router<URLEndPoint>(session: kind.make()).bytes(for: endPoint(server))
            #expect(server.requests.isEmpty)
            var text = Data()
            for try await chunk in bytes { text += chunk }
            #expect(text == Data("abcdef".utf8))
            for try await chunk in bytes { Issue.record("\(chunk)") }
            #expect(server.requests.count == 1)
            #expect(server.requests[0].headers["Accept"] == "*/*")
        }
    }

    @Test("tasks that share the bytes all wait for the response", arguments: SessionKind.allCases)
    func sharedBytes(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.data(Data(count: 1 << 20)))
            let bytes = Router<URLEndPoint>(session: kind.make()).bytes(for: endPoint(server))
            let counts = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 { group.addTask { try await bytes.next()?.count ?? 0 } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(counts.count == 4 && !counts.contains(0))
            #expect(server.requests.count == 1)
        }
    }

    @Test("a stream may exceed the limit for bodies in memory", arguments: SessionKind.allCases)
    func large(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.data(Data(count: 1_000_000)))
            let options = RequestOptions { $0.limits.responseBody = 1_000 }
            let router = Router<URLEndPoint>(session: kind.make(), options: options)
            let count = try await router.bytes(for: endPoint(server)).reduce(0) { $0 + $1.count }
            #expect(count == 1_000_000)
        }
    }

    @Test("a refused status throws once with the body, then the stream ends")
    func refused() async throws {
        let session = StubSession(.json(#"{"message":"gone"}"#, statusCode: 410).repeated())
        let router = Router<URLEndPoint>(session: session)
        var chunks = router.bytes(for: URLEndPoint(.get, URL(text: "http://h.test/"))).makeAsyncIterator()
        let error = await #expect(throws: NetworkError.self) { try await chunks.next() }
        #expect(error?.statusCode == 410)
        #expect(error?.serverMessage == "gone")
        #expect(try await chunks.next() == nil)
        #expect(session.requests.count == 1)
    }

    @Test("the head arrives before the body", arguments: SessionKind.allCases)
    func head(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.text("abc").with("X-A", "1").stalled(after: 3))
            let response = try await Router<URLEndPoint>(session: kind.make()).streamedResponse(for: endPoint(server))
            #expect(response.headers["X-A"] == "1")
            var chunks = response.bytes.makeAsyncIterator()
            #expect(try await chunks.next() == Data("abc".utf8))
        }
    }

    @Test("a consumer that stops early closes the exchange", arguments: SessionKind.allCases)
    func earlyStop(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.text("one\ntwo\nthree").stalled(after: 9))
            let router = Router<URLEndPoint>(session: kind.make())
            var lines: [String] = []
            try await {
                for try await line in router.lines(for: endPoint(server)) {
                    lines.append(line)
                    if lines.count == 2 { break }
                }
            }()
            #expect(lines == ["one", "two"])
            try await server.waitForDisconnect()
        }
    }

    @Test(
        "a stream that its task or router cancels closes the exchange",
        arguments: SessionKind.allCases, [true, false])
    func cancelled(kind: SessionKind, byRouter: Bool) async throws {
        let seen = Deliveries<String>()
        try await MockServer.run { server in
            server.enqueue(.text("one\ntwo").stalled(after: 5))
            let router = Router<URLEndPoint>(session: kind.make(), options: RequestOptions { $0.timeouts = .none })
            let endPoint = endPoint(server)
            let task = Task { for try await line in router.lines(for: endPoint) { seen.add(line) } }
            _ = try await seen.first()
            if byRouter { router.cancel() } else { task.cancel() }
            await #expect(throws: CancellationError.self) { try await task.value }
            try await server.waitForDisconnect()
        }
    }

    @Test(
        "router.cancel() closes a stream that is not being read",
        arguments: SessionKind.allCases)
    func cancelledUnread(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.text("one").stalled(after: 2))
            let router = Router<URLEndPoint>(session: kind.make())
            let response = try await router.streamedResponse(for: endPoint(server))
            router.cancel()
            try await server.waitForDisconnect()
            await #expect(throws: CancellationError.self) { for try await _ in response.bytes {} }
        }
    }

    @Test("router.cancel() ends a waiting stream of a stub")
    func cancelledStub() async throws {
        let clock = TestClock()
        let session = StubSession(clock: clock, .text("one\ntwo\n").chunked(4).paced(every: .seconds(5)))
        let router = Router<URLEndPoint>(session: session)
        let task = Task { for try await _ in router.lines(for: URLEndPoint(.get, URL(text: "http://h.test/"))) {} }
        _ = try await clock.nextSleep()
        router.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("interceptors apply to streams and may change the bytes")
    func interceptors() async throws {
        let upper = AdHocInterceptor { request, next in
            var request = request
            request.headers["X-A"] = "1"
            var response = try await next(request)
            let bytes = response.bytes
            response.bytes = ResponseBytes {
                var chunks = bytes.makeAsyncIterator()
                return try await chunks.next().map { Data(String(decoding: $0, as: UTF8.self).uppercased().utf8) }
            }
            return response
        }
        let session = StubSession(.status(503), .text("a\nb").chunked(1))
        let policy = RetryPolicy(clock: TestClock(skips: true))
        let router = Router<URLEndPoint>(session: session, interceptors: [policy, upper])
        let lines = router.lines(for: URLEndPoint(.get, URL(text: "http://h.test/")))
        let result1 = try await lines.reduce(into: []) { $0.append($1) }
        #expect(result1 == ["A", "B"])
        #expect(session.requests.map { $0.headers["X-A"] } == ["1", "1"])
    }

    // MARK: JSON lines

    struct Row: Codable, Equatable, Sendable { var id: Int }

    @Test("JSON lines decode until a bad line throws; empty lines are skipped")
    func jsonLines() async throws {
        let session = StubSession(
            .text("{\"row_id\":1}\n\r\n  \n{\"row_id\":2}\n{\"row_id\":\"x\"}\n{\"row_id\":4}").repeated())
        struct Snake: Decodable, Equatable, Sendable { var rowId: Int }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let router = Router<URLEndPoint>(session: session, decoder: decoder)
        var rows: [Snake] = []
        let error = await #expect(throws: NetworkError.self) {
            for try await row in router.jsonLines(for: URLEndPoint(.get, URL(text: "http://h.test/")), as: Snake.self) {
                rows.append(row)
            }
        }
        #expect(rows == [Snake(rowId: 1), Snake(rowId: 2)])
        #expect(error?.code == .decodingFailed)
        #expect(error?.reason?.hasPrefix("line 5: rowId: expected Int") == true, "\(error?.reason ?? "")")
        #expect(error?.reason?.contains(" of the line (") == true)
        #expect(error?.url?.absoluteString == "http://h.test/")
        let last = await #expect(throws: NetworkError.self) {
            let other = Router<URLEndPoint>(session: StubSession(.text("[]")))
            for try await _ in other.jsonLines(for: URLEndPoint(.get, URL(text: "http://h.test/")), as: Row.self) {}
        }
        #expect(last?.url?.absoluteString == "http://h.test/")
        #expect(last?.history.count == 1)
        #expect(session.requests[0].headers["Accept"]?.contains("application/x-ndjson") == true)
    }

    @Test("tasks that share a sequence get each element once", arguments: SessionKind.allCases)
    func sharedSequence(kind: SessionKind) async throws {
        let ids = Array(0..<10_000)
        try await MockServer.run { server in
            server.enqueue(.text(ids.map { "{\"id\":\($0)}\n" }.joined()))
            let rows = Router<URLEndPoint>(session: kind.make()).jsonLines(for: endPoint(server), as: Row.self)
            let seen = try await withThrowingTaskGroup(of: [Int].self) { group in
                for _ in 0..<4 { group.addTask { try await rows.reduce(into: []) { $0.append($1.id) } } }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            let isComplete = seen.sorted() == ids  // outside of the macro, which would compare them slowly
            #expect(isComplete)
        }
    }

    @Test("a task that waits for another reader can be canceled")
    func canceledReader() async throws {
        let clock = TestClock()
        let session = StubSession(clock: clock, .text("a\nb\n").delayed(by: .seconds(5)))
        let lines = Router<URLEndPoint>(session: session).lines(for: URLEndPoint(.get, URL(text: "http://h.test/")))
        let first = Task { try await lines.reduce(into: []) { $0.append($1) } }
        _ = try await clock.nextSleep()
        let second = Task { for try await _ in lines {} }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        clock.advance(by: .seconds(20))
        #expect(try await first.value == ["a", "b"])
    }

    @Test("a line beyond the limit is refused while it arrives", arguments: SessionKind.allCases)
    func longLines(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.data(Data("{\"id\":1}\n".utf8) + Data(repeating: 0x20, count: 10 << 20)))
            let router = Router<URLEndPoint>(session: kind.make())
            var rows: [Row] = []
            let error = await #expect(throws: NetworkError.self) {
                for try await row in router.jsonLines(for: endPoint(server), as: Row.self) { rows.append(row) }
            }
            #expect(rows == [Row(id: 1)])
            #expect(error?.code == .responseTooLarge)
            #expect(error?.url == server.url)
        }
    }

    @Test("a fake router with only the required methods can stream")
    func fake() async throws {
        struct Fake: NetworkRouter {
            typealias EndPoint = URLEndPoint
            let calls = RouterCalls(session: StubSession { _ in .text("a\nb") })
            func readRequest(
                for endPoint: URLEndPoint, options: RequestOptions
            ) throws(NetworkError) -> NetworkRequest {
                NetworkRequest(.get, endPoint.baseURL, options: options)
            }
        }
        let lines = Fake().lines(for: URLEndPoint(.get, URL(text: "http://h.test/")))
        let result2 = try await lines.reduce(into: []) { $0.append($1) }
        #expect(result2 == ["a", "b"])
        try await withFolder { folder in
            let file = folder.appendingPathComponent("a")
            try await Fake().download(URLEndPoint(.get, URL(text: "http://h.test/")), to: file)
            #expect(try Data(contentsOf: file) == Data("a\nb".utf8))
        }
    }

    // MARK: httpbin

    @Test(
        "httpbin's /stream is read line by line, /drip as it drips", .enabled(if: HTTPBin.base != nil),
        arguments: SessionKind.allCases)
    func httpbin(kind: SessionKind) async throws {
        let router = Router<URLEndPoint>(session: kind.make())
        let rows = router.jsonLines(for: URLEndPoint(.get, try HTTPBin.url("/stream/20")), as: Row.self)
        let result3 = try await rows.reduce(into: []) { $0.append($1.id) }
        #expect(result3 == Array(0..<20))
        let drip = URLEndPoint(.get, try HTTPBin.url("/drip?duration=0.5&numbytes=5&delay=0"))
        var count = 0
        for try await chunk in router.bytes(for: drip) {
            #expect(chunk.allSatisfy { $0 == UInt8(ascii: "*") })
            count += chunk.count
        }
        #expect(count == 5)
    }

    @Test(
        "httpbin's /range is saved whole, and an endpoint's range as it is",
        .enabled(if: HTTPBin.base != nil), arguments: SessionKind.allCases)
    func httpbinRange(kind: SessionKind) async throws {
        // httpbin fills /range with repeated alphabets.
        let letters = Data((0..<5_000).map { UInt8(ascii: "a") + UInt8($0 % 26) })
        let router = Router<URLEndPoint>(session: kind.make())
        try await withFolder { folder in
            let file = folder.appendingPathComponent("a")
            let url = try HTTPBin.url("/range/5000?chunk_size=700&duration=0")
            try await router.download(URLEndPoint(.get, url), to: file)
            #expect(try Data(contentsOf: file) == letters)
            let range = URLEndPoint(.get, url, headers: ["Range": "bytes=1000-1999"])
            let response = try await router.download(range, to: file)
            #expect(response.statusCode == 206)
            #expect(
                response.headers["Content-Range"].flatMap(ContentRange.init) == ContentRange(1_000...1_999, of: 5_000))
            #expect(try Data(contentsOf: file) == letters[1_000..<2_000])
        }
    }
}
