import ExampleKit
import Foundation
import Switchboard
import SwitchboardMocks

/// A server of friends with one user and one token.
///
/// Answers `GET` and `POST /api/friends`, `DELETE /api/friends/2` and `GET /api/groups/chess`. Each request carries a
/// `user_id` in its body, or in the query if it has no body. A refused request receives a reason:
/// `{"message": "You have no friend 99."}`.
nonisolated final class FriendsServer: Sendable {
    /// The only token that the server accepts.
    static let token = "demo-token"

    private struct Refusal: Error {
        let status: Int
        let message: String
    }

    private let records = Memory(FriendRecord.all)

    @Sendable func answer(_ request: RecordedRequest) throws -> MockResponse {
        do {
            guard request.headers["Authorization"] == "Bearer \(Self.token)" else {
                throw Refusal(status: 401, message: "Sign in first.")
            }
            let body = try? request.decode(FriendChange.self)
            guard request.queryValue("user_id") == "1" || body?.userId == 1 else {
                throw Refusal(status: 400, message: "Whose friends?")
            }
            return try records.use { try Self.answer(request, body, from: &$0) }
        } catch let refusal as Refusal {
            return try .record(["message": refusal.message], status: refusal.status)
        }
    }

    private static func answer(
        _ request: RecordedRequest, _ body: FriendChange?, from records: inout [FriendRecord]
    ) throws -> MockResponse {
        let segments = request.segments
        switch (request.method, segments.prefix(2).joined(separator: "/"), segments.count) {
        case (.get, "api/friends", 2):
            return try .record(records)
        case (.post, "api/friends", 2):
            guard let name = body?.name else { throw Refusal(status: 400, message: "A friend needs a name.") }
            guard !records.contains(where: { $0.name == name }) else {
                throw Refusal(status: 409, message: "\(name) is your friend already.")
            }
            let friend = FriendRecord(id: (records.map(\.id).max() ?? 1) + 1, name: name)
            records.append(friend)
            return try .record(friend, status: 201)
        case (.delete, "api/friends", 3):
            guard let index = records.firstIndex(where: { "\($0.id)" == segments[2] }) else {
                throw Refusal(status: 404, message: "You have no friend \(segments[2]).")
            }
            records.remove(at: index)
            return .status(204)
        case (.get, "api/groups", 3):
            let friends = records.filter { $0.groups.contains(segments[2]) }
            guard !friends.isEmpty else { throw Refusal(status: 404, message: "You have no group \(segments[2]).") }
            return try .record(friends)
        default: throw Refusal(status: 404, message: "There is nothing here.")
        }
    }
}
