import Foundation

/// A user in a list.
struct User: Decodable, Equatable, Sendable {
    let id: Int
    let email: String
    let firstName: String
    let lastName: String
    /// The URL of the picture.
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

/// The response for one user, which the server wraps in `data`.
struct UserDetails: Decodable, Equatable, Sendable {
    let data: User
}

/// A user to add.
struct NewUser: Encodable, Equatable, Sendable {
    let name: String
    let job: String
}

/// An added user.
struct AddedUser: Decodable, Equatable, Sendable {
    let id: String
    let name: String
    let job: String
    let createdAt: Date
}
