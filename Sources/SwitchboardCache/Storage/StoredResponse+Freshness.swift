import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardText

extension StoredResponse {
    /// Returns the seconds since the lifetime ended, or nil for a fresh response. A clock that was set back ends the
    /// lifetime. An app's own lifetime applies to successes, the server's to all other statuses.
    func staleness(for options: RequestOptions, at now: Date) -> Double? {
        let over = secondsSinceExpiry(for: options, at: now)
        return over < 0 ? nil : over
    }

    /// Returns the seconds since the lifetime ended. Negative for a fresh response.
    func secondsSinceExpiry(for options: RequestOptions, at now: Date) -> Double {
        let stored = now.timeIntervalSince(responseTime)
        let lifetime = isSuccess || options.cacheLifetime == .none ? options.cacheLifetime : .server
        let over: Double =
            switch lifetime {
            case .none: .infinity
            case .unlimited: -.infinity
            case .time(let time): stored - time.seconds
            case .server: initialAge + stored - self.lifetime(for: options)
            }
        return stored < 0 && lifetime != .unlimited ? .infinity : over
    }

    private func lifetime(for options: RequestOptions) -> Double {
        if rules.control.isNoCache { return 0 }
        return rules.lifetime ?? (options.usesHeuristicFreshness ? rules.heuristicLifetime : 0)
    }

    /// Returns the current age in seconds, at most 2^31 ([RFC 9111
    /// §1.2.2](https://www.rfc-editor.org/rfc/rfc9111#section-1.2.2)).
    func age(at now: Date) -> Double {
        min(initialAge + max(0, now.timeIntervalSince(responseTime)), CacheControl.longest)
    }

    /// Returns the current age in words, for the monitors.
    func ageText(at now: Date) -> String { "\(Int64(age(at: now))) s old" }

    /// Whether the server forbids answering with the stale response ([RFC 9111
    /// §4.2.4](https://www.rfc-editor.org/rfc/rfc9111#section-4.2.4)).
    var forbidsStale: Bool { rules.control.mustRevalidate || rules.control.isNoCache }

    /// Returns whether the response may answer because the server fails ([RFC 5861
    /// §4](https://www.rfc-editor.org/rfc/rfc5861#section-4)). A fresh one, whose validation the request asked for, is
    /// stale for 0 seconds.
    func mayReplaceFailure(staleFor seconds: Double, _ request: NetworkRequest) -> Bool {
        guard status < 500 else { return false }
        if let own = request.options.staleIfError { return seconds <= own.seconds }
        guard !forbidsStale else { return false }
        let limit = CacheControl(request.headers).staleIfError ?? rules.control.staleIfError
        return limit.map { seconds <= $0 } ?? false
    }

    /// Returns the seconds for which the stale response may answer while it is revalidated ([RFC 5861
    /// §3](https://www.rfc-editor.org/rfc/rfc5861#section-3)). Nil when it may not.
    func staleWhileRevalidate(for options: RequestOptions) -> Double? {
        if isSuccess, let own = options.staleWhileRevalidate { return own.seconds }
        return forbidsStale ? nil : rules.control.staleWhileRevalidate
    }

    /// Returns the age of a response on arrival: the larger of the time since its `Date`, and its `Age` plus the time
    /// in transit ([RFC 9111 §4.2.3](https://www.rfc-editor.org/rfc/rfc9111#section-4.2.3)).
    static func age(_ headers: HTTPHeaders, requestTime: Date, at now: Date) -> Double {
        // Reads the first member if the field has several ([RFC 9111
        // §5.1](https://www.rfc-editor.org/rfc/rfc9111#section-5.1)).
        let ageValue = headers.listMembers(of: "Age").first.map(CacheControl.seconds) ?? 0
        let sent = headers.values(for: "Date").first.flatMap { HTTPDate.parse($0, now: now) }
        let apparentAge = sent.map { max(0, now.timeIntervalSince($0)) } ?? 0
        return max(apparentAge, ageValue + max(0, now.timeIntervalSince(requestTime)))
    }
}
