/// A friend of the user.
struct Friend: Decodable, Equatable, Sendable {
    let id: Int
    let name: String
    let email: String?
}

/// A friend to add.
struct NewFriend: Encodable, Equatable, Sendable {
    let name: String
}
