import Foundation

/// One user, as every list has it.
struct User: Decodable, Equatable, Sendable {
    let id: Int
    let email: String
    let firstName: String
    let lastName: String
    /// Where the picture is.
    let avatar: URL

    var name: String { "\(firstName) \(lastName)" }
}

/// A page of the list of users.
struct UserPage: Decodable, Equatable, Sendable {
    let page: Int
    let totalPages: Int
    let total: Int
    let data: [User]
}

/// One user by itself: the server wraps it.
struct UserDetails: Decodable, Equatable, Sendable {
    let data: User
}

/// A user to be added.
struct NewUser: Encodable, Equatable, Sendable {
    let name: String
    let job: String
}

/// A user who was added.
struct AddedUser: Decodable, Equatable, Sendable {
    let id: String
    let name: String
    let job: String
    let createdAt: Date
}
