import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// The requests that a stub records, and the bodies that it delivers.
@Suite(.timeLimit(.minutes(10)))
struct StubWireTests {
    private let url = URL(string: "https://user:pw@h.test:8443/a%20b?x=1")

    private struct Reader: HTTPBody {
        let text: String
        let length: Int64?
        var isStreamed: Bool { true }
        var isReplayable: Bool { false }
        var additionalHeaders: HTTPHeaders { ["Content-Type": "text/odd"] }
        func encode() throws -> Data { throw NetworkError(.encodingFailed) }
        func makeStream() throws -> HTTPBodyStream {
            let rest = Rest(text.utf8.map { Data([$0]) }[...])
            return HTTPBodyStream { await rest.next() }
        }

        private actor Rest {
            private var chunks: ArraySlice<Data>
            init(_ chunks: ArraySlice<Data>) { self.chunks = chunks }
            func next() -> Data? { chunks.popFirst() }
        }
    }

    @Test(
        "every body is recorded as it would be sent",
        arguments: [
            (DataBody(Data("bytes".utf8)) as any HTTPBody, nil, "bytes"),
            (JSONBody(["a": 1]), "application/json; charset=utf-8", #"{"a":1}"#),
            (FormBody(["a": "b"]), "application/x-www-form-urlencoded; charset=utf-8", "a=b"),
            (Reader(text: "stream", length: 6), "text/odd", "stream"),
            (Reader(text: "x", length: nil), "text/odd", "x"),
        ])
    func recordedBodies(body: any HTTPBody, type: String?, text: String) async throws {
        let session = StubSession(.status(200))
        _ = try await session.send(NetworkRequest(.post, url, headers: ["X-A": "1"], body: body))
        let recorded = try #require(session.recordedRequests.first)
        #expect(recorded.text == text)
        #expect(recorded.headers["Content-Type"] == type)
        #expect(recorded.headers["Content-Length"] == String(text.utf8.count))
        #expect(recorded.headers["Host"] == "h.test:8443")
        #expect(recorded.target == "/a%20b?x=1")
        #expect(recorded.url?.absoluteString == "https://h.test:8443/a%20b?x=1")
        #expect(
            String(decoding: recorded.head, as: UTF8.self).hasPrefix(
                "POST /a%20b?x=1 HTTP/1.1\r\nHost: h.test:8443\r\nX-A: 1\r\n"))
        #expect(try session.requests.first?.body.encode() == Data(text.utf8))
    }

    @Test(
        "the Host of a recorded request lacks its scheme's port",
        arguments: [
            ("https://h.test:443/a", "h.test"), ("HTTP://h.test:80", "h.test"), ("http://h.test:443/a", "h.test:443"),
            ("https://[::1]:443/", "[::1]"),
        ])
    func defaultPort(url: String, host: String) async throws {
        let session = StubSession(.status(200))
        _ = try await session.send(NetworkRequest(.get, URL(string: url)))
        #expect(session.recordedRequests.map { $0.headers["Host"] } == [host])
    }

    @Test("a stub records the request that a server receives")
    func recordedRequest() async throws {
        try await MockServer.run { server in
            server.enqueue(.status(200))
            let request = NetworkRequest(
                .put, URL(string: "http://ann:p%40ss@127.0.0.1:\(server.port)/p"),
                headers: ["X-A": "1", "x-a": "2", "Cookie": "a=1", "cookie": "b=2"], body: JSONBody(["a": "é"]))
            _ = try await DefaultSession.make().send(request)
            let stub = StubSession(.status(200))
            _ = try await stub.send(request)
            let (seen, recorded) = (try #require(server.requests.first), try #require(stub.recordedRequests.first))
            #expect(recorded.method == seen.method && recorded.target == seen.target && recorded.body == seen.body)
            #expect(recorded.url == seen.url)
            #expect(recorded.headers["Authorization"] == "Basic YW5uOnBAc3M=")  // ann:p@ss, by base64(1)
            for name in recorded.headers.map(\.name) {
                #expect(recorded.headers.values(for: name) == seen.headers.values(for: name), "\(name)")
            }
        }
    }

    @Test("a stream that differs from its announced length is refused")
    func wrongLength() async throws {
        let session = StubSession(.status(200))
        let error = await #expect(throws: NetworkError.self) {
            try await session.send(NetworkRequest(.post, url, body: Reader(text: "abc", length: 5)))
        }
        #expect(error?.code == .encodingFailed)
        #expect(error?.reason == "the body's stream produced 3 bytes, but its length announces 5")
        #expect(session.requests.isEmpty)
    }

    private func streamed() -> NetworkRequest {
        NetworkRequest(.get, url, options: RequestOptions { $0.streamsResponse = true })
    }

    @Test("a streamed response arrives in the given chunks")
    func chunks() async throws {
        let clock = TestClock(skips: true)
        let session = StubSession(
            clock: clock, .text("abcdefg").chunked(1, 3).paced(every: .seconds(2)).delayed(by: .seconds(1)))
        let response = try await session.send(streamed())
        #expect(response.body.isEmpty)
        let chunks = try await response.bytes.elements().map { String(decoding: $0, as: UTF8.self) }
        #expect(chunks == ["a", "bcd", "efg"])
        #expect(clock.sleeps == [.seconds(1), .seconds(2), .seconds(2)])
    }

    @Test(
        "a stream that breaks delivers its bytes, then the error",
        arguments: [
            (MockResponse.text("abcdef").chunked(2).truncated(after: 3), NetworkError.Code.truncatedBody),
            (.text("abcdef").chunked(2).resetting(at: .body(after: 3)), .connectionLost),
            (.text("abcdef").chunked(2).stalled(after: 3), .timedOut),
        ])
    func brokenStream(response: MockResponse, code: NetworkError.Code) async throws {
        let session = StubSession(clock: TestClock(skips: true), response)
        let answer = try await session.send(streamed())
        var text = ""
        let error = await #expect(throws: NetworkError.self) {
            for try await chunk in answer.bytes { text += String(decoding: chunk, as: UTF8.self) }
        }
        #expect(text == "abc")
        #expect(error?.code == code)
        #expect(error?.statusCode == 200)
    }

    @Test("a slow body takes its time or times out")
    func slowBody() async throws {
        let clock = TestClock(skips: true)
        let slow = MockResponse.data(Data(count: 1_000)).throttled(bytesPerSecond: 100)
        let session = StubSession(clock: clock, slow, slow, .text("abc").dripping(every: .seconds(61)))
        var request = NetworkRequest(.get, url)
        #expect(try await session.send(request).body.count == 1_000)
        #expect(clock.sleeps == [.seconds(10)])
        request.timeouts.attempt = .seconds(4)
        let attempt = await #expect(throws: NetworkError.self) { try await session.send(request) }
        #expect(attempt?.code == .timedOut && attempt?.statusCode == 200)
        request.timeouts.attempt = nil
        let idle = await #expect(throws: NetworkError.self) { try await session.send(request) }
        #expect(idle?.code == .timedOut)
        #expect(clock.sleeps == [.seconds(10), .seconds(4), .seconds(60)])
    }

    /// Returns the number of bytes that a stream had before its error, and the error.
    private func streamed(
        _ response: MockResponse, clock: TestClock, attempt: Duration? = nil
    ) async throws -> (Int, NetworkError?) {
        var request = NetworkRequest(.get, url)
        request.options.streamsResponse = true
        request.timeouts.attempt = attempt
        var count = 0
        do {
            for try await chunk in try await StubSession(clock: clock, response).send(request).bytes {
                count += chunk.count
            }
        } catch let error as NetworkError {
            return (count, error)
        }
        return (count, nil)
    }

    @Test("a streamed body ends with the attempt, and only silence is idle")
    func slowStream() async throws {
        let paced = MockResponse.text("abcdef").chunked(1).paced(every: .seconds(2))
        var clock = TestClock(skips: true)
        let cut = try await streamed(paced, clock: clock, attempt: .seconds(5))
        #expect(cut.0 == 3 && cut.1?.code == .timedOut)
        #expect(clock.sleeps == [.seconds(2), .seconds(2), .seconds(1)])
        // 100 s of data without a pause.
        let throttled = try await streamed(
            .data(Data(count: 1_000)).throttled(bytesPerSecond: 10), clock: TestClock(skips: true))
        #expect(throttled.0 == 1_000 && throttled.1 == nil)
        let dripping = try await streamed(.text("abc").dripping(every: .seconds(30)), clock: TestClock(skips: true))
        #expect(dripping.0 == 3 && dripping.1 == nil)
        clock = TestClock(skips: true)
        let stalled = try await streamed(
            .text("abcdef").chunked(1).paced(every: .seconds(2)).stalled(after: 3), clock: clock, attempt: .seconds(5))
        #expect(stalled.0 == 3 && stalled.1?.code == .timedOut)
        #expect(clock.sleeps == [.seconds(2), .seconds(2), .seconds(1)])
    }

    @Test("the longest delays end with the timeout")
    func longestDelays() async {
        let long = Duration.seconds(Int64.max)
        let text = MockResponse.text(String(repeating: "a", count: 100))
        let delayed = (0..<100).reduce(text) { response, _ in response.delayed(by: long) }
        let request = NetworkRequest(.get, url)
        for response in [delayed, text.dripping(every: long), text.dripping(every: long).paced(every: long)] {
            let session = StubSession(clock: TestClock(skips: true), response)
            let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
            #expect(error?.code == .timedOut)
        }
    }

    @Test("a stall without limit can be canceled")
    func endlessStall() async throws {
        var request = NetworkRequest(.get, url)
        request.timeouts.idle = .seconds(Int64.max)
        let sending = Task { [request] in try await StubSession(.stall).send(request) }
        await Task.yield()
        sending.cancel()
        await #expect(throws: CancellationError.self) { try await sending.value }
    }

    @Test("encoded bodies arrive decoded")
    func decodedBodies() async throws {
        let limited = NetworkRequest(.get, url, options: RequestOptions { $0.limits.responseBody = 2_000 })
        let session = StubSession(
            .text("hello").gzipped(), .data(Data(count: 1_000)).gzipped(), .data(Data(count: 3_000)).gzipped(),
            .text("x").mislabelled(as: "br"))
        let text = try await session.send(limited)
        #expect(text.text == "hello" && text.headers["Content-Encoding"] == "gzip")
        #expect(try await session.send(limited).body == Data(count: 1_000))
        let bomb = await #expect(throws: NetworkError.self) { try await session.send(limited) }
        #expect(bomb?.code == .responseTooLarge)
        let odd = await #expect(throws: NetworkError.self) { try await session.send(limited) }
        #expect(odd?.code == .cannotDecodeResponse)
    }

    @Test(
        "a break before the head is a lost connection",
        arguments: [
            MockResponse.BreakPoint.accept, .requestLine, .requestHead, .requestBody(after: 2), .response, .statusLine,
        ])
    func breakBeforeHead(point: MockResponse.BreakPoint) async throws {
        let session = StubSession(.close(at: point), .reset(at: point))
        for _ in 0..<2 {
            let error = await #expect(throws: NetworkError.self) { try await session.send(NetworkRequest(.get, url)) }
            #expect(error?.code == .connectionLost)
            #expect(error?.statusCode == nil)
            #expect(error?.reason?.contains("\(point)") == true)
        }
    }
}
