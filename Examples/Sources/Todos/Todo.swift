/// Something to do.
struct Todo: Codable, Equatable, Sendable {
    let id: Int
    let userId: Int
    let title: String
    let completed: Bool
}

/// Something to do that the server does not know yet.
struct NewTodo: Encodable, Equatable, Sendable {
    let userId: Int
    let title: String
    var completed = false
}
