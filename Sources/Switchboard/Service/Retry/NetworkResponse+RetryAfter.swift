import SwitchboardPlatform
import Foundation
import SwitchboardText

extension NetworkResponse {
    /// Returns the wait that the server requests. A time in the past is a wait of zero. Nil when the response has no
    /// valid field of these:
    ///
    /// - `Retry-After`, in seconds or as a date ([RFC 9110
    ///   §10.2.3](https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3)).
    /// - Only with 429 and 503, and only when no quota remains or the quota is not given
    ///   ([draft-ietf-httpapi-ratelimit-headers](https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/)):
    ///   `RateLimit` with `t` or `reset`, and `X-RateLimit-Reset-After`, in seconds from now. Also `RateLimit-Reset`,
    ///   `X-RateLimit-Reset` or `X-Rate-Limit-Reset`, which servers send in different units: a value below 10^9
    ///   counts as seconds from now, below 10^12 as seconds since 1970, and any other as milliseconds since 1970.
    ///
    /// - Parameter now: The current date, for a response without a `Date`.
    /// - Returns: The wait.
    public func retryAfter(now: Date = Date()) -> Duration? {
        // A stored response is older than its Date by its Age.
        let age = headers["Age"].flatMap { UInt32($0) } ?? 0
        let now = headers["Date"].flatMap { HTTPDate.parse($0, now: now) }?.addingTimeInterval(Double(age)) ?? now
        if let wait = headers["Retry-After"].flatMap({ Self.wait($0, now) }) { return wait }
        guard statusCode == 429 || statusCode == 503 else { return nil }
        if let wait = headers["RateLimit"].flatMap(Self.rateLimitWait) { return wait }
        let remaining = ["RateLimit", "X-RateLimit", "X-Rate-Limit"].lazy.compactMap { headers["\($0)-Remaining"] }
        guard remaining.first.map({ Self.number($0) == 0 }) ?? true else { return nil }
        for name in ["RateLimit-Reset", "X-RateLimit-Reset-After", "X-RateLimit-Reset", "X-Rate-Limit-Reset"] {
            guard let number = headers[name].flatMap(Self.number) else { continue }
            switch number {
            case ..<1e9: return Self.seconds(number)
            case ..<1e12: return Self.seconds(number - now.timeIntervalSince1970)
            default: return Self.seconds(number / 1_000 - now.timeIntervalSince1970)
            }
        }
        return nil
    }

    private static func wait(_ value: String, _ now: Date) -> Duration? {
        guard !value.isEmpty else { return nil }
        if value.utf8.allSatisfy(\.isDigit) {
            return .seconds(Int64(UInt32(value) ?? .max))
        }
        return HTTPDate.parse(value, now: now).map { seconds($0.timeIntervalSince(now)) }
    }

    /// Returns the wait in `"default";r=0;t=30`, or in `limit=100, remaining=0, reset=30` of earlier drafts. Of several
    /// limits, the longest wait of an exhausted one applies.
    private static func rateLimitWait(_ value: String) -> Duration? {
        let members = value.split(separator: ",").map { parameters($0.split(separator: ";")) }
        let exhausted = members.filter { $0["r"].map { $0 == 0 } ?? true }.compactMap { $0["t"] }
        if let longest = exhausted.max() { return seconds(longest) }
        let all = parameters(value.split(separator: ","))
        guard let reset = all["reset"], all["remaining"].map({ $0 == 0 }) ?? true else { return nil }
        return seconds(reset)
    }

    private static func parameters(_ items: [Substring]) -> [String: Double] {
        var parameters: [String: Double] = [:]
        for item in items {
            let parts = item.split(separator: "=", maxSplits: 1).map { String($0).trimmedOfBlanks }
            if parts.count == 2, let number = number(parts[1]) { parameters[parts[0]] = number }
        }
        return parameters
    }

    /// Parses digits with an optional fraction.
    private static func number(_ text: String) -> Double? {
        guard text.utf8.allSatisfy({ $0.isDigit || $0 == .dot }), let number = Double(text), number.isFinite else {
            return nil
        }
        return number
    }

    private static func seconds(_ seconds: Double) -> Duration {
        .seconds(max(0, min(seconds, Duration.century.seconds)))
    }
}
