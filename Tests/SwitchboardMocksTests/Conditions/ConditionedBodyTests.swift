import Foundation
import Switchboard
import SwitchboardTestSupport
import SwitchboardTesting
import SwitchboardWebSocket
import Testing

/// Bodies in pieces take their time piece by piece.
@Suite(.timeLimit(.minutes(10)))
struct ConditionedBodyTests {
    private let url = URL(string: "https://h.example/p")
    private let clock = TestClock(skips: true)
    private let slow = NetworkConditions(downloadBytesPerSecond: 10, uploadBytesPerSecond: 4)

    private var streamed: NetworkRequest {
        NetworkRequest(.get, url, options: RequestOptions { $0.streamsResponse = true })
    }

    @Test("an open WebSocket outlives the attempt")
    func webSocket() async throws {
        let stub = StubSession(clock: clock, .webSocket(.text("1"), .pause(.seconds(60)), .text("2"), .close()))
        let conditioner = NetworkConditioner(NetworkConditions(downloadBytesPerSecond: 1_000), clock: clock)
        let router = Router<URLEndPoint>(session: stub, interceptors: [conditioner])
        let options = RequestOptions { $0.timeouts.attempt = .seconds(10) }
        let endPoint = try URLEndPoint(.get, #require(url))
        let socket = try await router.webSocket(
            for: endPoint, sending: String.self, receiving: String.self, options: options)
        let texts = try await socket.elements()
        #expect(texts == ["1", "2"])
    }

    @Test("a response without a body does not become a stream")
    func noBody() async throws {
        let response = try await StubSession(.status(304)).under(slow, clock: clock).send(streamed)
        #expect(response.statusCode == 304 && response.stream == nil)
    }

    @Test("a body of unknown length is encoded once and takes its time")
    func unknownLength() async throws {
        let encodings = Deliveries<Void>()
        let stub = StubSession { .text("\($0.headers.count) \($0.body.additionalHeaders)") }
        let session = stub.under(slow, clock: clock)
        _ = try await session.send(NetworkRequest(.post, url, body: CountedBody(encodings: encodings)))
        #expect(clock.sleeps.first == .seconds(2))
        #expect(encodings.all.count == 1)
        #expect(try stub.requests.first?.body.encode() == Data("12345678".utf8))
        #expect(stub.requests.first?.body.additionalHeaders == ["Content-Type": "text/x-counted"])
    }

    @Test("the session reports a body that cannot be encoded")
    func encodingError() async throws {
        let session = StubSession().under(slow, clock: clock)
        let error = await #expect(throws: NetworkError.self) {
            try await session.send(NetworkRequest(.post, url, body: JSONBody(Double.nan)))
        }
        #expect(error?.code == .encodingFailed)
        #expect(clock.sleeps.isEmpty)
    }

    @Test("a streamed body takes its time while it is read")
    func streamedUpload() async throws {
        let session = Reader(clock: clock).under(slow, clock: clock)
        let body = StreamBody(length: 14) { .init(chunks: ["12345678", "90", "abcd"]) }
        let response = try await session.send(NetworkRequest(.post, url, body: body))
        #expect(response.text == "12345678@2.0 seconds 90@2.5 seconds abcd@3.5 seconds ")
    }

    @Test("a streamed body ends with the attempt")
    func streamedUploadTimeout() async throws {
        let session = Reader(clock: clock).under(slow, clock: clock)
        let body = StreamBody { .init(chunks: ["12345678", "90", "abcd"]) }
        let options = RequestOptions { $0.timeouts.attempt = .seconds(3) }
        let error = await #expect(throws: NetworkError.self) {
            try await session.send(NetworkRequest(.post, url, body: body, options: options))
        }
        #expect(error?.code == .timedOut)
        #expect(clock.now.offset == .seconds(3))
    }

    @Test("a streamed response takes its time while it is read")
    func streamedResponse() async throws {
        let session = Speaker(chunks: ["12345", "", "6789012345", "6"]).under(slow, clock: clock)
        let response = try await session.send(streamed)
        #expect(clock.sleeps.isEmpty)
        var pieces: [String] = []
        for try await chunk in response.bytes {
            pieces.append("\(String(decoding: chunk, as: UTF8.self))@\(clock.now)")
        }
        #expect(pieces == ["12345@0.5 seconds", "6789012345@1.5 seconds", "6@1.6 seconds"])
    }

    @Test("a streamed response ends with the attempt")
    func streamedResponseTimeout() async throws {
        let session = Speaker(chunks: ["12345", "6789012345"]).under(slow, clock: clock)
        var request = streamed
        request.timeouts.attempt = .seconds(1)
        let response = try await session.send(request)
        var bytes = response.bytes.makeAsyncIterator()
        #expect(try await bytes.next() == Data("12345".utf8))
        let error = await #expect(throws: NetworkError.self) { try await bytes.next() }
        #expect(error?.code == .timedOut)
        #expect(error?.url == url)
        #expect(clock.now.offset == .seconds(1))
    }

    @Test("reading a streamed response can be canceled")
    func cancelStream() async throws {
        let clock = TestClock()
        let response = try await Speaker(chunks: ["12345"]).under(slow, clock: clock).send(streamed)
        let task = Task {
            var bytes = response.bytes.makeAsyncIterator()
            return try await bytes.next()
        }
        _ = try await clock.nextSleep()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("a whole answer to a streamed request takes its time too")
    func wholeAnswer() async throws {
        let session = StubSession { _ in .status(500, body: Data("1234567890".utf8)) }.under(slow, clock: clock)
        #expect(try await session.send(streamed).text == "1234567890")
        #expect(clock.sleeps == [.seconds(1)])
    }

    @Test("a download takes the time of the received bytes")
    func download() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("conditioned-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let session = StubSession(.text("1234567890")).under(slow, clock: clock)
        let endPoint = URLEndPoint(.get, try #require(url), task: .download(to: file))
        let response = try await Router<URLEndPoint>(session: session).response(for: endPoint)
        #expect(response.fileURL == file)
        #expect(clock.sleeps == [.seconds(1)])
    }

    @Test("rates of any size are accepted")
    func rates() async throws {
        for (rate, duration) in [(Int.max, Duration.zero), (3, .nanoseconds(666_666_666)), (1, .seconds(2))] {
            let clock = TestClock(skips: true)
            let conditions = NetworkConditions(downloadBytesPerSecond: rate)
            _ = try await StubSession(.text("ab")).under(conditions, clock: clock).send(NetworkRequest(.get, url))
            #expect(clock.now.offset == duration)
        }
    }
}

private struct CountedBody: HTTPBody {
    let encodings: Deliveries<Void>
    var additionalHeaders: HTTPHeaders { ["Content-Type": "text/x-counted"] }

    func encode() -> Data {
        encodings.add(())
        return Data("12345678".utf8)
    }
}

/// Answers with the pieces of the body and the time at which each arrived.
private struct Reader: NetworkSession {
    let clock: TestClock

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        var text = ""
        for try await chunk in try request.body.makeStream() {
            text += "\(String(decoding: chunk, as: UTF8.self))@\(clock.now) "
        }
        return NetworkResponse(statusCode: 200, body: Data(text.utf8))
    }
}

/// Answers with a body in pieces.
private struct Speaker: NetworkSession {
    let chunks: [String]

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        var response = NetworkResponse(statusCode: 200)
        let stream = HTTPBodyStream(chunks: chunks)
        response.bytes = ResponseBytes {
            var iterator = stream.makeAsyncIterator()
            return try await iterator.next()
        }
        return response
    }
}

extension HTTPBodyStream {
    fileprivate init(chunks: [String]) {
        let place = Deliveries<Int>()
        self.init {
            let index = place.all.count
            place.add(index)
            return index < chunks.count ? Data(chunks[index].utf8) : nil
        }
    }
}
