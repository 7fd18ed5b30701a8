import SwitchboardPlatform
import Foundation

/// One exchange of a call, as listed in ``NetworkResponse/history`` and ``NetworkError/history``. A call has several if
/// it was retried, redirected or sent again with new credentials.
public struct ExchangeRecord: Sendable {
    /// The number of the exchange in its call, from 1.
    public let number: Int
    /// The request as it was sent. Its URL and header fields may contain secrets; its descriptions do not.
    public let request: NetworkRequest
    /// The cause of the exchange, such as `retry after HTTP 503`. It also names header fields that were removed for
    /// another origin: `redirect to another origin, without Authorization`. Nil for a first exchange that no sign-in
    /// preceded.
    public let cause: String?
    /// The time from the start of the call to the start of the exchange.
    public let start: Duration
    /// The duration of the exchange, as the caller measured it.
    public let duration: Duration
    /// The result of the exchange.
    public let outcome: Outcome
    /// The session's measurements. Nil without a response.
    public var metrics: ExchangeMetrics? { outcome.isStatus ? measured?.value ?? ExchangeMetrics() : nil }
    let measured: CopyOnWrite<ExchangeMetrics>?
    package var isOffline = false

    /// The result of an exchange.
    public enum Outcome: Sendable, Hashable, CustomStringConvertible {
        /// A response with this status.
        case status(Int)
        /// A failure without a complete response.
        case failure(NetworkError.Code)
        /// A cancellation.
        case cancelled

        package var isStatus: Bool {
            if case .status = self { true } else { false }
        }

        /// `HTTP 503`, `timedOut` or `cancelled`.
        public var description: String {
            switch self {
            case .status(let status): "HTTP \(status)"
            case .failure(let code): code.description
            case .cancelled: "cancelled"
            }
        }
    }
}

extension ExchangeRecord: DumpedAsDescription {
    /// Number, request, outcome and duration in one line, without secrets.
    public var description: String {
        let cause = cause.map { " (\($0))" } ?? ""
        return "\(number). \(request) \(outcome), \(duration.millisecondsText)\(cause)"
    }
}

extension NetworkResponse {
    /// The exchanges of the call that led to this response, in the order in which they started, up to the first 100.
    /// Empty outside of a router, unless the session sent the request twice.
    public var history: [ExchangeRecord] { request?.call?.history ?? [] }
}

extension NetworkError {
    /// The exchanges of the call that led to this error, in the order in which they started, up to the first 100. Empty
    /// when nothing was sent, and outside of a router, unless the session sent the request twice.
    public var history: [ExchangeRecord] { request?.call?.history ?? [] }
}

/// The measurements of one exchange. A value that the session cannot measure is nil. ``FoundationSession`` measures
/// only ``start``, ``duration``, ``timeToFirstByte`` and ``bytesReceived``.
public struct ExchangeMetrics: Sendable, Hashable {
    /// The time when the session received the exchange.
    public var start: Date?
    /// The time from the start to the last byte.
    public var duration: Duration?
    /// The time from the start to the head of the final response.
    public var timeToFirstByte: Duration?
    /// The size of the response body in bytes, after decompression.
    public var bytesReceived: Int64 = 0
    /// The number of bytes of the request body that were sent.
    public var bytesSent: Int64?
    /// The protocol, such as `HTTP/1.1`. Nil with ``FoundationSession``.
    public var protocolVersion: String?
    /// Whether the exchange reused a connection. Nil with ``FoundationSession``.
    public var isReusedConnection: Bool?
    /// The address and port of the other end, or of the proxy if one is used: `127.0.0.1:8080`, `[::1]:443`.
    public var remoteAddress: String?
    /// The time that the exchange waited for the session and for a free connection.
    public var queue: Duration?
    /// The time to resolve the host name. Zero on a reused connection.
    public var nameLookup: Duration?
    /// The time to open the connection, without name lookup and TLS. Zero on a reused connection.
    public var connect: Duration?
    /// The time for the TLS handshake. Nil on a plain connection, zero on a reused one.
    public var secureConnect: Duration?

    /// Creates empty metrics.
    public init() {}
}

extension NetworkResponse {
    /// The exchanges of the call as lines of text with bars on a common time axis. See ``history``.
    public var waterfall: String { history.waterfall }
}

extension NetworkError {
    /// The exchanges of the call as lines of text with bars on a common time axis. See ``history``.
    public var waterfall: String { history.waterfall }
}

extension [ExchangeRecord] {
    /// The exchanges as lines of text, without secrets. The length of each bar is the share of the total time. Below
    /// each line are the phases that the session measured:
    ///
    /// ```
    /// 1 GET https://api.example.com/a  HTTP 503   12 ms |###                 |
    /// 2 GET https://api.example.com/a  HTTP 200   31 ms |            ########|  retry after HTTP 503
    ///   connect 1 ms, first byte 30 ms, 17 bytes
    /// ```
    package var waterfall: String {
        let width = 40
        guard let end = map({ $0.start + $0.duration }).max() else { return "nothing was sent" }
        let names = map { "\($0.number) \($0.request)" }
        let outcomes = map { $0.outcome.description }
        let times = map { $0.duration.millisecondsText }
        let columns = [names, outcomes, times].map { $0.map(\.count).max() ?? 0 }
        func column(_ time: Duration) -> Int {
            end > .zero ? Swift.min(width, Int((time / end * Double(width)).rounded(.down))) : 0
        }
        var lines: [String] = []
        for (index, record) in enumerated() {
            let from = Swift.min(column(record.start), width - 1)
            let to = Swift.max(from + 1, column(record.start + record.duration))
            let bar = String(repeating: " ", count: from) + String(repeating: "#", count: to - from)
            let line =
                names[index].padded(to: columns[0]) + "  " + outcomes[index].padded(to: columns[1]) + "  "
                + String(repeating: " ", count: columns[2] - times[index].count) + times[index]
                + " |" + bar.padded(to: width) + "|" + (record.cause.map { "  \($0)" } ?? "")
            lines.append(line)
            if let phases = record.metrics?.phases { lines.append("  \(phases)") }
        }
        return lines.joined(separator: "\n")
    }
}

extension ExchangeMetrics {
    /// The measurements in words, or nil if no phase was measured.
    var phases: String? {
        let phases = [
            ("queue", queue), ("name", nameLookup), ("connect", connect), ("TLS", secureConnect),
            ("first byte", timeToFirstByte),
        ].compactMap { name, time in time.map { "\(name) \($0.millisecondsText)" } }
        guard !phases.isEmpty else { return nil }
        let reused = isReusedConnection == true ? ["connection reused"] : []
        return (phases + reused + ["\(bytesReceived) bytes"]).joined(separator: ", ")
    }
}

extension String {
    fileprivate func padded(to count: Int) -> String {
        self + String(repeating: " ", count: Swift.max(0, count - self.count))
    }
}
