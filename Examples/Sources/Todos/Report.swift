import ExampleKit

/// Formats the program's output.
enum Report {
    static func of(_ todos: [Todo]) -> String {
        let count = "\(counted(todos.count, "todo")), \(todos.count(where: \.completed)) done"
        guard !todos.isEmpty else { return count }
        var table = Table(
            .init("ID", width: 4, isNumber: true), .init("User", width: 4, isNumber: true), .init("Done", width: 4),
            .init("Title", width: 60))
        table.rows = todos.map { ["\($0.id)", "\($0.userId)", $0.completed ? "yes" : "no", $0.title] }
        return "\(table.text)\n\n\(count)"
    }

    static func of(_ verb: String, _ todo: Todo) -> String {
        "\(verb) \(todo.id) of user \(todo.userId): \(todo.title), \(todo.completed ? "done" : "not done")".onOneLine
    }
}
