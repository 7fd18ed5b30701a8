import SwitchboardPlatform

/// One exchange of a call, as ``NetworkResponse/history`` and ``NetworkError/history`` list them: a call has several when it
/// was retried, redirected, or sent again with new credentials.
public struct ExchangeRecord: Sendable {
    /// Which exchange of its call it was, from 1.
    public let number: Int
    /// The request as it was sent. Its URL and header fields may hold secrets; its texts do not.
    public let request: NetworkRequest
    /// Why it was sent, such as `retry after HTTP 503`, and which header fields were left out for another origin:
    /// `redirect to another origin, without Authorization`. Nil for the first.
    public let cause: String?
    /// When it began, counted from the start of the call.
    public let start: Duration
    /// From its beginning to its end, as the caller saw it.
    public let duration: Duration
    /// How it ended.
    public let outcome: Outcome
    /// What the session measured. Nil when there was no response.
    public var exchange: ExchangeMetrics? { outcome.isStatus ? measured?.value ?? ExchangeMetrics() : nil }
    let measured: CopyOnWrite<ExchangeMetrics>?

    /// How an exchange ended.
    public enum Outcome: Sendable, Hashable, CustomStringConvertible {
        /// With a response of this status.
        case status(Int)
        /// Without a response.
        case failure(NetworkError.Code)
        /// Cancelled.
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
    /// Number, request, outcome and duration in a line, without secrets.
    public var description: String {
        let cause = cause.map { " (\($0))" } ?? ""
        return "\(number). \(request) \(outcome), \(duration.millisecondsText)\(cause)"
    }

    /// Shows the line only, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension NetworkResponse {
    /// The exchanges of the call that led to this response, in the order in which they began; at most the first 100.
    /// Empty outside of a router, unless the session sent it twice.
    public var history: [ExchangeRecord] { request?.call?.history ?? [] }
}

extension NetworkError {
    /// The exchanges of the call that led to this error, in the order in which they began; at most the first 100. Empty
    /// when nothing was sent, and outside of a router, unless the session sent it twice.
    public var history: [ExchangeRecord] { request?.call?.history ?? [] }
}
