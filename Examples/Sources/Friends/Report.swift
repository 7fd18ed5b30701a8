import ExampleKit

/// Formats the program's output.
enum Report {
    static func of(_ friends: [Friend]) -> String {
        guard !friends.isEmpty else { return "no friends" }
        var table = Table(.init("ID", width: 4, isNumber: true), .init("Name", width: 24), .init("Email", width: 40))
        table.rows = friends.map { ["\($0.id)", $0.name, $0.email ?? "unknown"] }
        return "\(table.text)\n\n\(counted(friends.count, "friend"))"
    }

    static func of(_ verb: String, _ friend: Friend) -> String {
        "\(verb) \(friend.name) as friend \(friend.id)".onOneLine
    }

    /// Returns only the names, on one line.
    static func names(_ friends: [Friend]) -> String {
        friends.map(\.name).joined(separator: ", ").onOneLine
    }
}
