import Foundation
import Switchboard
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct CommonParametersTests {
    private let url = URL(text: "https://a.example/x")

    private func router(_ session: any NetworkSession, _ interceptors: [any Interceptor]) -> Router<URLEndPoint> {
        Router(session: session, interceptors: interceptors)
    }

    @Test(
        "parameters go into the query, form or JSON, by method and body type", .requirement("S1.5"),
        arguments: SessionKind.allCases)
    func wire(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.stub(.any) { _ in .text("") }
            let common = CommonParameters(["token": "t&k", "user_id": 7])
            let router = router(kind.make(), [common])
            let url = server.url
            let form = HTTPTask.requestBody(FormBody(["a": 1]))
            let json = HTTPTask.requestParameters(["a": 1])
            let asking = try #require(URL(string: url.absoluteString + "?a=1"))
            for endPoint in [
                URLEndPoint(.get, asking), URLEndPoint(.delete, url),
                URLEndPoint(.post, url, task: form), URLEndPoint(.put, url, task: json), URLEndPoint(.post, url),
            ] { _ = try await router.response(for: endPoint) }
            let seen = server.requests
            #expect(seen.map(\.query) == ["a=1&token=t%26k&user_id=7", "token=t%26k&user_id=7", nil, nil, nil])
            #expect(
                seen.map(\.text) == [
                    "", "", "a=1&token=t%26k&user_id=7", #"{"a":1,"token":"t&k","user_id":7}"#,
                    #"{"token":"t&k","user_id":7}"#,
                ])
            #expect(seen.map { $0.headers["Content-Type"]?.prefix(16) }.last == "application/json")
            #expect(seen.dropFirst(2).allSatisfy { $0.headers["Content-Length"] == String($0.body.count) })
        }
    }

    @Test(
        "a body with common parameters is redirected only to allowed origins",
        arguments: [("https://a.example/y", nil), ("https://b.example/y", nil), ("https://b.example/y", ["b.example"])]
            as [(String, [String]?)])
    func redirectedBody(target: String, hosts: [String]?) async throws {
        let session = StubSession { request in
            request.url?.path == "/x" ? .status(307, headers: ["Location": target]) : .text("ok")
        }
        let origins = hosts.map { CredentialOrigins(["a.example"] + $0) } ?? .endPoints
        let router = router(session, [CommonParameters(["token": "t"], origins: origins)])
        let post = URLEndPoint(.post, url, task: .requestParameters(["a": 1]))
        if target.hasPrefix("https://b"), hosts == nil {
            let error = await #expect(throws: NetworkError.self) { try await router.response(for: post) }
            #expect(error?.code == .redirectRefused)
            #expect(session.requests.count == 1)
        } else {
            #expect(try await router.response(for: post).text == "ok")
            #expect(session.requests.count == 2)
        }
    }

    /// A request, and the query and body that it has with `token=new` and `id=2` added.
    struct Case: Sendable, CustomTestStringConvertible {
        var method = HTTPMethod.post
        var query: String?
        var body = ""
        var type: String?
        var extra: HTTPHeaders = [:]
        var sentQuery: String?
        var sentBody: String?
        var testDescription: String { "\(method) \(query ?? "") \(type ?? "") \(body)" }
    }

    private static let json = "application/json", form = "application/x-www-form-urlencoded"

    static let cases: [Case] = [
        Case(method: .get, query: "token=own", sentQuery: "token=own&id=2", sentBody: ""),
        Case(method: .get, query: "%74oken=o&id%5B%5D=1", sentQuery: "%74oken=o&id%5B%5D=1", sentBody: ""),
        Case(method: .get, query: "a=1&", sentQuery: "a=1&token=new&id=2", sentBody: ""),
        Case(method: .head, query: "token", sentQuery: "token&id=2", sentBody: ""),
        Case(method: .delete, body: "{}", type: json, sentQuery: "token=new&id=2", sentBody: "{}"),
        Case(body: "token=own", type: form, sentBody: "token=own&id=2"),
        Case(body: "a=%7D&id%5B%5D=1", type: form + "; charset=utf-8", sentBody: "a=%7D&id%5B%5D=1&token=new"),
        Case(body: #"{"token":null}"#, type: json, sentBody: #"{"token":null,"id":2}"#),
        Case(body: " { } \n", type: json, sentBody: " { \"token\":\"new\",\"id\":2} \n"),
        Case(
            body: #"{"z":1.0,"a":{"token":1},"s":"}"}"#, type: "application/vnd.api+json; v=1",
            sentBody: #"{"z":1.0,"a":{"token":1},"s":"}","token":"new","id":2}"#),
        Case(body: #"{"token":1,"id":1}"#, type: json, sentBody: #"{"token":1,"id":1}"#),
        Case(body: "[1]", type: json, sentQuery: "token=new&id=2", sentBody: "[1]"),
        Case(body: #"{"a":"#, type: json, sentQuery: "token=new&id=2", sentBody: #"{"a":"#),
        Case(body: "{}", type: nil, sentQuery: "token=new&id=2", sentBody: "{}"),
        Case(body: "<a/>", type: "text/xml", sentQuery: "token=new&id=2", sentBody: "<a/>"),
        Case(
            body: "a=1", type: form, extra: ["Content-Encoding": "identity"], sentQuery: "token=new&id=2",
            sentBody: "a=1"),
        Case(body: "a=1", type: form, extra: ["Content-Length": "3"], sentBody: "a=1&token=new&id=2"),
    ]

    @Test("the request's values win; an unsuitable body is sent unchanged", .requirement("S1.5"), arguments: cases)
    func placing(one: Case) async throws {
        let session = StubSession { _ in .text("") }
        let router = router(session, [CommonParameters(["token": "new", "none": nil as String?, "id": 2])])
        let target = try #require(URL(string: url.absoluteString + (one.query.map { "?" + $0 } ?? "")))
        var headers = one.extra
        if let type = one.type { headers["Content-Type"] = type }
        // A DELETE may have a body: the caller decides.
        let task = one.body.isEmpty ? HTTPTask.request : .requestBody(DataBody(Data(one.body.utf8)))
        _ = try await router.response(for: URLEndPoint(one.method, target, task: task, headers: headers))
        let sent = try #require(session.requests.first)
        #expect(sent.query == one.sentQuery)
        #expect(try String(decoding: sent.body.encode(), as: UTF8.self) == one.sentBody)
        #expect(sent.headers["Content-Type"] == one.type)
    }

    @Test("the request's value wins under the name that a key encoding writes", .requirement("S1.5"))
    func convertedNames() async throws {
        let session = StubSession { _ in .text("") }
        let encoder = URLEncodedFormEncoder(keyEncoding: .convertToSnakeCase)
        let common = CommonParameters(["userId": 2, "apiVersion": 3], bodyEncoding: .formEncoding(encoder))
        let router = router(session, [common])
        _ = try await router.response(for: URLEndPoint(.get, URL(text: "https://a.example/x?user_id=1")))
        _ = try await router.response(for: URLEndPoint(.post, url, task: .requestBody(FormBody(["user_id": 1]))))
        let bodies = try session.requests.map { String(decoding: try $0.body.encode(), as: UTF8.self) }
        #expect(session.requests.map(\.query) == ["user_id=1&api_version=3", nil])
        #expect(bodies == ["", "user_id=1&api_version=3"])
    }

    @Test("the request's value wins under a name that the encoder joins by dots", .requirement("S1.5"))
    func joinedNames() async throws {
        let session = StubSession { _ in .text("") }
        let encoder = URLEncodedFormEncoder(keyPathEncoding: .dots)
        let common = CommonParameters(["device": ["os": "ios", "v": "17"]], bodyEncoding: .formEncoding(encoder))
        let router = router(session, [common])
        // The second query is that of a link, which repeats the parameters.
        for query in ["device.os=mac", "page=2&device.os=ios&device.v=17", "device=1", "devices=1"] {
            let target = try #require(URL(string: "https://a.example/x?" + query))
            _ = try await router.response(for: URLEndPoint(.get, target))
        }
        _ = try await router.response(for: URLEndPoint(.post, url, task: .requestBody(FormBody(["device.os": "mac"]))))
        #expect(
            session.requests.map(\.query) == [
                "device.os=mac", "page=2&device.os=ios&device.v=17", "device=1",
                "devices=1&device.os=ios&device.v=17", nil,
            ])
        let body = try #require(session.requests.last).body.encode()
        #expect(String(decoding: body, as: UTF8.self) == "device.os=mac")
    }

    @Test("parameters join the query beside streams, forms and compressed bodies", .requirement("S1.5"))
    func otherBodies() async throws {
        let session = StubSession { _ in .text("") }
        let router = router(session, [CommonParameters(["token": "new"])])
        let form = MultipartBody(.field("a", "1"))
        let stream = StreamBody { HTTPBodyStream { nil } }
        for body in [form, stream, GzipBody(FormBody(["a": 1]))] as [any HTTPBody] {
            _ = try await router.response(for: URLEndPoint(.post, url, task: .requestBody(body)))
        }
        #expect(session.requests.map(\.query) == ["token=new", "token=new", "token=new"])
    }

    @Test("without a body, parameters use bodyEncoding or join the query", .requirement("S1.5"))
    func encodings() async throws {
        let session = StubSession { _ in .text("") }
        for encoding in [ParameterEncoding.formEncoding, .urlEncoding] {
            let common = CommonParameters(["token": "new", "ids": [1, 2]], bodyEncoding: encoding)
            _ = try await router(session, [common]).response(for: URLEndPoint(.post, url))
        }
        let bodies = try session.requests.map { String(decoding: try $0.body.encode(), as: UTF8.self) }
        #expect(bodies == ["token=new&ids%5B%5D=1&ids%5B%5D=2", ""])
        #expect(session.requests.map(\.query) == [nil, "token=new&ids%5B%5D=1&ids%5B%5D=2"])
    }

    @Test("parameters go to the given place, but never into the body of a GET", .requirement("S1.5"))
    func place() async throws {
        let session = StubSession { _ in .text("") }
        let json = HTTPTask.requestParameters(bodyParameters: ["a": 1])
        for place in [CommonParameters.Location.query, .body] {
            for common in [CommonParameters(["k": 1], in: place), CommonParameters(in: place) { ["k": 1] }] {
                let router = router(session, [common])
                for method in [HTTPMethod.post, .delete] {
                    _ = try await router.response(for: URLEndPoint(method, url, task: json))
                }
                _ = try await router.response(for: URLEndPoint(.get, url))
            }
        }
        let (own, both) = (#"{"a":1}"#, #"{"a":1,"k":1}"#)
        let inQuery: [String?] = ["k=1", "k=1", "k=1"]
        #expect(session.requests.map(\.query) == inQuery + inQuery + [nil, nil, "k=1"] + [nil, nil, "k=1"])
        let bodies = try session.requests.map { String(decoding: try $0.body.encode(), as: UTF8.self) }
        #expect(bodies == [own, own, "", own, own, ""] + [both, both, "", both, both, ""])
    }

    @Test("a provider runs for each request to the named hosts only", .requirement("S1.5"))
    func provider() async throws {
        let session = StubSession { _ in .text("") }
        let calls = Deliveries<Void>()
        let common = CommonParameters(origins: ["A.example"]) {
            await Task.yield()
            return ["n": calls.count(adding: ())]
        }
        let router = router(session, [common])
        for host in ["a.example", "b.example", "a.example"] {
            _ = try await router.response(for: URLEndPoint(.get, #require(URL(string: "https://\(host)/"))))
        }
        #expect(session.requests.map(\.query) == ["n=1", nil, "n=2"])
    }

    private struct Failure: Error, CustomStringConvertible { var description: String { "hunter2" } }

    @Test("a provider's failure is a typed error, and nothing is sent", .requirement("S1.5"))
    func failing() async throws {
        let session = StubSession { _ in .text("") }
        let endPoint = URLEndPoint(.get, url)
        let foreign = CommonParameters { throw Failure() }
        let error = await #expect(throws: NetworkError.self) {
            try await router(session, [foreign]).response(for: endPoint)
        }
        #expect(error?.code == .invalidRequest)
        #expect(error?.underlying is Failure)
        #expect(error?.description.contains("hunter2") == false)
        #expect(error?.url == url)
        let own = await #expect(throws: NetworkError.self) {
            try await router(session, [CommonHeaders { throw NetworkError(.cannotAuthenticate) }]).response(
                for: endPoint)
        }
        #expect(own?.code == .cannotAuthenticate)
        await #expect(throws: CancellationError.self) {
            try await router(session, [CommonHeaders { throw CancellationError() }]).response(for: endPoint)
        }
        let unwritable = CommonParameters(["x": Double.nan])
        let fault = await #expect(throws: NetworkError.self) {
            try await router(session, [unwritable]).response(for: endPoint)
        }
        #expect(fault?.code == .encodingFailed)
        #expect(session.requests.isEmpty)
    }

    @Test("canceling the router or the task ends the wait for a provider", .requirement("S1.5", "S2.16"))
    func cancelling() async throws {
        for isRouterCancelled in [true, false] {
            let session = StubSession { _ in .text("") }
            let asked = AsyncStream<Void>.makeStream()
            let common = CommonParameters {
                asked.continuation.yield()
                try await Task.sleep(for: .seconds(3_600))
                return [:]
            }
            let router = router(session, [common])
            let call = Task { try await router.response(for: URLEndPoint(.get, url)) }
            for await _ in asked.stream { break }
            if isRouterCancelled { router.cancel() } else { call.cancel() }
            await #expect(throws: CancellationError.self) { try await call.value }
            #expect(session.requests.isEmpty)
        }
    }

    @Test("logs, events and plans show no token", .requirement("S1.5"))
    func logs() async throws {
        let lines = Deliveries<String>()
        let session = StubSession { _ in .text("") }
        let logger = NetworkLogger(level: .body, writesCurlCommand: true) { lines.add($0) }
        let interceptors: [any Interceptor] = [
            CommonParameters(["access_token": "hunter2", "user": "u7"]), CommonHeaders(["X-Api-Key": "hunter2"]),
            logger,
        ]
        let router = router(session, interceptors)
        for method in [HTTPMethod.get, .post] { _ = try await router.response(for: URLEndPoint(method, url)) }
        #expect(session.requests.first?.query == "access_token=hunter2&user=u7")
        let logged = lines.all.joined(separator: "\n")
        #expect(logged.contains("u7"))
        #expect(!logged.contains("hunter2"))
        let plan = await router.explain(URLEndPoint(.get, url))
        #expect(plan.request?.headers["X-Api-Key"] == "hunter2")
        #expect(plan.request?.query == "access_token=hunter2&user=u7")
        #expect(!plan.description.contains("hunter2"))
        for thing in interceptors {
            var dumped = ""
            dump(thing, to: &dumped)
            #expect(!(dumped + String(describing: thing)).contains("hunter2"), "\(dumped)")
        }
    }
}
