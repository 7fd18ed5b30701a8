import Switchboard
import SwitchboardCalls

/// A screen whose user taps one group after the other. It shows the last group, in whichever order the responses
/// arrive.
@MainActor final class GroupScreen {
    private let service: FriendsService
    private let latest = LatestCall<[Friend]>()
    private(set) var shown: [Friend] = []

    init(service: FriendsService) {
        self.service = service
    }

    /// Loads a group and shows it.
    ///
    /// - Throws: `CancellationError` if another group was opened meanwhile. The screen then ignores this one.
    func open(_ group: String) async throws {
        shown = try await latest.value { [service] in
            try await service.group(group)
        }
    }
}
