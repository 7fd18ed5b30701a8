import Foundation
import Switchboard
import SwitchboardTestSupport
import Testing

/// Tests for a bug of S4: a property of the other optionality compiled, but was no witness, so requests lacked it.
struct EndPointPropertyTests {
    private static let base = URL(text: "https://h.example/api")

    private struct Bare: TypedEndPoint {
        typealias Response = EmptyResponse
        var baseURL: URL { EndPointPropertyTests.base }
        var path: String { "todos" }
    }

    @Test("defaults: GET, Accept application/json, no body, no headers, no query", .requirement("S4.2"))
    func defaults() throws {
        let request = try RequestBuilder().makeRequest(for: Bare())
        #expect(
            request.method == .get && request.body.isEmpty
                && request.url?.absoluteString == "https://h.example/api/todos")
        #expect(request.headers == ["Accept": "application/json"])
    }

    @Test("the non-optional body of AddTodo is sent", .requirement("S4.2"))
    func addTodo() throws {
        struct AddTodo: TypedEndPoint {
            struct Response: Decodable, Sendable { var id: Int }
            var baseURL: URL { EndPointPropertyTests.base }
            var path: String { "todos" }
            var httpMethod: HTTPMethod { .post }
            var task: HTTPTask { .requestBody(JSONBody(["title": "write tests"])) }
        }
        let request = try RequestBuilder().makeRequest(for: AddTodo())
        #expect(request.method == .post)
        #expect(try request.sentText == #"{"title":"write tests"}"#)
    }

    @Test("every property may be declared non-optional and is used", .requirement("S4.2"))
    func nonOptional() throws {
        struct All: EndPointType {
            let baseURL = EndPointPropertyTests.base
            let path = "x"
            let httpMethod = HTTPMethod.put
            let task = HTTPTask.requestParameters(bodyParameters: ["a": 1])
            let headers: HTTPHeaders = ["X-Own": "1"]
            let options = RequestOptions { $0.timeouts.idle = .seconds(10) }
        }
        let request = try RequestBuilder().makeRequest(for: All())
        #expect(
            request.method == .put && request.headers["X-Own"] == "1"
                && request.timeouts == Timeouts(idle: .seconds(10)))
        #expect(try request.sentText == #"{"a":1}"#)
    }

    private struct Optionals: EndPointType {
        var baseURL: URL?
        var path: String { "x" }
        var httpMethod: HTTPMethod?
        var task: HTTPTask?
        var headers: HTTPHeaders?
        var options: RequestOptions?
    }

    @Test("every property may be optional and is used when it has a value", .requirement("S4.2"))
    func optional() throws {
        let endPoint = Optionals(
            baseURL: Self.base, httpMethod: .put, task: .requestParameters(bodyParameters: ["a": 1]),
            headers: ["X-Own": "1"],
            options: RequestOptions { $0.timeouts.idle = .seconds(10) })
        let request = try RequestBuilder().makeRequest(for: endPoint)
        #expect(request.url?.absoluteString == "https://h.example/api/x")
        #expect(
            request.method == .put && request.headers["X-Own"] == "1"
                && request.timeouts == Timeouts(idle: .seconds(10)))
        #expect(try request.sentText == #"{"a":1}"#)
    }

    @Test("a nil means the default; a nil base URL is \"URL is nil.\"", .requirement("S4.2"))
    func nils() throws {
        let request = try RequestBuilder().makeRequest(for: Optionals(baseURL: Self.base))
        #expect(request.method == .get && request.body.isEmpty && request.headers == ["Accept": "application/json"])
        let error = #expect(throws: NetworkError.self) { try RequestBuilder().makeRequest(for: Optionals()) }
        #expect(error?.code == .missingURL)
        #expect(error?.message == "URL is nil.")
    }

    @Test("headers may be a dictionary or an optional dictionary", .requirement("S4.2"))
    func dictionaries() throws {
        struct Plain: EndPointType {
            var baseURL: URL { EndPointPropertyTests.base }
            var path: String { "x" }
            var headers: [String: String] { ["X-B": "2", "X-A": "1"] }
        }
        struct Maybe: EndPointType {
            var baseURL: URL { EndPointPropertyTests.base }
            var path: String { "x" }
            var headers: [String: String]?
        }
        #expect(try RequestBuilder(headers: [:]).makeRequest(for: Plain()).headers == ["X-A": "1", "X-B": "2"])
        #expect(try RequestBuilder(headers: [:]).makeRequest(for: Maybe(headers: ["X-A": "1"])).headers == ["X-A": "1"])
        #expect(try RequestBuilder(headers: [:]).makeRequest(for: Maybe(headers: nil)).headers.isEmpty)
    }

    @Test("an enum's properties work the same, optional or not", .requirement("S4.2", "S3.1"))
    func enums() throws {
        enum Api: EndPointType {
            case one(id: Int), two
            var baseURL: URL { get throws { EndPointPropertyTests.base } }
            var path: String {
                switch self {
                case .one(let id): "one/\(id)"
                case .two: "two"
                }
            }
            var httpMethod: HTTPMethod? { if case .one = self { .delete } else { nil } }
            var headers: HTTPHeaders { ["X-Api": "1"] }
        }
        let one = try RequestBuilder().makeRequest(for: Api.one(id: 7))
        #expect(one.method == .delete && one.url?.path == "/api/one/7" && one.headers["X-Api"] == "1")
        #expect(one.endPointName == "Api.one")
        #expect(try RequestBuilder().makeRequest(for: Api.two).method == .get)
    }

    @Test("members of other names are the endpoint's own, as for JSON-RPC", .requirement("S4.2"))
    func ownMembers() throws {
        struct Sum: TypedEndPoint {
            typealias Response = Int
            let method: String, parameters: [String: Int]
            let query = "q", encoding = 1, header: HTTPHeaders = ["X-Own": "1"], queryParams: [Int] = []
            var baseURL: URL { EndPointPropertyTests.base }
            var path: String { "rpc" }
            var httpMethod: HTTPMethod { .put }
            var body: JSONBody { JSONBody(parameters) }
            var task: HTTPTask { .requestBody(body) }
        }
        let request = try RequestBuilder().makeRequest(for: Sum(method: "sum", parameters: ["a": 1]))
        #expect(request.method == .put && request.headers["X-Own"] == nil)
        #expect(try request.sentText == #"{"a":1}"#)
    }
}
