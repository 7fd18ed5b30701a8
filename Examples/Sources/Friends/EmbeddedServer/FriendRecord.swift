/// A friend in the server's JSON. The client has a separate type, so the tests compare both sides with the JSON and not
/// with each other.
nonisolated struct FriendRecord: Encodable, Sendable {
    let id: Int
    let name: String
    var email: String?
    var groups: [String] = []

    private enum CodingKeys: CodingKey { case id, name, email }

    static let all = [
        FriendRecord(id: 2, name: "Bruno Teal", email: "bruno@example.com", groups: ["chess", "tea & cake"]),
        FriendRecord(id: 3, name: "Clara Finch", groups: ["tea & cake"]),
        FriendRecord(id: 5, name: "Edda Stone", email: "edda@example.com", groups: ["tea & cake"]),
        FriendRecord(id: 8, name: "Dario Wren", groups: ["chess"]),
    ]
}

/// The body of a request that adds a friend.
nonisolated struct FriendChange: Decodable {
    let userId: Int?
    let name: String?

    private enum CodingKeys: String, CodingKey {
        case userId = "user_id"
        case name
    }
}
