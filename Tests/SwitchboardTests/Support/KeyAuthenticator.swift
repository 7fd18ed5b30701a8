import SwitchboardPlatform
@testable import SwitchboardAuth
import Foundation
import SwitchboardTesting

@testable import Switchboard

/// A credential whose number tells it from others.
struct Key: Sendable, Hashable {
    var number: Int
    var end: Date?
}

/// Writes `Authorization: Key <number>`, and makes keys by a closure.
final class KeyAuthenticator: Authenticator {
    /// The numbers of the keys that were to be refreshed, as each refresh began; nil without a key.
    let refreshes = Deliveries<Int?>()
    /// The keys that were saved by partition, in order; nil for removals.
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
    /// The keys that were refused.
    let refused = Deliveries<String>()

    /// How many must be refused before the first of them hears of it.
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

/// Moves by hand.
final class TestDate: Sendable {
    private let state: Protected<Date>

    init(_ date: Date = Date(timeIntervalSince1970: 1_000_000)) {
        state = Protected(date)
    }

    var now: Date { state.value }

    func advance(by seconds: TimeInterval) { state.withLock { $0 += seconds } }
}
