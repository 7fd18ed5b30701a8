import ExampleKit
import Foundation
import Switchboard
import SwitchboardWebSocket

/// Loads and changes todos. The rest of the program uses only this type to reach the network.
struct TodoService: Sendable {
    let manager: NetworkManager

    /// Returns all todos, or the todos of one user.
    func todos(of user: Int? = nil) async throws -> [Todo] {
        try await manager.send(FindTodos(user: user))
    }

    func add(_ title: String, for user: Int) async throws -> Todo {
        try await manager.send(AddTodo(todo: NewTodo(userId: user, title: title)))
    }

    /// Marks a todo as done.
    func finish(_ id: Int) async throws -> Todo {
        try await found(id) { try await manager.send(UpdateTodo(id: id, completed: true)) }
    }

    func delete(_ id: Int) async throws {
        _ = try await found(id) { try await manager.send(DeleteTodo(id: id)) }
    }

    /// Returns the todos that change until the server closes the socket. Each connection names the last change, so that
    /// none is missed.
    func changes() async throws -> [Todo] {
        let socket = try await manager.router(for: FollowTodos.self).webSocket(
            for: FollowTodos(), sending: String.self, receiving: Todo.self
        ) { socket, last in
            try await socket.send("after \(last?.id ?? 0)")
        }
        var todos: [Todo] = []
        for try await todo in socket { todos.append(todo) }
        return todos
    }

    private func found<Value>(_ id: Int, _ call: () async throws -> Value) async throws -> Value {
        do {
            return try await call()
        } catch NetworkError.notFound {
            throw Failure(.refused, "there is no todo \(id)")
        }
    }
}

extension NetworkManager {
    /// Creates the manager of the todos' server.
    static func todos(
        at server: URL, session: any NetworkSession = DefaultSession.shared, interceptors: [any Interceptor] = [],
        monitors: [any EventMonitor] = [], timeouts: Timeouts = .ofExamples
    ) -> NetworkManager {
        NetworkManager(
            baseURL: server, session: session, interceptors: interceptors,
            options: RequestOptions { $0.timeouts = timeouts }, monitors: monitors)
    }
}
