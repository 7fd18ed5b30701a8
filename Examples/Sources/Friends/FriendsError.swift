import Foundation
import Switchboard

/// Why the friends' server says no, in its own words.
enum FriendsError: LocalizedError, Equatable {
    /// Nobody is signed in, or the token is worth nothing.
    case notSignedIn(String)
    /// What was asked for cannot be.
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

    /// Nil for an error that the server did not explain: it may be the network's.
    init?(_ error: NetworkError) {
        guard let body = try? error.decode(Body.self) else { return nil }
        self = error.status == 401 ? .notSignedIn(body.message) : .refused(body.message)
    }
}
