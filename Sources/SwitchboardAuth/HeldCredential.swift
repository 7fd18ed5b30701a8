import Foundation
import Switchboard

/// A credential in use.
struct HeldCredential<Credential: Sendable>: Sendable {
    let credential: Credential
    /// Counts the credentials of an interceptor, from 1.
    let generation: Int
    /// How long before its end it is refreshed; nil for not before a server refuses it, because it came with its end
    /// in sight.
    let leeway: Duration?
    /// Whether it is new, and not one that was saved or given.
    var isRefreshed = false
}

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

/// How often a credential may be refreshed, so that a server which refuses every new one is not asked for ever.
public struct RefreshLimit: Sendable, Hashable {
    /// The most refreshes within ``window``; at least 1.
    public var count: Int
    /// The time that is looked back.
    public var window: Duration

    /// Makes a limit. By default five in thirty seconds.
    public init(count: Int = 5, within window: Duration = .seconds(30)) {
        self.count = max(1, count)
        self.window = window
    }
}
