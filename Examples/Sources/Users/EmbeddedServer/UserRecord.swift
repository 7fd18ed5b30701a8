import ExampleKit
import Foundation
import Switchboard
import SwitchboardMocks

// The server's records. The client has separate types, so the tests compare both sides with the JSON and not with each
// other.

/// A user in the server's JSON.
nonisolated struct UserRecord: Encodable, Sendable {
    let id: Int
    let email: String
    let firstName: String
    let lastName: String
    let avatar: String

    /// Returns the users. The URLs of their pictures use the request's host.
    static func all(for request: RecordedRequest) -> [UserRecord] {
        let host = request.headers["Host"] ?? ""
        return names.enumerated().map { index, name in
            let words = name.split(separator: " ").map(String.init)
            return UserRecord(
                id: index + 1, email: words.joined(separator: ".").lowercased() + "@example.com", firstName: words[0],
                lastName: words[1], avatar: "http://\(host)/img/faces/\(index + 1).bmp")
        }
    }

    private static let names = [
        "Ada Marsh", "Bruno Teal", "Clara Finch", "Dario Wren", "Edda Stone", "Felix Moss", "Greta Lark", "Hugo Pike",
        "Ines Vale", "Jonas Reed", "Karin Frost", "Leon Birch",
    ]
}

/// A page of users.
nonisolated struct UserPageRecord: Encodable, Sendable {
    let page: Int
    let perPage: Int
    let total: Int
    let totalPages: Int
    let data: [UserRecord]
}

/// The pictures: a different gradient for each user.
nonisolated enum Avatar {
    static let size = 128

    static func bytes(of id: Int) -> Data {
        Bitmap.bytes(width: size, height: size) { column, row in
            ((column + id * 41) % 256, (row + id * 17) % 256, (column + row + id * 29) % 256)
        }
    }
}
