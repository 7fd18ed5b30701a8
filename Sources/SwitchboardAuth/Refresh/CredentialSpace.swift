import SwitchboardPlatform
import Foundation
import Switchboard

/// What is known of the credential of one partition.
struct CredentialSpace<Credential: Sendable>: Sendable {
    var held: HeldCredential<Credential>?
    /// Whether what was saved has been looked for.
    var isLoaded = false
    /// Whether a server has refused it to a request that could not be sent again.
    var isRefused = false
    /// The refresh under way.
    var renewal: SharedCall<HeldCredential<Credential>>?
    /// When it was refreshed lately.
    var refreshes: [Date] = []
    /// How many refreshes failed, and how the last one did.
    var failures = 0
    var failure: NetworkError?

    /// Whether one more refresh is one too many.
    func isExcessive(at date: Date, _ limit: RefreshLimit) -> Bool {
        recent(date, limit).count >= limit.count
    }

    mutating func noteRefresh(at date: Date, _ limit: RefreshLimit) {
        refreshes = recent(date, limit).suffix(max(0, limit.count)) + [date]
    }

    private func recent(_ date: Date, _ limit: RefreshLimit) -> [Date] {
        let window = limit.window.seconds
        return refreshes.filter { (0..<window).contains(date.timeIntervalSince($0)) }
    }
}
