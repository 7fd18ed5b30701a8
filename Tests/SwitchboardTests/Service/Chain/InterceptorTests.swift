import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct InterceptorTests {
    private let endPoint = URLEndPoint(.get, URL(text: "https://api.example.com/a"))

    @Test("requests pass interceptors in order, responses in reverse order", .requirement("S2.13"))
    func order() async throws {
        let session = StubSession { _ in .text("", headers: ["X-Order": "session"]) }
        let router = Router<URLEndPoint>(session: session, interceptors: [Mark("a"), Mark("b"), Mark("c")])
        let response = try await router.response(for: endPoint)
        #expect(session.requests.map { $0.headers.values(for: "X-Order") } == [["a", "b", "c"]])
        #expect(response.headers.values(for: "X-Order") == ["session", "c", "b", "a"])
    }

    @Test("an interceptor can change a response before validation and decoding", .requirement("S2.13"))
    func changesResponse() async throws {
        let repair = AdHocInterceptor { request, next in
            var response = try await next(request)
            response.statusCode = 200
            response.body = Data(#"{"repaired":true}"#.utf8)
            return response
        }
        let router = Router<URLEndPoint>(session: StubSession(.status(500)), interceptors: [repair])
        #expect(try await router.request(endPoint, as: [String: Bool].self) == ["repaired": true])
    }

    @Test("an interceptor can return a response without calling the session", .requirement("S2.13"))
    func answers() async throws {
        let session = StubSession { _ in .text("no") }
        let canned = AdHocInterceptor { request, _ in
            NetworkResponse(statusCode: 200, body: Data("canned".utf8), url: request.url)
        }
        let behind = Deliveries<Bool>()
        let spy = AdHocInterceptor { request, next in
            behind.open()
            return try await next(request)
        }
        let router = Router<URLEndPoint>(session: session, interceptors: [canned, spy])
        #expect(try await router.request(endPoint, as: String.self) == "canned")
        #expect(session.requests.isEmpty)
        #expect(behind.all.isEmpty)
    }

    @Test("an interceptor can await before it sends the request", .requirement("S2.13"))
    func async() async throws {
        let token = Deliveries<String>()
        let authorize = AdHocInterceptor { request, next in
            var request = request
            request.headers["Authorization"] = "Bearer \(try await token.first())"
            return try await next(request)
        }
        let session = StubSession { _ in .text("done") }
        let router = Router<URLEndPoint>(session: session, interceptors: [authorize])
        let call = Task { try await router.request(endPoint, as: String.self) }
        #expect(session.requests.isEmpty)
        token.add("t-1")
        #expect(try await call.value == "done")
        #expect(session.requests.map { $0.headers["Authorization"] } == ["Bearer t-1"])
    }

    @Test("a request keeps its identity in the chain; two requests differ", .requirement("S2.13"))
    func identity() async throws {
        let seen = Deliveries<NetworkRequest.ID>()
        let spy = AdHocInterceptor { request, next in
            seen.add(request.id)
            return try await next(request)
        }
        let session = StubSession { _ in .text("") }
        let router = Router<URLEndPoint>(session: session, interceptors: [spy, Mark("a"), spy])
        let one = try await router.response(for: endPoint)
        let other = try await router.response(for: endPoint)
        #expect(seen.all == [one, one, other, other].map(\.request?.id))
        #expect(session.requests.map(\.id) == [one, other].map(\.request?.id))
        #expect(one.request?.id != other.request?.id)
    }

    @Test("an interceptor's error arrives as a NetworkError with that cause", .requirement("S2.13"))
    func throwing() async throws {
        struct Refusal: Error {}
        let refuse = AdHocInterceptor { _, _ in throw Refusal() }
        let session = StubSession { _ in .text("no") }
        let router = Router<URLEndPoint>(session: session, interceptors: [refuse])
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
        #expect(error?.code == .unknown)
        #expect(error?.underlying is Refusal)
        #expect(error?.url == endPoint.baseURL)
        #expect(session.requests.isEmpty)
    }

    @Test("one interceptor keeps a hundred concurrent requests apart", .requirement("S2.13"))
    func concurrent() async throws {
        let session = StubSession { request in .text(request.headers["X-Number"] ?? "none") }
        let router = Router<URLEndPoint>(session: session, interceptors: [Mark("a")])
        try await withThrowingTaskGroup(of: (Int, String).self) { group in
            for number in 0..<100 {
                let endPoint = URLEndPoint(.get, endPoint.baseURL, headers: ["X-Number": "\(number)"])
                group.addTask { (number, try await router.request(endPoint, as: String.self)) }
            }
            for try await (number, text) in group { #expect(text == "\(number)") }
        }
        #expect(session.requests.count == 100)
    }

    @Test("a body that an interceptor sets has its own fields only", .requirement("S2.13"), arguments: [false, true])
    func replacedBody(isMultipart: Bool) async throws {
        let task: any HTTPBody = isMultipart ? MultipartBody(.field("a", "1")) : FormBody(["a": 1])
        let endPoint = URLEndPoint(
            .post, endPoint.baseURL, task: .requestBody(task), options: RequestOptions { $0.compressesBody = true })
        let form = MultipartBody(.field("b", "2"))
        let type = try #require(form.additionalHeaders["Content-Type"])
        for (body, fields) in [
            (JSONBody(["b": 2]), ["application/json; charset=utf-8"]), (form, [type]), (EmptyBody(), []),
        ] as [(any HTTPBody, [String])] {
            let session = StubSession { _ in .text("") }
            let router = Router<URLEndPoint>(session: session, interceptors: [Replace { _ in body }])
            try await router.response(for: endPoint)
            let sent = try #require(session.requests.first)
            try sent.validate()
            #expect(sent.allHeaders.values(for: "Content-Type") == fields)
            #expect(!sent.allHeaders.contains("Content-Encoding"))
        }
    }

    @Test("a body that wraps the earlier one keeps its type", .requirement("S2.13"))
    func wrappedBody() async throws {
        let endPoint = URLEndPoint(.post, endPoint.baseURL, task: .requestBody(FormBody(["a": 1])))
        let session = StubSession { _ in .text("") }
        let router = Router<URLEndPoint>(
            session: session, interceptors: [Replace { GzipBody($0) }])
        try await router.response(for: endPoint)
        let sent = try #require(session.requests.first?.allHeaders)
        #expect(sent.values(for: "Content-Type") == ["application/x-www-form-urlencoded; charset=utf-8"])
        #expect(sent.values(for: "Content-Encoding") == ["gzip"])
    }

    @Test("a field that the request sets stays with a new body", .requirement("S2.13"))
    func ownType() async throws {
        let endPoint = URLEndPoint(
            .post, endPoint.baseURL, task: .requestBody(FormBody(["a": 1])), headers: ["Content-Type": "text/own"])
        let session = StubSession { _ in .text("") }
        let router = Router<URLEndPoint>(
            session: session, interceptors: [Replace { _ in JSONBody(["b": 2]) }])
        try await router.response(for: endPoint)
        let sent = try #require(session.requests.first?.allHeaders)
        #expect(sent.values(for: "Content-Type") == ["text/own"])
    }
}

/// Replaces the body of each request.
private struct Replace: Interceptor {
    let newBody: @Sendable (any HTTPBody) -> any HTTPBody

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        var request = request
        request.body = newBody(request.body)
        return try await next(request)
    }
}

/// Adds a mark to each request and response.
private struct Mark: Interceptor {
    let mark: String

    init(_ mark: String) {
        self.mark = mark
    }

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        var request = request
        request.headers.add("X-Order", mark)
        var response = try await next(request)
        response.headers.add("X-Order", mark)
        return response
    }
}
