/// A todo.
struct Todo: Codable, Equatable, Sendable {
    let id: Int
    let userId: Int
    let title: String
    let completed: Bool
}

/// A todo without an ID, before the server stores it.
struct NewTodo: Encodable, Equatable, Sendable {
    let userId: Int
    let title: String
    var completed = false
}
