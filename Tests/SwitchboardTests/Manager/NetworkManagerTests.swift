import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct NetworkManagerTests {
    @Test("a request with only a path compiles and decodes its type", .requirement("S4.1"))
    func typedRequest() async throws {
        let session = StubSession { _ in .json(#"[{"id":1,"title":"Tea"}]"#) }
        let manager = NetworkManager(servers: [.production: "https://api.example.com/v1"], session: session)
        let todos = try await manager.send(FindTodos())
        #expect(todos == [FindTodos.Todo(id: 1, title: "Tea")])
        #expect(session.requests.map(\.url?.absoluteString) == ["https://api.example.com/v1/todos"])
    }

    @Test("without servers a path-only request throws and sends nothing", .requirement("S4.1"))
    func noServers() async throws {
        let session = StubSession { _ in .json("[]") }
        let error = await #expect(throws: NetworkError.self) {
            try await NetworkManager(session: session).send(FindTodos())
        }
        #expect(error?.code == .missingURL)
        #expect(error?.message == "URL is nil.")
        #expect(error?.description.contains("FindTodos") == true)
        #expect(error?.reason?.contains("send it by a manager with `baseURL:`") == true)
        #expect(session.requests.isEmpty)
    }

    @Test("the body of a non-optional task arrives over the wire (AddTodo)", .requirement("S4.2"))
    func bodyArrives() async throws {
        try await MockServer.run { _ in
            .json(#"{"id":9,"title":"Tea"}"#, statusCode: 201)
        } body: { server in
            let manager = NetworkManager(
                baseURL: server.url, session: DefaultSession.make())
            let made = try await manager.send(AddTodo(title: "Tea"))
            #expect(made == FindTodos.Todo(id: 9, title: "Tea"))
            let seen = try await server.takeRequest()
            #expect(seen.method == .post)
            #expect(seen.text == #"{"title":"Tea"}"#)
            #expect(seen.headers["Content-Type"]?.hasPrefix("application/json") == true)
            #expect(seen.headers["Accept"] == "application/json")
        }
    }

    @Test("async and completion form of send have the same value and error", .requirement("S4.10"))
    func forms() async throws {
        let session = StubSession(.json("[]"), .json("[]"), .status(404), .status(404))
        let manager = NetworkManager(servers: [.production: "https://api.example.com"], session: session)
        let results = Deliveries<Result<[FindTodos.Todo], NetworkError>>()
        #expect(try await manager.send(FindTodos()) == [])
        manager.send(FindTodos()) { results.add($0) }
        #expect(try await results.first() == .success([]))
        let thrown = await #expect(throws: NetworkError.self) { try await manager.send(FindTodos()) }
        manager.send(FindTodos()) { results.add($0) }
        let given = try await results.wait(for: 2)[1]
        #expect(given == .failure(try #require(thrown)))
    }

    @Test("responses of an injected stub session reach every kind of call", .requirement("S4.11"))
    func injected() async throws {
        let session = StubSession { request in .json(#"[{"id":1,"title":"\#(request.url?.path ?? "")"}]"#) }
        let manager = NetworkManager(servers: [.production: "https://api.example.com"], session: session)
        let url = URL(text: "https://api.example.com/todos")
        let expected = [FindTodos.Todo(id: 1, title: "/todos")]
        #expect(try await manager.send(FindTodos()) == expected)
        #expect(try await manager.router(for: FindTodos.self).send(FindTodos()) == expected)
        #expect(try await manager.response(for: URLEndPoint(.get, url)).decode([FindTodos.Todo].self) == expected)
        let data = try await manager.data(from: url)
        #expect(data == Data(#"[{"id":1,"title":"/todos"}]"#.utf8))
        #expect(session.requests.count == 4)
    }

    @Test("concurrent managers share no URL, header, session or environment", .requirement("S1.11"))
    func sideBySide() async throws {
        let one = StubSession { _ in .json("[]") }
        let other = StubSession { _ in .json("[]") }
        let stamp = AdHocInterceptor { request, next in
            var request = request
            request.headers["X-Stamp"] = "other"
            return try await next(request)
        }
        let first = NetworkManager(
            servers: [.production: "https://one.example.com"], session: one, headers: ["X-App": "one"],
            options: RequestOptions { $0.timeouts.idle = .seconds(10) })
        let second = NetworkManager(
            environment: .qa, servers: [.qa: "https://other.example.com/api"], session: other, interceptors: [stamp],
            headers: ["X-App": "other"])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask { _ = try await first.send(FindTodos()) }
                group.addTask { _ = try await second.send(FindTodos()) }
            }
            try await group.waitForAll()
        }
        #expect(one.requests.count == 20)
        #expect(other.requests.count == 20)
        for request in one.requests {
            #expect(request.url?.absoluteString == "https://one.example.com/todos")
            #expect(request.headers["X-App"] == "one")
            #expect(request.headers["X-Stamp"] == nil)
            #expect(request.timeouts.idle == .seconds(10))
        }
        for request in other.requests {
            #expect(request.url?.absoluteString == "https://other.example.com/api/todos")
            #expect(request.headers["X-App"] == "other")
            #expect(request.headers["X-Stamp"] == "other")
            #expect(request.timeouts.idle == .seconds(60))
        }
    }

    @Test("headers of the endpoint and the body win over the manager's", .requirement("S1.11"))
    func defaultHeaders() async throws {
        let session = StubSession { _ in .status(204) }
        let manager = NetworkManager(
            session: session, headers: ["Accept": "text/plain", "X-App": "manager", "Content-Type": "text/manager"])
        let url = URL(text: "https://api.example.com/")
        let json = HTTPTask.requestBody(JSONBody(["a": 1]))
        _ = try await manager.response(for: URLEndPoint(.post, url, task: json, headers: ["x-app": "endpoint"]))
        _ = try await manager.response(for: URLEndPoint(.get, url))
        #expect(session.requests.map { $0.headers.values(for: "X-App") } == [["endpoint"], ["manager"]])
        #expect(session.requests.map { $0.headers.values(for: "Accept") } == [["text/plain"], ["text/plain"]])
        #expect(session.requests[0].headers["Content-Type"] == "application/json; charset=utf-8")
        #expect(session.requests[1].headers["Content-Type"] == nil)
    }
}

private struct FindTodos: TypedEndPoint {
    struct Todo: Codable, Equatable, Sendable {
        let id: Int
        let title: String
    }
    typealias Response = [Todo]
    var path: String { "/todos" }
}

private struct AddTodo: TypedEndPoint {
    typealias Response = FindTodos.Todo
    let title: String
    var path: String { "/todos" }
    var httpMethod: HTTPMethod { .post }
    var task: HTTPTask { .requestParameters(bodyParameters: ["title": title]) }
}
