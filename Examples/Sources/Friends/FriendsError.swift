import Foundation
import Switchboard

/// A refusal of the friends' server, with the server's message.
enum FriendsError: LocalizedError, Equatable {
    /// No user is signed in, or the token is invalid.
    case notSignedIn(String)
    /// The server refused the request for another reason.
    case refused(String)

    var errorDescription: String? {
        switch self {
        case .notSignedIn(let message), .refused(let message): message
        }
    }

    /// The body of an error: `{"message": "You have no friend 99."}`
    private struct Body: Decodable {
        let message: String
    }

    /// Creates an error from the server's message. Nil if the response has none or no response arrived.
    init?(_ error: NetworkError) {
        guard let body = try? error.decode(Body.self) else { return nil }
        self = error.statusCode == 401 ? .notSignedIn(body.message) : .refused(body.message)
    }
}
