import SwitchboardCache
import ExampleKit
import ExampleSupport
import Foundation
import Switchboard
import SwitchboardTesting
import Testing

@testable import Friends

/// The service with the example's server over a real socket.
@Suite(.timeLimit(.minutes(10)))
struct FlowTests {
    private func withService(
        token: String = FriendsServer.token, _ body: (FriendsService, RequestCounter) async throws -> Void
    ) async throws {
        try await EmbeddedServer.run(FriendsServer().answer) { url in
            let (cache, counter) = (ResponseCache(), RequestCounter())
            let manager = NetworkManager.friends(
                at: url, of: 1, token: token, cache: cache, session: DefaultSession.make(), monitors: [counter])
            try await body(FriendsService(manager: manager, cache: cache), counter)
        }
    }

    @Test("lists, adds, removes and groups over a server that stores changes", .requirement("S1.12", "S1.14"))
    func flows() async throws {
        try await withService { service, counter in
            let before = try await service.friends()
            #expect(before.map(\.id) == [2, 3, 5, 8])
            #expect(before.map(\.email) == ["bruno@example.com", nil, "edda@example.com", nil])
            let again = try await service.friends()
            #expect(again == before)
            #expect(counter.count == 1)
            let added = try await service.add("Hugo Pike")
            #expect(added == Friend(id: 9, name: "Hugo Pike", email: nil))
            try await service.remove(3)
            let after = try await service.friends()
            #expect(after.map(\.id) == [2, 5, 8, 9])
            let group = try await service.group("tea & cake")
            #expect(group.map(\.id) == [2, 5])
        }
    }

    @Test(
        "reports a wrong token and refused requests in the server's words",
        .requirement("S1.8", "S1.7"))
    func refusals() async throws {
        try await withService(token: "wrong") { service, _ in
            await #expect(throws: FriendsError.notSignedIn("Sign in first.")) { try await service.friends() }
        }
        try await withService { service, _ in
            await #expect(throws: FriendsError.refused("Bruno Teal is your friend already.")) {
                try await service.add("Bruno Teal")
            }
            await #expect(throws: FriendsError.refused("You have no friend 99.")) { try await service.remove(99) }
            await #expect(throws: FriendsError.refused("You have no group a/b.")) { try await service.group("a/b") }
        }
    }
}
