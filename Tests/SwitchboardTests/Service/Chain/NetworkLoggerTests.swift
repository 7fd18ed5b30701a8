import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct NetworkLoggerTests {
    private let endPoint = URLEndPoint(
        .post, URL(text: "https://api.example.com/films?page=1"), task: .requestBody(JSONBody(["title": "Alien"])),
        headers: ["X-Client": "tests"])
    private let answer = MockResponse.json(#"{"id":7}"#, statusCode: 201, headers: ["X-Trace": "abc"])

    @Test("the basic level logs one line for a request", .requirement("S3.14"))
    func oneLine() async throws {
        let texts = try await log(.basic)
        #expect(texts.count == 1)
        let line =
            #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z POST https://api\.example\.com/films\?page=1 201, [\d.]+ m?s, 8 bytes, attempt 1/#
        #expect(try line.wholeMatch(in: texts[0]) != nil, "\(texts)")
    }

    @Test("behind a RetryPolicy each attempt is a line with its number", .requirement("S3.14"))
    func attempts() async throws {
        let lines = Deliveries<String>()
        let logger = NetworkLogger(level: .basic, output: { lines.add($0) })
        let session = StubSession(.status(503), .failure(.connectionLost, reason: "gone\nfor good"), .text("ok"))
        let router = Router<URLEndPoint>(
            session: session, interceptors: [RetryPolicy(clock: TestClock(skips: true)), logger])
        _ = try await router.response(for: URLEndPoint(.get, endPoint.baseURL))
        #expect(lines.all.count == 3 && lines.all.allSatisfy { !$0.contains("\n") })
        #expect(lines.all[0].contains(" 503, ") && lines.all[0].hasSuffix(", attempt 1"))
        #expect(lines.all[1].contains(" failed, ") && lines.all[1].contains(", attempt 2"))
        #expect(lines.all[1].contains("gone for good"))
        #expect(lines.all[2].contains(" 200, ") && lines.all[2].contains(", 2 bytes, attempt 3"))
    }

    @Test("the banners of the published logger are a style", .requirement("S3.14"))
    func requestAndResponse() async throws {
        let blocks = try await log(.basic, .banners)
        #expect(blocks.count == 2)
        #expect(blocks[0].contains("OUTGOING"))
        #expect(blocks[0].contains("POST https://api.example.com/films?page=1"))
        #expect(blocks[1].contains("INCOMING"))
        #expect(blocks[1].contains("STATUS: 201, 8 bytes, "))
        #expect(blocks[1].contains(" ms"))
        #expect(blocks.allSatisfy { $0.contains("END") })
    }

    @Test(
        "the HOST line has a non-default port, like Host (RFC 9110 §7.2)",
        .requirement("S3.14"),
        arguments: [
            ("http://h:8080/a", "h:8080"), ("https://h/a", "h"), ("https://h:443/a", "h"), ("http://h:443/", "h:443"),
            ("http://[::1]:9/", "[::1]:9"),
        ])
    func host(url: String, line: String) async throws {
        let lines = Deliveries<String>()
        let router = Router<URLEndPoint>(
            session: StubSession { _ in .text("") }, interceptors: [NetworkLogger(level: .headers) { lines.add($0) }])
        _ = try await router.response(for: URLEndPoint(.get, try #require(URL(string: url))))
        #expect(lines.all.joined().contains("HOST: \(line)\n"))
    }

    @Test("each level adds to the one before: nothing, a line, headers, bodies", .requirement("S3.14"))
    func levels() async throws {
        #expect(try await log(.none) == [])
        let basic = try await log(.basic).joined()
        let headers = try await log(.headers).joined()
        let body = try await log(.body).joined()
        for text in [
            "X-Client: tests", "Content-Type: application/json; charset=utf-8", "X-Trace: abc", "HOST: api.example.com",
        ] {
            #expect(!basic.contains(text))
            #expect(headers.contains(text))
            #expect(body.contains(text))
        }
        for text in [#"{"title":"Alien"}"#, #"{"id":7}"#] {
            #expect(!basic.contains(text))
            #expect(!headers.contains(text))
            #expect(body.contains(text))
        }
        #expect(NetworkLogger.Level.allCases == [.none, .basic, .headers, .body])
    }

    @Test("the request is logged as a curl command on demand", .requirement("S3.14"))
    func curl() async throws {
        let without = try await log(.basic)
        #expect(!without.joined().contains("curl"))
        let with = try await log(.basic, curl: true)
        let expected =
            "curl -X POST 'https://api.example.com/films?page=1' -H 'X-Client: tests' "
            + "-H 'Content-Type: application/json; charset=utf-8' -H 'Accept: application/json' --data-raw '{\"title\":\"Alien\"}'"
        #expect(with[0].contains(expected))
    }

    @Test("a failure is logged with its cause and rethrown unchanged", .requirement("S3.14"))
    func failure() async throws {
        let lines = Deliveries<String>()
        let logger = NetworkLogger(output: { lines.add($0) })
        let router = Router<URLEndPoint>(
            session: StubSession(.failure(.timedOut, reason: "no sign of life")), interceptors: [logger])
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
        #expect(error?.code == .timedOut)
        #expect(lines.all.count == 2)
        #expect(lines.all.last?.contains(" failed, ") == true)
        #expect(lines.all.last?.contains("no sign of life") == true)
    }

    @Test("a cancellation is logged as canceled", .requirement("S3.14"))
    func cancellation() async throws {
        let lines = Deliveries<String>()
        let router = Router<URLEndPoint>(
            session: StubSession { _ in .stall }, interceptors: [NetworkLogger(output: { lines.add($0) })])
        let call = Task { try await router.response(for: endPoint) }
        _ = try await lines.first()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(lines.all.last?.contains(" cancelled, ") == true)
    }

    @Test("a call that exceeds its total timeout is logged as failed")
    func totalTimeout() async throws {
        let lines = Deliveries<String>()
        let clock = TestClock()
        let router = Router<URLEndPoint>(
            session: StubSession { _ in .stall }, interceptors: [NetworkLogger(output: { lines.add($0) })],
            options: RequestOptions { $0.timeouts.total = .seconds(3) }, clock: clock)
        let call = Task { try await router.response(for: endPoint) }
        _ = try await lines.first()
        clock.advance(by: try await clock.nextSleep())
        await #expect(throws: NetworkError.self) { try await call.value }
        #expect(lines.all.last?.contains(" failed, ") == true)
        #expect(lines.all.last?.hasSuffix("no complete response within 3 s (timeouts.total)") == true)
    }

    @Test("a logger after redirects logs each exchange, before them each call", .requirement("S3.14"))
    func place() async throws {
        for (isBehind, count) in [(true, 2), (false, 1)] {
            let lines = Deliveries<String>()
            let logger = NetworkLogger(level: .basic, output: { lines.add($0) })
            let session = StubSession(.status(302, headers: ["Location": "/end"]), .text("end"))
            let interceptors: [any Interceptor] =
                isBehind ? [RedirectInterceptor(), logger] : [logger, RedirectInterceptor()]
            _ = try await Router<URLEndPoint>(session: session, interceptors: interceptors).response(for: endPoint)
            #expect(lines.all.count == count)
            if !isBehind { #expect(lines.all.last?.contains(", from https://api.example.com/end") == true) }
        }
    }

    @Test("long bodies are cut, binary ones counted, streamed ones not read", .requirement("S3.14"))
    func bodies() async throws {
        let lines = Deliveries<String>()
        let logger = NetworkLogger(level: .body, bodyLimit: 10, output: { lines.add($0) })
        let session = StubSession(.text("0123456789ABCDEF"), .data(Data([0, 255, 1])))
        let router = Router<URLEndPoint>(session: session, interceptors: [logger])
        let streamed = Deliveries<Bool>()
        _ = try await router.response(
            for: URLEndPoint(.put, endPoint.baseURL, task: .requestBody(StreamedBody(opened: streamed))))
        _ = try await router.response(for: URLEndPoint(.get, endPoint.baseURL))
        #expect(lines.all[0].contains("(body of 5 bytes)"))
        #expect(streamed.all.count == 1)  // by the session, which sends it
        #expect(lines.all[1].contains("0123456789… (16 bytes in all)"))
        #expect(!lines.all[1].contains("ABCDEF"))
        #expect(lines.all[3].contains("(3 bytes that are no text)"))
    }

    private func log(
        _ level: NetworkLogger.Level, _ style: NetworkLogger.Style = .lines, curl: Bool = false
    ) async throws -> [String] {
        let lines = Deliveries<String>()
        let logger = NetworkLogger(level: level, style: style, writesCurlCommand: curl, output: { lines.add($0) })
        _ = try await Router<URLEndPoint>(session: StubSession(answer), interceptors: [logger]).response(for: endPoint)
        return lines.all
    }

    @Test("a negative limit for bodies that is set later logs no body")
    func negativeLimit() async throws {
        let lines = Deliveries<String>()
        var logger = NetworkLogger(level: .body, output: { lines.add($0) })
        logger.bodyLimit = -1
        let router = Router<URLEndPoint>(session: StubSession(.text("secretive")), interceptors: [logger])
        _ = try await router.response(for: URLEndPoint(.get, URL(text: "https://h.example/a")))
        #expect(logger.bodyLimit == 0)
        #expect(lines.all.last?.hasSuffix("… (9 bytes in all)") == true)
    }

    @Test("as a monitor, the level basic logs how a call ended for its caller")
    func monitor() async throws {
        let texts = Deliveries<String>()
        let options = RequestOptions { $0.monitors = [NetworkLogger(level: .basic) { texts.add($0) }] }
        let router = Router<URLEndPoint>(
            session: StubSession(.text("no JSON"), .text("no JSON")), options: options)
        let endPoint = URLEndPoint(.get, URL(text: "https://h.example/a"))
        let error = await #expect(throws: NetworkError.self) { try await router.request(endPoint, as: [Int].self) }
        _ = try await router.response(for: endPoint)
        let lines = try await texts.wait(for: 2)
        #expect(lines.count == 2 && lines[0].contains("https://h.example/a"))
        #expect(lines[0].contains(error?.summary ?? "none") && lines[1].hasSuffix("finished: HTTP 200"))
    }
}

/// A body that records when it is read.
private struct StreamedBody: HTTPBody {
    let opened: Deliveries<Bool>
    var isStreamed: Bool { true }
    var length: Int64? { 5 }

    func encode() throws -> Data {
        opened.add(true)
        return Data("12345".utf8)
    }
}
