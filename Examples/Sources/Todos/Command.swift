import ExampleKit
import Foundation
import Switchboard

/// The commands of the program.
enum Command: String, CommandWord {
    case tour, list, add, done, delete, follow, styles

    static let help = Help<Command>(
        "todos",
        """
        Asks a server of things to do: a small one inside this program, unless --server
        names another. It starts anew each time, with six of them for two users.
        """, switches: [.inspect])

    var usage: Usage {
        switch self {
        case .tour:
            Usage(
                "all of it, one after the other (the default)",
                details: """
                    Lists what user 1 has to do, adds something, marks it as done, deletes
                    another, and lists again. Then it makes one call in every style there is.
                    """)
        case .list:
            Usage(
                "what there is to do", options: [.user],
                details: "Lists what there is to do, for everybody or for user N.")
        case .add:
            Usage(
                "something to do", operands: "TITLE", options: [.user],
                details: "Adds something to do, for user 1 or N: todos add 'Buy tea & cake'")
        case .done:
            Usage("marks one as done", operands: "ID", details: "Marks the todo ID as done. Its title stays.")
        case .delete:
            Usage("deletes one", operands: "ID", details: "Deletes the todo ID.")
        case .follow:
            Usage(
                "the changes until the server closes",
                details: """
                    Follows the changes over a WebSocket, and lists them when the server closes it.
                    The embedded server drops the connection once, and the changes continue after
                    that.
                    """)
        case .styles:
            Usage(
                "one call in every style",
                details: """
                    Lists what user 2 has to do three times: with async and await, with a
                    callback, and with a publisher where there is Combine.
                    """)
        }
    }

    /// Runs the command and returns the text to show.
    func perform(_ words: Words, with service: TodoService) async throws -> String {
        var words = words
        switch self {
        case .tour:
            try words.checkEnd(of: self)
            return try await Tour(service: service).text()
        case .list:
            let user = try words.number(.user, "a user")
            try words.checkEnd(of: self)
            return Report.of(try await service.todos(of: user))
        case .add:
            let title = try words.takeText("a TITLE", for: self)
            let user = try words.number(.user, "a user") ?? 1
            try words.checkEnd(of: self)
            return Report.of("added", try await service.add(title, for: user))
        case .done:
            let id = try words.takeID(of: "a todo", for: self)
            try words.checkEnd(of: self)
            return Report.of("changed", try await service.finish(id))
        case .delete:
            let id = try words.takeID(of: "a todo", for: self)
            try words.checkEnd(of: self)
            try await service.delete(id)
            return "deleted \(id)"
        case .follow:
            try words.checkEnd(of: self)
            return try await service.changes().map { Report.of("changed", $0) }.joined(separator: "\n")
        case .styles:
            try words.checkEnd(of: self)
            return try await Tour(service: service).styles()
        }
    }
}

extension Option {
    static let user = Option("--user", "N", expected: "a whole number from 1", help: "the user, from 1")
}
