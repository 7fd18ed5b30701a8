import Foundation
import Switchboard
import SwitchboardTestSupport
import Testing

struct RequestBuilderHeaderTests {
    private func build(_ endPoint: EndPointFixture, _ headers: HTTPHeaders? = nil) throws -> NetworkRequest {
        try (headers.map { RequestBuilder(headers: $0) } ?? RequestBuilder()).makeRequest(for: endPoint)
    }

    @Test("a task with parameters or a body takes headers")
    func taskHeaders() throws {
        let headers: HTTPHeaders = ["X-A": "1"]
        let tasks: [HTTPTask] = [
            .requestParametersAndHeaders(urlParameters: ["q": 1], additionHeaders: headers),
            .requestBody(JSONBody(["a": 1]), urlParameters: ["q": 1], headers: headers),
        ]
        for task in tasks {
            let request = try RequestBuilder().makeRequest(for: EndPointFixture(httpMethod: .post, task: task))
            #expect(request.headers["X-A"] == "1" && request.query == "q=1")
        }
    }

    @Test(
        "the request's Content-Type replaces the body's", .requirement("S2.6"),
        arguments: [
            HTTPTask.requestBody(JSONBody(["a": 1])), .requestBody(FormBody(["a": 1])),
            .requestBody(DataBody(Data("x".utf8), contentType: "image/png")),
            .requestParameters(bodyParameters: ["a": 1]),
            .requestParameters(bodyParameters: ["a": 1], bodyEncoding: .formEncoding), .requestParameters(["a": 1]),
        ])
    func ownContentTypeWins(task: HTTPTask) throws {
        let endPoint = EndPointFixture(httpMethod: .post, task: task, headers: ["content-TYPE": "text/own"])
        let headers = try build(endPoint, ["Content-Type": "text/builder"]).headers
        #expect(headers.filter { $0.name.lowercased() == "content-type" }.map(\.value) == ["text/own"])
    }

    @Test(
        "without a request Content-Type, the body's replaces the builder's", .requirement("S2.6"),
        arguments: [
            (HTTPTask.requestBody(JSONBody(["a": 1])), "application/json; charset=utf-8"),
            (.requestBody(FormBody(["a": 1])), "application/x-www-form-urlencoded; charset=utf-8"),
            (.requestParameters(bodyParameters: ["a": 1]), "application/json"),
            (.requestParameters(["a": 1]), "application/json"),
            (.upload(DataBody(Data("x".utf8), contentType: "image/png")), "image/png"),
            (.upload(DataBody(Data("x".utf8))), "text/builder"),
        ])
    func bodyContentType(task: HTTPTask, type: String) throws {
        let request = try build(EndPointFixture(httpMethod: .post, task: task), ["Content-Type": "text/builder"])
        #expect(request.headers.values(for: "Content-Type") == [type])
        #expect(request.body.additionalHeaders.isEmpty || request.body.additionalHeaders["Content-Type"] == type)
    }

    @Test("headers of the task win over endpoint, body and builder, in that order", .requirement("S3.7"))
    func precedence() throws {
        let body = DataBody(
            Data("x".utf8), additionalHeaders: ["P": "body", "Q": "body", "R": "body", "Content-Type": "body/x"])
        let endPoint = EndPointFixture(
            httpMethod: .post, task: .requestBody(body, headers: ["p": "task", "S": "task"]),
            headers: ["P": "endpoint", "q": "endpoint", "T": "endpoint"])
        let headers = try build(endPoint, ["P": "builder", "Q": "builder", "r": "builder", "U": "builder"]).headers
        #expect(
            headers["P"] == "task" && headers["Q"] == "endpoint" && headers["R"] == "body" && headers["U"] == "builder")
        #expect(headers["S"] == "task" && headers["T"] == "endpoint" && headers["Content-Type"] == "body/x")
        #expect(headers.count == 7)
    }

    @Test("repeats of the winning header are kept, the losing header is dropped", .requirement("S3.7"))
    func repeats() throws {
        let endPoint = EndPointFixture(
            task: .requestParametersAndHeaders(additionHeaders: ["X-Tag": "1", "x-tag": "2"]),
            headers: ["X-Tag": "3", "X-Other": "4", "X-Other": "5"])
        let headers = try build(endPoint, ["X-Tag": "6", "X-Other": "7"]).headers
        #expect(headers.values(for: "X-Tag") == ["1", "2"] && headers.values(for: "X-Other") == ["4", "5"])
    }

    @Test(
        "headers are sent with every kind of task", .requirement("S3.7"),
        arguments: [
            HTTPTask.request, .requestParameters(urlParameters: ["a": 1]), .requestParameters(["a": 1]),
            .requestBody(EmptyBody()),
            .requestParametersAndHeaders(additionHeaders: nil), .download(to: URL(fileURLWithPath: "/nowhere/x")),
        ])
    func everyTask(task: HTTPTask) throws {
        #expect(try build(EndPointFixture(task: task, headers: ["X-Mark": "1"])).headers["X-Mark"] == "1")
    }

    @Test(
        "GET, HEAD and DELETE put parameters into the query", .requirement("S1.3"),
        arguments: [HTTPMethod.get, .head, .delete])
    func queryMethods(method: HTTPMethod) throws {
        let request = try build(
            EndPointFixture(path: "friends", httpMethod: method, task: .requestParameters(["user_id": "a b"])))
        #expect(request.url?.absoluteString == "https://api.example.com/v1/friends?user_id=a%20b")
        #expect(request.body.isEmpty && request.headers["Content-Type"] == nil)
        #expect(request.headers["Accept"] == "application/json")
    }

    @Test(
        "POST, PUT and PATCH send parameters as JSON and accept JSON", .requirement("S1.3"),
        arguments: [
            HTTPMethod.post, .put, .patch,
        ])
    func bodyMethods(method: HTTPMethod) throws {
        let task = HTTPTask.requestParameters(["user_id": "a b", "n": 1])
        let request = try build(EndPointFixture(path: "friends", httpMethod: method, task: task))
        #expect(request.url?.absoluteString == "https://api.example.com/v1/friends")
        #expect(try request.sentText == #"{"user_id":"a b","n":1}"#)
        #expect(
            request.headers["Accept"] == "application/json" && request.headers["Content-Type"] == "application/json")

        let own: HTTPHeaders = ["accept": "text/csv", "content-type": "application/vnd.api+json"]
        let overridden = try build(EndPointFixture(path: "friends", httpMethod: method, task: task, headers: own))
        #expect(overridden.headers == own)
    }

    @Test("Accept is always sent, Content-Type with a body, queries encoded once", .requirement("S4.3"))
    func acceptAndContentType() throws {
        let query: Parameters = ["q": "a b", "name": "malcolm@network.com"]
        let get = try build(EndPointFixture(path: "todos", task: .requestParameters(urlParameters: query)))
        #expect(get.url?.query == "q=a%20b&name=malcolm%40network.com")
        #expect(get.headers == ["Accept": "application/json"])
        let post = try build(
            EndPointFixture(
                path: "todos", httpMethod: .post, task: .requestBody(JSONBody(["a": 1]), urlParameters: query)))
        #expect(post.url?.query == "q=a%20b&name=malcolm%40network.com")
        #expect(
            post.headers["Accept"] == "application/json"
                && post.headers["Content-Type"] == "application/json; charset=utf-8")
    }

    @Test("without a body, the builder's default Content-Type is not sent", .requirement("S0.8"))
    func neither() throws {
        for method in [HTTPMethod.get, .post, .delete] {
            let request = try build(
                EndPointFixture(httpMethod: method), ["Content-Type": "application/json", "X-Default": "1"])
            #expect(request.body.isEmpty)
            #expect(request.headers == ["X-Default": "1"])
        }
    }

    @Test("a download gets no default Accept header, only the endpoint's")
    func downloads() throws {
        let task = HTTPTask.download(to: URL(fileURLWithPath: "/nowhere/file"), urlParameters: ["v": 2])
        let request = try build(EndPointFixture(path: "file", task: task))
        #expect(request.headers["Accept"] == nil && request.url?.query == "v=2")
        #expect(try build(EndPointFixture(task: task, headers: ["Accept": "image/*"])).headers["Accept"] == "image/*")
    }

    @Test("a download gets the Accept header of its router")
    func downloadOfRouter() throws {
        let router = Router<EndPointFixture>(headers: ["Accept": "image/png"])
        let task = HTTPTask.download(to: URL(fileURLWithPath: "/nowhere/file"))
        #expect(try router.makeRequest(for: EndPointFixture(task: task)).headers["Accept"] == "image/png")
    }

    @Test(
        "a cache policy sets a missing Cache-Control (RFC 9111 §5.2.1)",
        arguments: [
            (URLRequest.CachePolicy.reloadIgnoringLocalAndRemoteCacheData, "no-cache" as String?),
            (.reloadRevalidatingCacheData, "max-age=0"), (.returnCacheDataDontLoad, "only-if-cached"),
            (.useProtocolCachePolicy, nil),
            (.returnCacheDataElseLoad, nil),
        ])
    func cachePolicies(policy: URLRequest.CachePolicy, directive: String?) throws {
        var endPoint = EndPointFixture(options: RequestOptions { $0.cachePolicy = policy })
        #expect(try build(endPoint).headers["Cache-Control"] == directive)
        endPoint.headers = ["cache-control": "max-age=5"]
        #expect(try build(endPoint).headers.values(for: "Cache-Control") == ["max-age=5"])
    }

    @Test("an endpoint's options win over the builder's, the others are kept")
    func options() throws {
        enum Priority: RequestOption { static let defaultValue = 0 }
        enum Tag: RequestOption { static let defaultValue = "none" }
        let builder = RequestBuilder(
            options: RequestOptions {
                $0[Priority.self] = 1; $0[Tag.self] = "builder"
            })
        let request = try builder.makeRequest(for: EndPointFixture(options: RequestOptions { $0[Priority.self] = 2 }))
        #expect(request[Priority.self] == 2 && request[Tag.self] == "builder")
        #expect(NetworkRequest(.get, nil)[Tag.self] == "none")
    }
}
