import ExampleKit
import Switchboard

/// Runs the steps of the article about a service of friends in sequence.
struct Tour {
    let service: FriendsService
    let counter: RequestCounter

    func text() async throws -> String {
        """
        The friends of user 1:
        \(Report.of(try await service.friends()))

        The list again, and anew:
        from the cache: \(try await sent { try await service.friends() })
        refreshed:      \(try await sent { try await service.friends(refreshing: true) })

        One more, one less:
        \(Report.of("added", try await service.add("Hugo Pike")))
        \(try await removed(3))
        \(Report.names(try await service.friends()))

        Two groups, the first of them given up for the second:
        \(try await groups())

        What the server refuses:
        \(try await refusal { _ = try await service.add("Hugo Pike") })
        \(try await refusal { try await service.remove(99) })
        """
    }

    /// Returns how many requests a call sent.
    private func sent(_ call: () async throws -> [Friend]) async throws -> String {
        let before = counter.count
        let friends = try await call()
        return "\(counted(friends.count, "friend")), \(counted(counter.count - before, "request"))"
    }

    private func removed(_ id: Int) async throws -> String {
        try await service.remove(id)
        return "removed \(id)"
    }

    private func refusal(_ call: () async throws -> Void) async throws -> String {
        do {
            try await call()
            return "nothing"
        } catch let error as FriendsError {
            return (error.errorDescription ?? "").onOneLine
        }
    }

    @MainActor private func groups() async throws -> String {
        let screen = GroupScreen(service: service)
        // The main actor runs both taps in sequence, before any response arrives.
        let first = Task { try await screen.open("chess") }
        let second = Task { try await screen.open("tea & cake") }
        try await second.value
        let verdict: String
        do {
            try await first.value
            verdict = "shown"
        } catch is CancellationError {
            verdict = "given up"
        }
        return "chess: \(verdict)\ntea & cake: \(Report.names(screen.shown))"
    }
}
