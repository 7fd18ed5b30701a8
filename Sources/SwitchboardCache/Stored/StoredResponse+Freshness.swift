import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardText

extension StoredResponse {
    /// Returns the seconds since the lifetime ended, or nil for a fresh response. A clock that was set back ends the
    /// lifetime. An app's own lifetime is one of successes: the server's applies to all other statuses.
    func staleness(for options: RequestOptions, at now: Date) -> Double? {
        let over = secondsOver(for: options, at: now)
        return over < 0 ? nil : over
    }

    /// Returns the seconds since the lifetime ended. Negative for a fresh response.
    func secondsOver(for options: RequestOptions, at now: Date) -> Double {
        let stored = now.timeIntervalSince(date)
        let lifetime = isSuccess || options.cacheLifetime == .none ? options.cacheLifetime : .server
        let over: Double =
            switch lifetime {
            case .none: .infinity
            case .unlimited: -.infinity
            case .time(let time): stored - time.seconds
            case .server: ageBefore + stored - self.lifetime(for: options)
            }
        return stored < 0 && lifetime != .unlimited ? .infinity : over
    }

    private func lifetime(for options: RequestOptions) -> Double {
        if rules.control.isNoCache { return 0 }
        return rules.lifetime ?? (options.usesHeuristicFreshness ? rules.estimate : 0)
    }

    /// Returns the current age, as the `Age` field states it.
    func age(at now: Date) -> Duration {
        .seconds(ageSeconds(at: now))
    }

    func ageSeconds(at now: Date) -> Double { ageBefore + max(0, now.timeIntervalSince(date)) }

    /// Whether the server forbids answering with the stale response ([RFC 9111
    /// §4.2.4](https://www.rfc-editor.org/rfc/rfc9111#section-4.2.4)).
    var forbidsStale: Bool { rules.control.mustRevalidate || rules.control.isNoCache }

    /// Returns whether the stale response may answer because the server fails ([RFC 5861
    /// §4](https://www.rfc-editor.org/rfc/rfc5861#section-4)).
    func mayReplaceFailure(staleFor seconds: Double, _ request: NetworkRequest) -> Bool {
        guard status < 500 else { return false }
        if let own = request.options.staleIfError { return seconds <= own.seconds }
        guard !forbidsStale else { return false }
        let limit = CacheControl(request.headers).staleIfError ?? rules.control.staleIfError
        return limit.map { seconds <= $0 } ?? false
    }

    /// Returns the seconds for which the stale response may answer while it is revalidated ([RFC 5861
    /// §3](https://www.rfc-editor.org/rfc/rfc5861#section-3)). Nil when it may not.
    func window(for options: RequestOptions) -> Double? {
        if let own = options.staleWhileRevalidate { return isSuccess ? own.seconds : nil }
        return forbidsStale ? nil : rules.control.staleWhileRevalidate
    }

    /// Returns the age of a response on arrival: the larger of the time since its `Date`, and its `Age` plus the time
    /// in transit ([RFC 9111 §4.2.3](https://www.rfc-editor.org/rfc/rfc9111#section-4.2.3)).
    static func age(_ headers: HTTPHeaders, asked: Date, at now: Date) -> Double {
        // Reads the first member if the field has several ([RFC 9111
        // §5.1](https://www.rfc-editor.org/rfc/rfc9111#section-5.1)).
        let told = headers.listMembers(of: "Age").first.map(CacheControl.seconds) ?? 0
        let sent = headers.values(for: "Date").first.flatMap { HTTPDate.parse($0, now: now) }
        let apparent = sent.map { max(0, now.timeIntervalSince($0)) } ?? 0
        return max(apparent, told + max(0, now.timeIntervalSince(asked)))
    }
}
