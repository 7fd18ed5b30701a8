import SwitchboardCache
import ExampleSupport
import Foundation
import Switchboard
import SwitchboardTesting
import Testing

@testable import Friends

/// Cancellation of the previous call, over a server that never answers the first one.
@Suite(.timeLimit(.minutes(10)))
struct GroupScreenTests {
    @Test(
        "opening a group cancels the previous load and shows only the new one",
        .requirement("S1.10", "S1.12"))
    @MainActor func previousIsCancelled() async throws {
        try await MockServer.run { server in
            server.enqueue(.stall, .json(#"[{"id":2,"name":"Bob"}]"#))
            let cache = ResponseCache()
            let manager = NetworkManager.friends(
                at: server.url, of: 1, token: "t", cache: cache, session: DefaultSession.make())
            let screen = GroupScreen(service: FriendsService(manager: manager, cache: cache))

            let first = Task { try await screen.open("chess") }
            let stalled = try await server.takeRequest()
            #expect(stalled.path == "/api/groups/chess")
            try await screen.open("tea")

            await #expect(throws: CancellationError.self) { try await first.value }
            #expect(screen.shown == [Friend(id: 2, name: "Bob", email: nil)])
            try await server.waitForDisconnect(of: stalled.connection)
        }
    }
}
