import Foundation
import Switchboard
import SwitchboardCache
import SwitchboardCalls
import SwitchboardJSON
import SwitchboardStreams
import SwitchboardTesting
import SwitchboardTestSupport
import SwitchboardWebSocket
import Testing

/// The last event of a call is how it ended for the caller.
struct CallEndTests {
    private struct Film: Decodable, Sendable { var title: String }

    private static let endPoint = URLEndPoint(.get, URL(text: "http://h.test/film"))

    /// Makes a call, and returns its last event and the error that it threw.
    private func end(
        of response: MockResponse, _ call: (Router<URLEndPoint>) async throws -> Void
    ) async throws -> (text: String, error: NetworkError?) {
        let events = Events()
        let router = Router<URLEndPoint>(
            session: StubSession(response), options: RequestOptions { $0.monitors = [events] })
        var thrown: NetworkError?
        do { try await call(router) } catch { thrown = error as? NetworkError }
        return ("\(try await events.end())", thrown)
    }

    private func text(of error: NetworkError?) -> String { "failed: \(error?.summary ?? "none")" }

    typealias Call = @Sendable (Router<URLEndPoint>) async throws -> Void

    static let calls: [(name: String, make: Call)] = [
        ("request", { _ = try await $0.request(endPoint, as: Film.self) }),
        ("call", { _ = try await $0.call(for: endPoint, as: Film.self).value }),
        ("upload", { _ = try await $0.upload(endPoint, as: Film.self) }),
        ("elements", { for try await _ in $0.elements(for: endPoint, as: Film.self) {} }),
        ("lines", { for try await _ in $0.jsonLines(for: endPoint, as: Film.self) {} }),
        ("pages", { for try await _ in $0.pages(for: endPoint, as: Film.self) {} }),
        (
            "completion",
            { router in
                let result = await withCheckedContinuation { done in
                    router.request(endPoint, as: Film.self) { done.resume(returning: $0) }
                }
                _ = try result.get()
            }
        ),
        (
            "completion on the main actor",
            { router in
                let result = await withCheckedContinuation { done in
                    router.request(endPoint, as: Film.self, on: MainActor.self) { done.resume(returning: $0) }
                }
                _ = try result.get()
            }
        ),
    ]

    @Test("a refused status ends the call as failed", arguments: calls.indices)
    func refused(index: Int) async throws {
        let end = try await end(of: .status(500), Self.calls[index].make)
        #expect(end.error?.statusCode == 500, "\(Self.calls[index].name)")
        #expect(end.text == text(of: end.error), "\(Self.calls[index].name)")
    }

    @Test("a body that does not decode ends the call as failed", arguments: calls.indices)
    func undecodable(index: Int) async throws {
        let end = try await end(of: .json(#"{"title":7"#), Self.calls[index].make)
        #expect(end.error?.code == .decodingFailed, "\(Self.calls[index].name)")
        #expect(end.text == text(of: end.error), "\(Self.calls[index].name)")
    }

    @Test("refused downloads end as failed, raw responses and values as finished")
    func others() async throws {
        let download = try await withFolder { folder in
            try await end(of: .status(404)) {
                try await $0.download(Self.endPoint, to: folder.appendingPathComponent("film"))
            }
        }
        #expect(download.error?.statusCode == 404 && download.text == text(of: download.error))
        let raw = try await end(of: .status(500)) { _ = try await $0.rawResponse(for: Self.endPoint) }
        #expect(raw.text == "finished: HTTP 500")
        let value = try await end(of: .json("[]")) { _ = try await $0.request(Self.endPoint, as: [Film].self) }
        #expect(value.text == "finished: HTTP 200")
    }

    @Test("a stream ends when its body does")
    func stream() async throws {
        let read = try await end(of: .text("one\ntwo")) { for try await _ in $0.lines(for: Self.endPoint) {} }
        #expect(read.text == "finished: HTTP 200")
        let left = try await end(of: .text("one\ntwo")) {
            var iterator = $0.bytes(for: Self.endPoint).makeAsyncIterator()
            _ = try await iterator.next()
        }
        #expect(left.text == "cancelled")
        let cut = try await end(of: .text("one\ntwo").truncated(after: 4)) {
            for try await _ in $0.bytes(for: Self.endPoint) {}
        }
        #expect(cut.error != nil && cut.text == text(of: cut.error))
    }

    @Test("a stream that was read ends its call while the response is in use")
    func heldResponse() async throws {
        let events = Events()
        let router = Router<URLEndPoint>(
            session: StubSession(.text("one\ntwo")), options: RequestOptions { $0.monitors = [events] })
        let response = try await router.streamedResponse(for: Self.endPoint)
        for try await _ in response.bytes.lines() {}
        #expect("\(try await events.end())" == "finished: HTTP 200")
        #expect(response.statusCode == 200)
    }

    @Test("cached lines use the decoder of their request and end the call")
    func cachedLines() async throws {
        let events = Events()
        let session = StubSession(.text("{\"film_title\":\"a\"}\nbad\n").with("Cache-Control", "max-age=60"))
        var snakeCase = FastJSONDecoder()
        snakeCase.keyDecodingStrategy = .convertFromSnakeCase
        let router = Router<URLEndPoint>(
            session: session, exchangeInterceptors: [ResponseCache()],
            options: RequestOptions { $0.monitors = [events] }, decoder: snakeCase)
        struct Row: Decodable { var filmTitle: String }
        for try await _ in try await router.streamedResponse(for: Self.endPoint).bytes {}
        let response = try await router.streamedResponse(for: Self.endPoint)
        #expect(response.cacheOutcome == .hit)
        var titles: [String] = []
        let error = await #expect(throws: NetworkError.self) {
            for try await row in response.bytes.jsonLines(as: Row.self) { titles.append(row.filmTitle) }
        }
        #expect(titles == ["a"])
        #expect(error?.code == .decodingFailed && error?.url?.path == "/film")
        try await events.wait(for: text(of: error))
    }

    @Test("no cache stores a connection of lines that reconnect")
    func cachedConnections() async throws {
        struct Change: Decodable, Sendable { var seq: Int }
        let session = StubSession(.text("{\"seq\":1}\n"), .text(""), .text("{\"seq\":2}\n"), .status(204))
        let options = RequestOptions {
            $0.retry = RetryPolicy(clock: TestClock(skips: true))
            $0.cacheLifetime = .unlimited
        }
        let router = Router<URLEndPoint>(session: session, exchangeInterceptors: [ResponseCache()])
        let lines = router.jsonLines(as: Change.self, cursor: \.seq, for: { _ in Self.endPoint }, options: options)
        #expect(try await lines.reduce(into: []) { $0.append($1.seq) } == [1, 2])
    }

    @Test("lines of a response in memory use the decoder of its request")
    func linesInMemory() async throws {
        var snakeCase = FastJSONDecoder()
        snakeCase.keyDecodingStrategy = .convertFromSnakeCase
        let router = Router<URLEndPoint>(
            session: StubSession(.text("{\"film_title\":\"a\"}\n")), decoder: snakeCase)
        struct Row: Decodable { var filmTitle: String }
        let response = try await router.response(for: Self.endPoint)
        let titles = try await response.bytes.jsonLines(as: Row.self).reduce(into: []) { $0.append($1.filmTitle) }
        #expect(titles == ["a"])
        let error = await #expect(throws: NetworkError.self) {
            for try await _ in response.bytes.jsonLines(as: Int.self) {}
        }
        #expect(error?.url?.path == "/film")
    }

    @Test("a failed first handshake ends the call of a reconnecting socket")
    func failedHandshake() async throws {
        let end = try await end(of: .status(403)) {
            let options = RequestOptions { $0.webSocket.reconnects = true }
            _ = try await $0.webSocket(for: Self.endPoint, options: options)
        }
        #expect(end.error?.statusCode == 403 && end.text == text(of: end.error))
    }

    @Test("unreadable parts fail the call, and an endless epilogue finishes it")
    func parts() async throws {
        let part = "--b\r\nA: b\r\n\r\nfour"
        let texts: [(text: String, code: NetworkError.Code?)] = [
            (part, .truncatedBody), (part + "5\r\n--b--", .responseTooLarge),
            ("--b\r\nbad\r\n\r\n", .invalidResponse),
            (part + "\r\n--b--", nil), (part + "\r\n--b--" + String(repeating: "\r\n", count: 100_000), nil),
        ]
        func read(_ response: MockResponse) async throws -> (text: String, error: NetworkError?) {
            try await end(of: response) { for try await _ in $0.parts(for: Self.endPoint, limit: 4) {} }
        }
        for (text, code) in texts {
            let response = MockResponse.text(text).with("Content-Type", "multipart/mixed; boundary=b")
            let end = try await read(response.chunked(9_000))
            #expect(end.error?.code == code)
            #expect(end.text == (code == nil ? "finished: HTTP 200" : self.text(of: end.error)))
        }
        let plain = try await read(.text(part))
        #expect(plain.error?.code == .unexpectedContentType && plain.text == text(of: plain.error))
    }

    @Test("an interceptor that reads parts does not end the call")
    func partsOfAnInterceptor() async throws {
        struct Reader: Interceptor {
            func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
                for try await _ in try await next(request).parts() {}
                throw NetworkError(.invalidResponse)
            }
        }
        let events = Events()
        let body = MockResponse.text("--b\r\n\r\na\r\n--b--").with("Content-Type", "multipart/mixed; boundary=b")
        let router = Router<URLEndPoint>(
            session: StubSession(body), interceptors: [Reader()], options: RequestOptions { $0.monitors = [events] })
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: Self.endPoint) }
        #expect("\(try await events.end())" == text(of: error))
    }

    @Test("a reader that leaves before a bad line has canceled the call", arguments: [false, true])
    func leftEarly(isByEvents: Bool) async throws {
        let texts = [#"{"title":"Alien"}"#, "bad", ""]
        let response =
            isByEvents
            ? MockResponse.text(
                texts.dropLast().map { "data: \($0)\n\n" }.joined(), headers: ["Content-Type": "text/event-stream"])
            : .text(texts.joined(separator: "\n"))
        func films(_ router: Router<URLEndPoint>) -> ResponseSequence<Film> {
            isByEvents
                ? router.events(for: Self.endPoint, as: Film.self) : router.jsonLines(for: Self.endPoint, as: Film.self)
        }
        let left = try await end(of: response) { for try await _ in films($0) { break } }
        #expect(left.text == "cancelled" && left.error == nil)
        let read = try await end(of: response) { for try await _ in films($0) {} }
        #expect(read.text == text(of: read.error) && read.error?.code == .decodingFailed)
    }
}
