import Foundation
import Switchboard
import SwitchboardTesting
import Testing

/// A stub answers code that uses a URLSession.
@Suite(.timeLimit(.minutes(10)))
struct StubURLSessionTests {
    /// A URL to which nothing listens.
    private let url: URL

    init() throws {
        url = try #require(URL(string: "http://127.0.0.1:1/p?a=1"))
    }

    private func post(_ body: String? = nil) -> URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = body.map { Data($0.utf8) }
        return request
    }

    // MARK: Responses

    @Test("data(from:) returns the stub's answer")
    func data() async throws {
        let stub = StubSession { .json(#"{"query":"\#($0.query ?? "")"}"#, statusCode: 203, headers: ["X-A": "1"]) }
        let (data, response) = try await stub.urlSession().data(from: url)
        #expect(data == Data(#"{"query":"a=1"}"#.utf8))
        let head = try #require(response as? HTTPURLResponse)
        #expect(head.statusCode == 203)
        #expect(head.value(forHTTPHeaderField: "X-A") == "1")
        #expect(head.value(forHTTPHeaderField: "Content-Type") == "application/json")
        #expect(head.url == url)
    }

    @Test("a completion handler is called once with the answer")
    func completionHandler() async throws {
        let session = StubSession(.text("there"), .status(204)).urlSession()
        for expected in ["there", ""] {
            let data: Data? = try await withCheckedThrowingContinuation { continuation in
                session.dataTask(with: url) { data, _, error in
                    continuation.resume(with: error.map { .failure($0) } ?? .success(data))
                }.resume()
            }
            #expect(data == Data(expected.utf8))
        }
    }

    @Test("every status is an answer", arguments: [200, 401, 404, 407, 500, 304])
    func statuses(status: Int) async throws {
        let headers: HTTPHeaders = ["WWW-Authenticate": "Basic realm=\"r\"", "Proxy-Authenticate": "Basic realm=\"r\""]
        let stub = StubSession { _ in .status(status, headers: headers, body: Data("why".utf8)) }
        let (data, response) = try await stub.urlSession().data(from: url)
        let head = try #require(response as? HTTPURLResponse)
        #expect(head.statusCode == status)
        #expect(head.url == url)
        #expect(head.value(forHTTPHeaderField: "WWW-Authenticate") == "Basic realm=\"r\"")
        #expect(data == Data((status == 304 ? "" : "why").utf8))
        #expect(stub.requests.count == 1)
    }

    @Test("a large body arrives whole")
    func largeBody() async throws {
        let body = Data((0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let (data, _) = try await StubSession(.data(body).chunked(1_000)).urlSession().data(from: url)
        #expect(data == body)
    }

    @Test("tasks of one session are answered concurrently")
    func concurrentTasks() async throws {
        let stub = StubSession { .text($0.path) }
        let session = stub.urlSession()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<1_000 {
                group.addTask {
                    let (data, _) = try await session.data(from: url.appendingPathComponent("\(number)"))
                    #expect(data == Data("/p/\(number)".utf8))
                }
            }
            try await group.waitForAll()
        }
        #expect(stub.requests.count == 1_000)
    }

    // MARK: Requests

    @Test("method, URL and fields are recorded")
    func recordedHead() async throws {
        let stub = StubSession(.status(204))
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-Session": "s", "X-Both": "session"]
        var request = URLRequest(url: url)
        request.httpMethod = "DELETE"
        request.setValue("request", forHTTPHeaderField: "X-Both")
        request.timeoutInterval = 2.5
        _ = try await stub.urlSession(configuration).data(for: request)
        let seen = try #require(stub.requests.first)
        #expect(seen.method == .delete)
        #expect(seen.url == url)
        #expect(seen.headers["X-Both"] == "request")
        #expect(seen.headers["X-Session"] == "s")
        #expect(seen.body.isEmpty)
        #expect(seen.timeouts == Timeouts(idle: .milliseconds(2_500)))
    }

    @Test("a POST of JSON is recorded with its body")
    func recordedPost() async throws {
        let stub = StubSession(.json("{}", statusCode: 201))
        var request = post(#"{"name":"milk"}"#)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        _ = try await stub.urlSession().data(for: request)
        let seen = try #require(stub.requests.first)
        #expect(seen.method == .post)
        #expect(seen.allValues == ["Content-Type: application/json"])
        #expect(try seen.body.encode() == Data(#"{"name":"milk"}"#.utf8))
    }

    @Test("uploads are recorded with their bodies")
    func recordedUploads() async throws {
        let stub = StubSession { try .text("\($0.body.encode().count) bytes") }
        let session = stub.urlSession()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("upload-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(count: 300_000).write(to: file)
        var streamed = post()
        streamed.httpBodyStream = InputStream(data: Data(count: 200_000))
        let answers = [
            try await session.upload(for: post(), from: Data(count: 100_000)).0,
            try await session.data(for: streamed).0,
            try await session.upload(for: post(), fromFile: file).0,
            try await session.upload(for: post(), from: Data()).0,
        ]
        #expect(answers == ["100000 bytes", "200000 bytes", "300000 bytes", "0 bytes"].map { Data($0.utf8) })
    }

    // MARK: Failures

    @Test(
        "a fault is the error of URLSession",
        arguments: [
            (MockResponse.failure(.timedOut), URLError.Code.timedOut), (.truncated(after: 5), .networkConnectionLost),
            (.close, .networkConnectionLost), (.failure(.cannotFindHost), .cannotFindHost),
            (.failure(.cannotConnect), .cannotConnectToHost),
            (.failure(.noInternetConnection), .notConnectedToInternet),
            (.failure(.insecureConnection), .secureConnectionFailed), (.failure(.cancelled), .cancelled),
            (.failure(NetworkError(.unknown, underlying: URLError(.callIsActive))), .callIsActive),
            (.failure(.init(rawValue: "mine")), .unknown), (.status(200, headers: ["a": "\n"]), .cannotParseResponse),
            (.raw("x"), .unsupportedURL),
        ])
    func faults(fault: MockResponse, code: URLError.Code) async throws {
        let session = StubSession { _ in fault }.urlSession()
        let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
        #expect(error?.code == code)
        #expect(error?.failingURL == url)
        let underlying = error?.userInfo[NSUnderlyingErrorKey] as? NetworkError
        #expect(underlying?.url == url)
    }

    @Test("a stall ends with the request's timeout")
    func stall() async throws {
        let clock = TestClock()
        let session = StubSession(clock: clock, .stall).urlSession()
        var request = URLRequest(url: url)
        request.timeoutInterval = 7
        let task = Task { [request] in try await session.data(for: request) }
        #expect(try await clock.nextSleep() == .seconds(7))
        clock.advance(by: .seconds(7))
        let error = await #expect(throws: URLError.self) { try await task.value }
        #expect(error?.code == .timedOut)
    }

    @Test("another scheme is refused and does not reach the network")
    func otherScheme() async throws {
        let stub = StubSession { _ in .text("unused") }
        let session = stub.urlSession()
        for text in ["ftp://h.example/f", "file:///etc/hostname", "data:,x"] {
            let url = try #require(URL(string: text))
            let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
            #expect(error?.code == .badURL)
        }
        #expect(stub.requests.isEmpty)
    }

    @Test("canceling the task ends the request in the stub")
    func cancelTask() async throws {
        let clock = TestClock()
        let stub = StubSession(clock: clock, .text("late").delayed(by: .seconds(30)))
        let session = stub.urlSession()
        let task = Task { try await session.data(from: url) }
        _ = try await clock.nextSleep()
        task.cancel()
        let error = await #expect(throws: URLError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(stub.requests.count == 1)
        // The late answer reaches nobody.
        clock.advance(by: .seconds(30))
    }

    @Test("canceling at any moment ends each task once")
    func cancelRace() async throws {
        let session = StubSession { _ in .text("there") }.urlSession()
        for round in 0..<300 {
            let task = Task { try await session.data(from: url).0 }
            for _ in 0..<round % 7 { await Task.yield() }
            task.cancel()
            switch await task.result {
            case .success(let data): #expect(data == Data("there".utf8))
            case .failure(let error): #expect((error as? URLError)?.code == .cancelled)
            }
        }
    }
}

extension NetworkRequest {
    fileprivate var allValues: [String] { headers.map { "\($0.name): \($0.value)" } }
}
