import Switchboard
import SwitchboardWebSocket

// Each struct is one call: its request and the type of its response. The manager supplies the server.

/// Requests all todos, or the todos of one user.
struct FindTodos: TypedEndPoint {
    typealias Response = [Todo]
    var user: Int?
    var path: String { "todos" }
    var task: HTTPTask { .requestParameters(urlParameters: ["userId": user]) }
}

/// Opens a WebSocket on which the server sends each todo that changes.
struct FollowTodos: TypedEndPoint {
    typealias Response = Todo
    var path: String { "todos/changes" }
    var options: RequestOptions {
        RequestOptions {
            $0.webSocket.reconnects = true
            $0.webSocket.pingInterval = .seconds(20)
        }
    }
}

/// Adds a todo. The server returns it with its new ID.
struct AddTodo: TypedEndPoint {
    typealias Response = Todo
    let todo: NewTodo
    var path: String { "todos" }
    var httpMethod: HTTPMethod { .post }
    var task: HTTPTask { .requestBody(JSONBody(todo)) }
}

/// Changes the given fields and no others.
struct UpdateTodo: TypedEndPoint {
    typealias Response = Todo
    let id: Int
    let completed: Bool
    var path: String { "todos/\(id)" }
    var httpMethod: HTTPMethod { .patch }
    var task: HTTPTask { .requestParameters(bodyParameters: ["completed": completed]) }
}

/// Deletes a todo. The response is empty.
struct DeleteTodo: TypedEndPoint {
    typealias Response = EmptyResponse
    let id: Int
    var path: String { "todos/\(id)" }
    var httpMethod: HTTPMethod { .delete }
}
