import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Attacks by a caller or a server that a review found, each of them prevented now.
@Suite(.timeLimit(.minutes(10)))
struct HostileInputTests {
    private struct Streamed: HTTPBody {
        var additionalHeaders: HTTPHeaders = [:]
        var isStreamed: Bool { true }
        var read: @Sendable () async throws -> Data? = { nil }
        func encode() -> Data { Data() }
        func makeStream() -> HTTPBodyStream { HTTPBodyStream(read: read) }
    }

    @Test(
        "framing headers are refused from a body too, whatever their case",
        arguments: ["transfer-encoding", "Content-Length"])
    func framingFromABody(name: String) {
        let body = Streamed(additionalHeaders: [name: name == "Content-Length" ? "5" : "chunked"])
        let error = #expect(throws: NetworkError.self) {
            try NetworkRequest(.post, URL(string: "http://h/"), body: body).validate()
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test("a body with two Content-Type fields is refused", .requirement("S2.6"))
    func twoTypesFromABody() {
        let body = Streamed(additionalHeaders: ["Content-Type": "a/b", "content-type": "c/d"])
        let error = #expect(throws: NetworkError.self) {
            try NetworkRequest(.post, URL(string: "http://h/"), body: body).validate()
        }
        #expect(error?.reason?.contains("Content-Type") == true)
    }

    @Test("the attempt timeout covers reading a streamed body")
    func streamedBodyIsTimed() async throws {
        let never = AsyncStream<Data> { _ in }
        let body = Streamed(read: {
            for await chunk in never { return chunk }
            return nil
        })
        var request = NetworkRequest(.post, URL(string: "http://127.0.0.1:9/"), body: body)
        request.timeouts.attempt = .milliseconds(200)
        let error = await #expect(throws: NetworkError.self) { try await FoundationSession().send(request) }
        #expect(error?.code == .timedOut)
    }

    @Test("a nil or invalid base URL throws and never falls back to another", .requirement("S4.2"))
    func baseURLNeverStrays() throws {
        struct Payments: TypedEndPoint {
            typealias Response = EmptyResponse
            var baseURL: URL?
            var path: String { "x" }
        }
        struct Texts: TypedEndPoint {
            typealias Response = EmptyResponse
            var baseURL: String
            var path: String { "x" }
        }
        let manager = NetworkManager(environment: .qa, servers: [.qa: "https://manager.test"], session: StubSession())
        let error = #expect(throws: NetworkError.self) {
            try manager.router(for: Payments.self).makeRequest(for: Payments(baseURL: nil))
        }
        #expect(error?.code == .missingURL)
        let texts = manager.router(for: Texts.self)
        #expect(
            try texts.makeRequest(for: Texts(baseURL: "https://pay.test")).url?.absoluteString == "https://pay.test/x")
        let wrong = #expect(throws: NetworkError.self) { try texts.makeRequest(for: Texts(baseURL: "pay")) }
        #expect(wrong?.code == .invalidRequest)
    }

    @Test("headers as an array of fields or as pairs are sent", .requirement("S4.2"))
    func otherHeaderTypes() throws {
        struct Fields: EndPointType {
            let baseURL = URL(string: "http://h/")
            let path = ""
            var headers: [HTTPHeader] { [.authorization(bearerToken: "t")] }
        }
        struct Pairs: EndPointType {
            let baseURL = URL(string: "http://h/")
            let path = ""
            var headers: KeyValuePairs<String, String> { ["X-A": "1", "X-A": "2"] }
        }
        #expect(try Router<Fields>().makeRequest(for: Fields()).headers["Authorization"] == "Bearer t")
        #expect(try Router<Pairs>().makeRequest(for: Pairs()).headers.values(for: "X-A") == ["1", "2"])
    }

    @Test("options made by a closure override only the fields that they set", .requirement("S3.10", "S4.9"))
    func optionsMergeByField() throws {
        struct Quick: EndPointType {
            let baseURL = URL(string: "http://h/")
            let path = ""
            var options: RequestOptions {
                RequestOptions {
                    $0.timeouts.total = .seconds(5)
                    $0.acceptedStatusCodes = .any
                }
            }
        }
        let manager = NetworkManager(
            session: StubSession(),
            options: RequestOptions {
                $0.timeouts = Timeouts(idle: .seconds(5), attempt: .seconds(3))
                $0.messageKeys = ["planted"]
            })
        let options = try manager.router(for: Quick.self).makeRequest(for: Quick()).options
        #expect(options.timeouts == Timeouts(idle: .seconds(5), attempt: .seconds(3), total: .seconds(5)))
        #expect(options.messageKeys == ["planted"])
        #expect(options.acceptedStatusCodes.contains(500))
    }

    @Test("the completion form encodes off the caller's thread", .requirement("S0.12"))
    func callerIsNotHeldUp() async throws {
        struct Waiting: HTTPBody {
            let gate = DispatchSemaphore(value: 0)
            func encode() throws -> Data {
                // The caller opens the gate after it has its handle. On the caller's thread the wait would time out.
                guard gate.wait(timeout: .now() + 300) == .success else { throw CancellationError() }
                return Data("x".utf8)
            }
        }
        let body = Waiting()
        let endPoint = URLEndPoint(.post, try #require(URL(string: "http://h/")), task: .requestBody(body))
        let ends = Deliveries<Int?>()
        Router<URLEndPoint>(session: StubSession { _ in .status(204) }).response(for: endPoint) {
            ends.add((try? $0.get())?.statusCode)
        }
        body.gate.signal()
        #expect(try await ends.wait(for: 1) == [204])
    }

    @Test("no duration, count or length from a caller traps")
    func extremes() async throws {
        let extremes: [Duration] = [.seconds(Int64.max), .seconds(Int64.min), .zero, .nanoseconds(1)]
        let session = StubSession { _ in .status(503) }
        for base in extremes {
            for cap in extremes where base.isShort && cap.isShort {
                let policy = RetryPolicy(maximumAttempts: 40, baseDelay: base, maximumDelay: cap)
                let response = try await Router<URLEndPoint>(session: session, interceptors: [policy])
                    .rawResponse(for: URLEndPoint(.get, try #require(URL(string: "http://h/"))))
                #expect(response.statusCode == 503)
            }
            _ = RetryPolicy(maximumAttempts: .max, baseDelay: base, maximumDelay: .seconds(Int64.max))
        }
        let logger = NetworkLogger(level: .body, bodyLimit: -1) { _ in }
        let router = Router<URLEndPoint>(session: StubSession { _ in .text("body") }, interceptors: [logger])
        let text = try await router.request(URLEndPoint(.get, try #require(URL(string: "http://h/"))), as: String.self)
        #expect(text == "body")
    }

    @Test(
        "huge timeouts neither trap nor fire; negative ones fire at once", arguments: [Int64.max, .min])
    func extremeTimeouts(seconds: Int64) async throws {
        try await MockServer.run(handler: { _ in .text("ok").delayed(by: .milliseconds(50)) }) { server in
            var request = NetworkRequest(.get, server.url)
            request.timeouts = Timeouts(idle: .seconds(seconds), attempt: .seconds(seconds))
            let session = DefaultSession.make()
            if seconds > 0 {
                let response = try await session.send(request)
                #expect(response.text == "ok")
            } else {
                let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
                #expect(error?.code == .timedOut)
            }
        }
    }

    @Test("a body that encodes to nothing has no Content-Type")
    func emptyForm() throws {
        let endPoint = URLEndPoint(.post, try #require(URL(string: "http://h/")), task: .requestBody(FormBody([:])))
        let request = try Router<URLEndPoint>().makeRequest(for: endPoint)
        #expect(!request.headers.contains("Content-Type"))
        #expect(request.body.isEmpty)
    }

    @Test("no printed or dumped request or response shows a secret")
    func dumps() throws {
        let url = try #require(URL(string: "https://user:planted@h/p?api_key=planted"))
        let headers: HTTPHeaders = ["Authorization": "Bearer planted", "Set-Cookie": "a=planted"]
        var response = NetworkResponse(statusCode: 200, headers: headers, url: url)
        response.request = NetworkRequest(.get, url, headers: headers)
        let parameters: Parameters = ["password": "planted"]
        let things: [Any] = [
            response, headers, headers[0], parameters, response.request as Any,
            URLEndPoint(.get, url, headers: headers),
            NetworkRequest(.get, url, headers: headers), RequestBuilder(headers: headers),
            EnvironmentURLs([.qa: url.absoluteString]),
            NetworkError(.unknown, underlying: URLError(.timedOut)),
        ]
        for thing in things {
            var dumped = ""
            dump(thing, to: &dumped)
            for text in [dumped, String(describing: thing), String(reflecting: thing)] {
                #expect(!text.contains("planted"), "\(type(of: thing))")
            }
        }
    }

    @Test("names that an app adds to the redaction are hidden in logged errors")
    func loggedErrors() async throws {
        let lines = Deliveries<String>()
        let logger = NetworkLogger(redaction: .standard.adding(parameterNames: ["ticket"])) { lines.add($0) }
        let router = Router<URLEndPoint>(session: StubSession(.failure(.cannotConnect)), interceptors: [logger])
        let url = try #require(URL(string: "http://h/?ticket=planted"))
        await #expect(throws: NetworkError.self) { try await router.rawResponse(for: URLEndPoint(.get, url)) }
        #expect(lines.all.joined().contains("ticket=<redacted>"))
        #expect(!lines.all.joined().contains("planted"))
    }

    @Test("a server's message is shown without the secrets in its URLs", .requirement("S1.7"))
    func serverWords() async throws {
        let body = #"{"message":"no route GET /p?api_key=planted"}"#
        for response in [MockResponse.json(body, statusCode: 404), .text("no: /p?api_key=planted", statusCode: 500)] {
            let router = Router<URLEndPoint>(session: StubSession(response))
            let error = await #expect(throws: NetworkError.self) {
                try await router.response(for: URLEndPoint(.get, try #require(URL(string: "http://h/"))))
            }
            #expect(error?.description.contains("planted") == false)
            #expect(error?.description.contains("api_key=<redacted>") == true)
        }
    }

    @Test("dates of JSONBody decode by default, with or without a fraction", .requirement("S4.9"))
    func datesRoundTrip() async throws {
        struct Due: Codable, Equatable { var due: Date }
        for due in [Due(due: Date(timeIntervalSince1970: 0)), Due(due: Date(timeIntervalSince1970: 1_700_000_000.25))] {
            let stub = StubSession { request in .json(try request.body.encode()) }
            let endPoint = URLEndPoint(
                .post, try #require(URL(string: "http://h/")), task: .requestBody(JSONBody(due)))
            #expect(try await Router<URLEndPoint>(session: stub).request(endPoint, as: Due.self) == due)
        }
        // A plain JSONDecoder's form, seconds since 2001, is still read.
        var response = NetworkResponse(statusCode: 200, body: Data(#"{"due":0}"#.utf8))
        response.request = NetworkRequest(.get, nil)
        #expect(try response.decode(Due.self).due == Date(timeIntervalSinceReferenceDate: 0))
    }

    @Test("an interceptor's error is named by type and case, without its values")
    func interceptorErrors() async throws {
        enum Refusal: Error { case noToken(String) }
        struct Refusing: Interceptor {
            func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
                throw Refusal.noToken("planted")
            }
        }
        let router = Router<URLEndPoint>(session: StubSession(), interceptors: [Refusing()])
        let error = await #expect(throws: NetworkError.self) {
            try await router.response(for: URLEndPoint(.get, try #require(URL(string: "http://h/"))))
        }
        #expect(error?.code == .unknown)
        #expect(error?.description.contains("Refusing threw Refusal.noToken (GET http://h/") == true)
        #expect(error?.description.contains("planted") == false)
        #expect(error?.message == "Something went wrong")
    }

    @Test("a refused redirect is not a connection failure")
    func redirectsAreNotOffline() {
        #expect(!(NetworkError.cannotConnect ~= NetworkError(.tooManyRedirects)))
        #expect(!(NetworkError.cannotConnect ~= NetworkError(.redirectRefused)))
    }
}

extension Duration {
    fileprivate var isShort: Bool { self < .seconds(1) }
}
