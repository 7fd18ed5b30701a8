import SwitchboardPlatform

/// One exchange of a call, as listed in ``NetworkResponse/history`` and ``NetworkError/history``. A call has several if
/// it was retried, redirected or sent again with new credentials.
public struct ExchangeRecord: Sendable {
    /// The number of the exchange in its call, from 1.
    public let number: Int
    /// The request as it was sent. Its URL and header fields may contain secrets; its descriptions do not.
    public let request: NetworkRequest
    /// The cause of the exchange, such as `retry after HTTP 503`. It also names header fields that were removed for
    /// another origin: `redirect to another origin, without Authorization`. Nil for the first exchange.
    public let cause: String?
    /// The time from the start of the call to the start of the exchange.
    public let start: Duration
    /// The duration of the exchange, as the caller measured it.
    public let duration: Duration
    /// The result of the exchange.
    public let outcome: Outcome
    /// The session's measurements. Nil without a response.
    public var exchange: ExchangeMetrics? { outcome.isStatus ? measured?.value ?? ExchangeMetrics() : nil }
    let measured: CopyOnWrite<ExchangeMetrics>?

    /// The result of an exchange.
    public enum Outcome: Sendable, Hashable, CustomStringConvertible {
        /// A response with this status.
        case status(Int)
        /// A failure without a response.
        case failure(NetworkError.Code)
        /// A cancellation.
        case cancelled

        fileprivate var isStatus: Bool {
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

extension ExchangeRecord: CustomStringConvertible, CustomReflectable {
    /// Number, request, outcome and duration in one line, without secrets.
    public var description: String {
        let cause = cause.map { " (\($0))" } ?? ""
        return "\(number). \(request) \(outcome), \(duration.millisecondsText)\(cause)"
    }

    /// A mirror with only the line, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
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
