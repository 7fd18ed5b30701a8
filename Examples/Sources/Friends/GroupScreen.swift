import Switchboard
import SwitchboardCalls

/// What a screen does whose user taps one group after the other: the last one is shown, whichever answer comes first.
@MainActor final class GroupScreen {
    private let service: FriendsService
    private let latest = LatestCall<[Friend]>()
    private(set) var shown: [Friend] = []

    init(service: FriendsService) {
        self.service = service
    }

    /// Loads a group and shows it.
    ///
    /// - Throws: `CancellationError` when another group was opened meanwhile: nothing is shown then.
    func open(_ group: String, whenStarted: @escaping @Sendable () -> Void = {}) async throws {
        shown = try await latest.value { [service] in
            whenStarted()
            return try await service.group(group)
        }
    }
}
