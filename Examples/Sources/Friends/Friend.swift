/// Somebody's friend.
struct Friend: Decodable, Equatable, Sendable {
    let id: Int
    let name: String
    let email: String?
}

/// A friend to be.
struct NewFriend: Encodable, Equatable, Sendable {
    let name: String
}
