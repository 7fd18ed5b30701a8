import Switchboard

// One struct is one call: what to ask for, and what comes back. The server is the manager's.

/// All there is to do, or what one user has to do.
struct FindTodos: TypedEndPoint {
    typealias Response = [Todo]
    var user: Int?
    var path: String { "todos" }
    var task: HTTPTask { .requestParameters(urlParameters: ["userId": user]) }
}

/// Adds something to do. The server answers with that one, by its new ID.
struct AddTodo: TypedEndPoint {
    typealias Response = Todo
    let todo: NewTodo
    var path: String { "todos" }
    var httpMethod: HTTPMethod { .post }
    var task: HTTPTask { .requestBody(JSONBody(todo)) }
}

/// Changes what is given here, and nothing else.
struct UpdateTodo: TypedEndPoint {
    typealias Response = Todo
    let id: Int
    let completed: Bool
    var path: String { "todos/\(id)" }
    var httpMethod: HTTPMethod { .patch }
    var task: HTTPTask { .requestParameters(bodyParameters: ["completed": completed]) }
}

/// Deletes one. Nothing comes back.
struct DeleteTodo: TypedEndPoint {
    typealias Response = EmptyResponse
    let id: Int
    var path: String { "todos/\(id)" }
    var httpMethod: HTTPMethod { .delete }
}
