import SwitchboardPlatform
@testable import SwitchboardAuth
import Foundation
import SwitchboardTesting

import SwitchboardTestSupport
@testable import Switchboard

/// A credential identified by its number.
struct Key: Sendable, Hashable {
    var number: Int
    var end: Date?
}

/// Sets `Authorization: Key <number>`, and makes keys with a closure.
final class KeyAuthenticator: Authenticator {
    /// The number of the key at the beginning of each refresh, or nil without a key.
    let refreshes = Deliveries<Int?>()
    /// The saved keys with their partitions, in order, with nil for removals.
    let saved = Deliveries<Pair>()
    let resets = Deliveries<Bool>()
    private let stored: [String?: Key]
    private let make: @Sendable (Key?, String?) async throws -> Key

    struct Pair: Sendable, Hashable {
        var partition: String?
        var number: Int?
    }

    init(
        stored: [String?: Key] = [nil: Key(number: 1)],
        _ make: @escaping @Sendable (Key?, String?) async throws -> Key = { old, _ in
            Key(number: (old?.number ?? 0) + 1)
        }
    ) {
        self.stored = stored
        self.make = make
    }

    func apply(_ credential: Key, to request: inout NetworkRequest) {
        request.headers["Authorization"] = "Key \(credential.number)"
    }

    func refresh(_ credential: Key?, in partition: String?) async throws -> Key {
        refreshes.add(credential?.number)
        return try await make(credential, partition)
    }

    func needsRefresh(_ credential: Key, at date: Date) -> Bool { credential.end.map { $0 <= date } ?? false }
    func load(in partition: String?) async throws -> Key? { stored[partition] }

    func save(_ credential: Key?, in partition: String?) async throws {
        saved.add(Pair(partition: partition, number: credential?.number))
    }

    func reset() async { resets.add(true) }
}

/// Answers `ok` to one key, and 401 to others.
struct KeyServer: Sendable {
    let valid: Deliveries<Int>
    /// The refused keys.
    let refused = Deliveries<String>()

    /// The number of requests to refuse before the first refusal is sent.
    private let together: Int

    init(_ number: Int, refusing together: Int = 1) {
        self.together = together
        valid = Deliveries()
        valid.add(number)
    }

    func answer(_ headers: HTTPHeaders) async throws -> MockResponse {
        if headers["Authorization"] == "Key \(valid.all.last ?? 0)" { return .text("ok") }
        refused.add(headers["Authorization"] ?? "none")
        _ = try await refused.wait(for: together)
        return .status(401)
    }

    var session: StubSession { StubSession { request in try await answer(request.headers) } }
}

extension StubSession {
    /// The `Authorization` of each request so far.
    var authorizations: [String?] { requests.map { $0.headers["Authorization"] } }
}

extension OAuth2Client {
    /// Creates a client whose authorization server is a session.
    init(_ session: any NetworkSession) {
        self.init(id: "app", tokenURL: URL(text: "https://login.example.com/token"), session: session)
    }
}

extension MockResponse {
    /// The refusal of a refresh token that is expired or revoked.
    static let invalidGrant = MockResponse.json(#"{"error":"invalid_grant"}"#, statusCode: 400)

    /// A token of an authorization server.
    static func token(_ access: String, _ refresh: String) -> MockResponse {
        .json(#"{"access_token":"\#(access)","token_type":"bearer","refresh_token":"\#(refresh)"}"#)
    }
}
