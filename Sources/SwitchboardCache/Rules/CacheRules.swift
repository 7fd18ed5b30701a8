import SwitchboardText
import Foundation
import Switchboard

/// The rules that the header fields of a stored response state. They are read once, when the response is stored.
struct CacheRules: Sendable {
    let control: CacheControl
    /// The `Date` of the response, or the time when it arrived.
    let dateValue: Date
    /// The lifetime in seconds that the server states: 0 for an invalid one, negative for an `Expires` before the
    /// `Date`, nil for none.
    let lifetime: Double?
    /// The heuristic lifetime in seconds, for a response without a stated one. 0 where none is allowed.
    let heuristicLifetime: Double
    /// Whether the status and the fields allow storing the response at all ([RFC 9111
    /// §3](https://www.rfc-editor.org/rfc/rfc9111#section-3)).
    let allowsStoring: Bool

    /// Reads the fields of a response that arrived at `responseTime`.
    init(_ status: Int, _ headers: HTTPHeaders, at responseTime: Date) {
        control = CacheControl(headers)
        dateValue = headers.values(for: "Date").first.flatMap { HTTPDate.parse($0, now: responseTime) } ?? responseTime
        let expires = headers.values(for: "Expires")
        if let maxAge = control.maxAge {
            lifetime = maxAge
        } else if expires.isEmpty {
            lifetime = nil
        } else {
            // Several lines, or text that is not a date, count as expired ([RFC 9111
            // §5.3](https://www.rfc-editor.org/rfc/rfc9111#section-5.3)).
            let end = expires.count == 1 ? HTTPDate.parse(expires[0], now: responseTime) : nil
            lifetime = end?.timeIntervalSince(dateValue) ?? 0
        }
        let isHeuristic = Self.heuristicStatuses.contains(status) || control.isPublic
        let changed = headers.values(for: "Last-Modified")
        if lifetime == nil, isHeuristic, changed.count == 1, let changed = HTTPDate.parse(changed[0], now: responseTime)
        {
            heuristicLifetime = min(max(0, dateValue.timeIntervalSince(changed)) / 10, 86_400)
        } else {
            heuristicLifetime = 0
        }
        allowsStoring =
            Self.refusal(status, control) == nil && (lifetime != nil || isHeuristic || control.isPrivate)
    }

    /// The rules as numbers for the file, so that a hit need not parse the fields.
    var words: [UInt64] {
        control.words + [dateValue.timeIntervalSince1970, lifetime ?? .nan, heuristicLifetime].map(\.bitPattern)
            + [allowsStoring ? 1 : 0]
    }

    /// Reads ``words``.
    init(_ reader: inout CacheHeadReader) {
        control = CacheControl(&reader)
        dateValue = Date(timeIntervalSince1970: Double(bitPattern: reader.number()))
        lifetime = reader.seconds()
        heuristicLifetime = reader.seconds() ?? 0
        allowsStoring = reader.number() != 0
    }

    /// Returns why the status or `no-store` forbids storing, which `must-understand` overrides for a known status.
    static func refusal(_ status: Int, _ control: CacheControl) -> CacheRefusal? {
        if control.isNoStore, !control.mustUnderstand { return "its Cache-Control has no-store" }
        let isUnstorable =
            !(200..<600).contains(status) || unstorableStatuses.contains(status)
            || control.mustUnderstand && !knownStatuses.contains(status)
        return isUnstorable ? "no cache stores a \(status)" : nil
    }

    /// RFC 9110 §15.1, without the 206.
    private static let heuristicStatuses: Set<Int> = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]

    /// Partial content, answers to conditions and credentials, and the statuses of RFC 6585 that no cache may store.
    private static let unstorableStatuses: Set<Int> = [206, 304, 401, 407, 428, 429, 431, 511]

    /// The statuses of RFC 9110 §15.
    private static let knownStatuses = Set(
        [200...205, 300...303, 307...308, 400...417, 421...422, 426...426, 500...505]
            .joined()
    ).subtracting(unstorableStatuses)
}
