import ExampleKit
import Foundation

/// The commands of the program.
enum Command: String, CommandWord {
    case tour, list, add, remove, group

    static let help = Help<Command>(
        "friends",
        """
        Asks a server for the friends of user 1: a small one inside this program, unless
        --server names another. It starts anew each time, with four friends.
        """, switches: [.token])

    var usage: Usage {
        switch self {
        case .tour:
            Usage(
                "all of it, one after the other (the default)",
                details: """
                    Lists the friends, again from the cache, and anew; adds one, removes one, opens
                    a group and gives it up for another, and asks for what there is not.
                    """)
        case .list: Usage("the friends", details: "Lists the friends.")
        case .add: Usage("a new friend", operands: "NAME", details: "Adds a friend: friends add 'Hugo Pike'")
        case .remove: Usage("a friend less", operands: "ID", details: "Removes the friend with that ID.")
        case .group:
            Usage(
                "the friends in a group", operands: "NAME",
                details: "Lists the friends in a group: friends group 'tea & cake'")
        }
    }

    /// Runs the command and returns the text to show.
    func perform(_ words: Words, with service: FriendsService, _ counter: RequestCounter) async throws -> String {
        var words = words
        switch self {
        case .tour:
            try words.checkEnd(of: self)
            return try await Tour(service: service, counter: counter).text()
        case .list:
            try words.checkEnd(of: self)
            return Report.of(try await service.friends())
        case .add:
            let name = try words.takeText("a NAME", for: self)
            try words.checkEnd(of: self)
            return Report.of("added", try await service.add(name))
        case .remove:
            let id = try words.takeID(of: "a friend", for: self)
            try words.checkEnd(of: self)
            try await service.remove(id)
            return "removed \(id)"
        case .group:
            let name = try words.takeText("a NAME", for: self)
            try words.checkEnd(of: self)
            return Report.of(try await service.group(name))
        }
    }
}

extension Option {
    static let token = Option(
        "--token", "TEXT", expected: "the token of a user", help: "who asks (default: one that the server knows)")
}
