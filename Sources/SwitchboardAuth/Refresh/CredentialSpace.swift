import SwitchboardPlatform
import Foundation
import Switchboard

/// The state of the credential of one partition.
struct CredentialSpace<Credential: Sendable>: Sendable {
    var held: HeldCredential<Credential>?
    /// Whether the saved credential was loaded.
    var isLoaded = false
    /// Whether a server has refused the credential to a request that could not be sent again.
    var isRefused = false
    /// The refresh in flight.
    var renewal: SharedCall<HeldCredential<Credential>>?
    /// The dates of recent refreshes.
    var refreshes: [Date] = []
    /// The number of failed refreshes. `failure` is the error of the last one.
    var failures = 0
    var failure: NetworkError?

    /// Returns whether the refresh limit is reached.
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
