/// A todo in the server's JSON. The client has a separate type, so the tests compare both sides with the JSON and not
/// with each other.
nonisolated struct TodoRecord: Encodable, Sendable {
    let id: Int
    var userId: Int
    var title: String
    var completed: Bool

    static let all = [
        TodoRecord(id: 1, userId: 1, title: "Water the ferns", completed: false),
        TodoRecord(id: 2, userId: 1, title: "Post the letter to Ottilie", completed: true),
        TodoRecord(id: 3, userId: 1, title: "Wind the clock in the hall", completed: false),
        TodoRecord(id: 4, userId: 2, title: "Sharpen the pencils", completed: false),
        TodoRecord(id: 5, userId: 2, title: "Tune the piano", completed: true),
        TodoRecord(id: 6, userId: 2, title: "Count the spoons", completed: false),
    ]
}

/// The body of a request that adds or changes a todo.
nonisolated struct TodoChange: Decodable {
    let userId: Int?
    let title: String?
    let completed: Bool?
}
