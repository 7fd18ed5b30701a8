import ExampleKit
import Switchboard

/// Runs the flows of the article about typed requests in sequence.
struct Tour {
    let service: TodoService

    func text() async throws -> String {
        let before = Report.of(try await service.todos(of: 1))
        let added = try await service.add("Buy tea & cake", for: 1)
        let changed = try await service.finish(added.id)
        try await service.delete(1)
        return """
            What user 1 has to do:
            \(before)

            Then:
            \(Report.of("added", added))
            \(Report.of("changed", changed))
            deleted 1
            \(try await refusal())

            What user 1 has to do now:
            \(Report.of(try await service.todos(of: 1)))

            \(try await styles())
            """
    }

    /// Makes one call in every style and returns a line for each.
    func styles() async throws -> String {
        var lines = ["What user 2 has to do, asked for in each style:"]
        for style in DeliveryStyle.allCases {
            let todos = try await style.send(FindTodos(user: 2), with: service.manager)
            let titles = todos?.map(\.title).joined(separator: ", ") ?? "not on this system: it has no Combine"
            lines.append("\(style): \(titles)".onOneLine)
        }
        return lines.joined(separator: "\n")
    }

    private func refusal() async throws -> String {
        do {
            try await service.delete(1)
            return "deleted 1 again"
        } catch let failure as Failure where failure.exitCode == .refused {
            return failure.message
        }
    }
}
