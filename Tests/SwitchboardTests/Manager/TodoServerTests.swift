import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// The flows of the fifth design's article against a server like jsonplaceholder that stores changes.
@Suite(.timeLimit(.minutes(10)))
struct TodoServerTests {
    @Test("list, add, update and delete work, and the list shows the changes", .requirement("S4.12"))
    func flows() async throws {
        let store = TodoStore([Todo(id: 1, userId: 1, title: "delectus aut autem", completed: false)])
        try await MockServer.run(handler: store.answer) { server in
            let manager = NetworkManager(
                baseURL: server.url, session: DefaultSession.make())
            let first = try await manager.send(FindTodos())
            #expect(first == [Todo(id: 1, userId: 1, title: "delectus aut autem", completed: false)])

            let added = try await manager.send(
                AddTodo(todo: Todo(id: nil, userId: 1, title: "Tea & cake", completed: false)))
            #expect(added == Todo(id: 2, userId: 1, title: "Tea & cake", completed: false))

            let updated = try await manager.send(
                UpdateTodo(todo: Todo(id: 2, userId: 1, title: "Tea", completed: true)))
            #expect(updated.completed)

            _ = try await manager.send(DeleteTodo(id: 1))
            let last = try await manager.send(FindTodos())
            #expect(last == [Todo(id: 2, userId: 1, title: "Tea", completed: true)])

            let found = try await manager.send(FindTodos(userId: 7))
            #expect(found == [])
            #expect(
                server.requests.map { "\($0.method) \($0.target)" } == [
                    "GET /todos", "POST /todos", "PUT /todos/2", "DELETE /todos/1", "GET /todos", "GET /todos?userId=7",
                ])
            #expect(server.requests[1].text == #"{"userId":1,"title":"Tea & cake","completed":false}"#)
            #expect(server.requests[3].body.isEmpty)
        }
    }

    @Test("a refusal by the server has its code, and the store is unchanged", .requirement("S4.12"))
    func refusals() async throws {
        let store = TodoStore([])
        try await MockServer.run(handler: store.answer) { server in
            let manager = NetworkManager(
                baseURL: server.url, session: DefaultSession.make())
            let missing = await #expect(throws: NetworkError.self) {
                try await manager.send(UpdateTodo(todo: Todo(id: 5, userId: 1, title: "", completed: true)))
            }
            #expect(missing?.code == .notFound)
            let gone = await #expect(throws: NetworkError.self) { try await manager.send(DeleteTodo(id: 5)) }
            #expect(gone?.code == .notFound)
            let todos = try await manager.send(FindTodos())
            #expect(todos == [])
        }
    }
}

private struct Todo: Codable, Equatable, Sendable {
    var id: Int?
    var userId: Int
    var title: String
    var completed: Bool
}

private struct FindTodos: TypedEndPoint {
    typealias Response = [Todo]
    var userId: Int?
    var path: String { "/todos" }
    var task: HTTPTask {
        guard let userId else { return .request }
        return .requestParameters(urlParameters: ["userId": userId])
    }
}

private struct AddTodo: TypedEndPoint {
    typealias Response = Todo
    let todo: Todo
    var path: String { "/todos" }
    var httpMethod: HTTPMethod { .post }
    var task: HTTPTask { .requestBody(JSONBody(todo)) }
}

private struct UpdateTodo: TypedEndPoint {
    typealias Response = Todo
    let todo: Todo
    var path: String { "/todos/\(todo.id ?? 0)" }
    var httpMethod: HTTPMethod { .put }
    var task: HTTPTask { .requestBody(JSONBody(todo)) }
}

private struct DeleteTodo: TypedEndPoint {
    typealias Response = EmptyResponse
    let id: Int
    var path: String { "/todos/\(id)" }
    var httpMethod: HTTPMethod { .delete }
}

/// The server's stored todos.
private final class TodoStore: Sendable {
    private let todos: Deliveries<[Todo]>

    init(_ todos: [Todo]) {
        self.todos = Deliveries()
        self.todos.add(todos)
    }

    @Sendable func answer(_ request: RecordedRequest) -> MockResponse {
        var todos = self.todos.all.last ?? []
        defer { self.todos.add(todos) }
        let parts = request.path.split(separator: "/")
        guard parts.first == "todos" else { return .json("{}", statusCode: 404) }
        let index = parts.dropFirst().first.flatMap { Int($0) }.flatMap { id in todos.firstIndex { $0.id == id } }
        let sent = try? JSONDecoder().decode(Todo.self, from: request.body)
        switch (request.method, sent, index) {
        case (.get, _, _):
            let user = request.queryValue("userId").flatMap { Int($0) }
            return json(todos.filter { user == nil || $0.userId == user })
        case (.post, var todo?, _):
            todo.id = (todos.compactMap(\.id).max() ?? 0) + 1
            todos.append(todo)
            return json(todo, status: 201)
        case (.put, let todo?, let index?):
            todos[index] = todo
            return json(todo)
        case (.delete, _, let index?):
            todos.remove(at: index)
            return .status(204)
        default: return .json("{}", statusCode: 404)
        }
    }

    private func json(_ value: some Encodable, status: Int = 200) -> MockResponse {
        (try? .encoding(value, statusCode: status)) ?? .status(500)
    }
}
