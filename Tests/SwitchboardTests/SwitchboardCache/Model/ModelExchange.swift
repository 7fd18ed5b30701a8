import Foundation

/// The record of one exchange at the origin.
struct ModelExchange: Sendable {
    /// The number of the exchange, which its field `X-Serial` carries.
    let serial: Int
    /// The number of the call that sent it.
    let call: Int
    let method: String
    /// Whether the request had `If-None-Match` or `If-Modified-Since`.
    let isConditional: Bool
    /// The status, or nil when nothing was answered.
    let status: Int?
    let fields: ModelFields
    /// The version of the content, whose number the body carries. For a 304, the confirmed one.
    let version: Int
    /// The times on the clock when the request was sent and when the answer arrived.
    let sent: Double
    let arrived: Double
    /// The moments, in the order of all events of the run.
    let begin: Int
    let end: Int

    /// Whether the server failed, so that `stale-if-error` applies (RFC 5861 §4).
    var isFailure: Bool { status.map { [500, 502, 503, 504].contains($0) } ?? true }
}

extension ModelExchange: CustomStringConvertible {
    var description: String {
        let all = fields.lines.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.joined(separator: " | "))" }
        let time = "\(sent - ModelOrigin.start)-\(arrived - ModelOrigin.start) s"
        return "  exchange \(serial) of #\(call) at \(time): \(method)\(isConditional ? " if changed" : "") -> "
            + "\(status.map { "\($0)" } ?? "no answer") version \(version) {\(all.joined(separator: "; "))}"
    }
}
