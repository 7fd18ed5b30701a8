import Foundation
import Switchboard
import SwitchboardTestSupport
import SwitchboardTesting
import SwitchboardURLSession
import Testing

/// A stub answers code that uses a URLSession.
@Suite(.timeLimit(.minutes(10)))
struct StubURLSessionTests {
    /// A URL to which nothing listens.
    private let url = URL(text: "http://127.0.0.1:1/p?a=1")

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

    @Test("method, URL and fields are recorded")
    func recordedHead() async throws {
        let stub = StubSession(.status(204))
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-Session": "s", "X-Both": "session"]
        var request = URLRequest("DELETE", url, headers: ["X-Both": "request"])
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
        let request = URLRequest(
            "POST", url, body: Data(#"{"name":"milk"}"#.utf8), headers: ["Content-Type": "application/json"])
        _ = try await stub.urlSession().data(for: request)
        let seen = try #require(stub.requests.first)
        #expect(seen.method == .post)
        #expect(seen.headers.map { "\($0.name): \($0.value)" } == ["Content-Type: application/json"])
        #expect(try seen.body.encode() == Data(#"{"name":"milk"}"#.utf8))
    }

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

    @Test("credentials of a delegate do not reach the network")
    func credentials() async throws {
        try await MockServer.run { server in
            server.enqueue(.text("the network"))
            let delegate = TaskDelegate()
            let stub = StubSession(.status(401, headers: ["WWW-Authenticate": "Basic realm=\"r\""]))
            stub.urlSession(delegate: delegate).dataTask(with: server.url).resume()
            let end = try await delegate.ends.first()
            #expect(end == nil)
            #expect(delegate.statuses.all == [401])
            #expect(server.requests.isEmpty)
        }
    }

    // MARK: Redirects

    @Test(
        "the stub follows redirects",
        arguments: [
            (301, "GET", ""), (302, "GET", ""), (303, "GET", ""), (307, "POST", "body"), (308, "POST", "body"),
        ])
    func redirects(status: Int, method: String, body: String) async throws {
        let stub = StubSession(.status(status, headers: ["Location": "/end?x=1"]), .text("arrived"))
        let delegate = TaskDelegate()
        let session = stub.urlSession(delegate: delegate)
        let (data, response) = try await session.data(for: URLRequest("POST", url, body: Data("body".utf8)))
        #expect(data == Data("arrived".utf8))
        #expect(response.url?.absoluteString == "http://127.0.0.1:1/end?x=1")
        #expect(stub.requests.map(\.url?.absoluteString) == [url.absoluteString, "http://127.0.0.1:1/end?x=1"])
        #expect(stub.requests.last?.method.rawValue == method)
        #expect(try stub.requests.last?.body.encode() == Data(body.utf8))
        #expect(delegate.redirects.all == [status])
    }

    @Test("endless redirects are an error")
    func redirectLoop() async throws {
        let stub = StubSession { _ in .status(302, headers: ["Location": "/again"]) }
        let session = stub.urlSession()
        let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
        #expect(error?.code == .httpTooManyRedirects)
        #expect(stub.requests.count == 17)
    }

    @Test("a redirect without Location is the answer")
    func redirectWithoutLocation() async throws {
        let (data, response) = try await StubSession(.status(302, body: Data("moved".utf8))).urlSession().data(
            from: url)
        #expect((response as? HTTPURLResponse)?.statusCode == 302)
        #expect(data == Data("moved".utf8))
    }

    // MARK: Scope and lifetime

    @Test("500 concurrent stubs answer their own sessions")
    func manyStubs() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<500 {
                group.addTask {
                    let stub = StubSession { .text("\(number) \($0.path)") }
                    let session = stub.urlSession()
                    for name in ["a", "b"] {
                        let text = try await session.text(from: url.appendingPathComponent(name))
                        #expect(text == "\(number) /p/\(name)")
                    }
                    #expect(stub.requests.map(\.path) == ["/p/a", "/p/b"])
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("nothing reaches the network, and other sessions are unaffected")
    func noNetwork() async throws {
        try await MockServer.run { server in
            server.enqueue(.text("from the server"))
            let stub = StubSession { _ in .text("from the stub") }
            let session = stub.urlSession()
            let stubbed = try await session.text(from: server.url)
            #expect(stubbed == "from the stub")
            let real = try await URLSession(configuration: .ephemeral).text(from: server.url)
            #expect(real == "from the server")
            #expect(server.requests.count == 1)
            #expect(stub.requests.count == 1)
        }
    }

    @Test("the configuration is a copy that keeps its other values")
    func configurationCopy() throws {
        final class Other: URLProtocol {}
        let base = URLSessionConfiguration.ephemeral
        base.timeoutIntervalForRequest = 3
        base.protocolClasses = [Other.self]
        let configuration = StubSession().urlSessionConfiguration(base)
        #expect(base.protocolClasses?.count == 1)
        #expect(configuration.timeoutIntervalForRequest == 3)
        #expect(configuration.protocolClasses?.count == 2)
        #expect(configuration.protocolClasses?.last == Other.self)
    }

    @Test("each stub has one class of its own")
    func stubClass() {
        let stub = StubSession()
        let names = Set((0..<100).map { _ in stub.protocolName })
        #expect(names.count == 1)
        let others = (0..<100).map { _ in StubSession() }
        #expect(Set(others.map(\.protocolName)).union(names).count == 101)
    }

    @Test("a stub released by a changed configuration is not replaced")
    func releasedStub() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        do {
            let stubbed = StubSession { _ in .text("gone") }.urlSessionConfiguration()
            configuration.protocolClasses = stubbed.protocolClasses
        }
        let others = (0..<200).map { _ in StubSession { _ in .text("a stranger") } }
        for other in others { _ = other.urlSessionConfiguration() }
        try await MockServer.run { server in
            let session = URLSession(configuration: configuration)
            let error = await #expect(throws: URLError.self) { try await session.data(from: server.url) }
            #expect(error?.code == .cannotConnectToHost)
            let underlying = error?.userInfo[NSUnderlyingErrorKey] as? NetworkError
            #expect(underlying?.reason == "the StubSession of this URLSessionConfiguration is gone: keep it")
            #expect(server.requests.isEmpty)
        }
        #expect(!others.contains { !$0.requests.isEmpty })
    }

    @Test("a retained stub answers also if the cache of its configuration is replaced")
    func replacedCache() async throws {
        let stub = StubSession { _ in .text("there") }
        let configuration = stub.urlSessionConfiguration()
        configuration.urlCache = nil
        #expect(try await URLSession(configuration: configuration).text(from: url) == "there")
        #expect(stub.requests.count == 1)
    }

    @Test("the last session releases the stub")
    func lastSession() async throws {
        weak var released: StubSession?
        do {
            let stub = StubSession { _ in .text("there") }
            released = stub
            let session = stub.urlSession()
            #expect(try await session.text(from: url) == "there")
            session.finishTasksAndInvalidate()
        }
        #expect(await comesTrue { released == nil })
    }
}

extension StubSession {
    fileprivate var protocolName: String {
        urlSessionConfiguration().protocolClasses?.first.map { String(reflecting: $0) } ?? ""
    }
}
