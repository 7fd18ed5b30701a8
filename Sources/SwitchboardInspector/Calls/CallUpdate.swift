import Foundation
import Switchboard
import SwitchboardHAR

/// An event of a call without references to the app's objects. The caller's thread makes it before it takes the lock.
struct CallUpdate: Sendable {
    /// The end of an exchange, or the answer of a cache.
    struct ExchangeEnd: Sendable {
        let end: InspectedExchange.End
        let response: ReceivedResponse?
        let isStub: Bool
    }

    enum Change: Sendable {
        case none
        case retry
        indirect case cache(CallEvent.CacheRole?, (request: SentRequest, ExchangeEnd)?)
        case exchangeStarted(number: Int, SentRequest)
        indirect case exchangeEnded(number: Int, ExchangeEnd)
        case ended(InspectedCall.State, status: Int?, InspectedCall.Failure?)
    }

    let at: Duration
    let kind: String
    let text: String
    let change: Change

    init(_ event: CallEvent, _ limits: CallLimits) {
        at = event.elapsed
        var text: String?
        switch event.kind {
        case .started: (kind, change) = ("started", .none)
        case .waiting: (kind, change) = ("waiting", .none)
        case .resumed: (kind, change) = ("resumed", .none)
        case .cache(let result):
            let answer = event.response.map { response in
                let end = ExchangeEnd(.zero, .status(response.statusCode), cause: result, nil, response, limits)
                return (request: SentRequest(event.request, limits), end)
            }
            (kind, change) = ("cache", .cache(event.cacheRole, answer))
        case .exchangeStarted(let number):
            (kind, change) = ("exchange", .exchangeStarted(number: number, SentRequest(event.request, limits)))
        case .exchangeEnded(let record, let response):
            let end = ExchangeEnd(
                record.duration, record.outcome, cause: record.cause.map { $0.spellingOutCode }, record.metrics,
                response ?? event.response, limits)
            (kind, change) = ("exchanged", .exchangeEnded(number: record.number, end))
        case .retry(let wait, let cause):
            (kind, change) = ("retry", .retry)
            text = CallEvent.Kind.retry(after: wait, because: cause.spellingOutCode).description
        case .redirect: (kind, change) = ("redirect", .none)
        case .authentication: (kind, change) = ("authentication", .none)
        case .note: (kind, change) = ("note", .none)
        case .finished(let status): (kind, change) = ("finished", .ended(.finished, status: status, nil))
        case .failed(let error):
            let failure = InspectedCall.Failure(summary: error.summary, text: error.description)
            (kind, change) = ("failed", .ended(.failed, status: error.statusCode, failure))
            text = "failed: \(failure.summary)"
        case .cancelled:
            (kind, change) = ("cancelled", .ended(.cancelled, status: nil, nil))
            text = "canceled"
        }
        self.text = text ?? event.kind.description
    }
}

extension CallUpdate {
    var isFirst: Bool { kind == "started" }

    var isLast: Bool {
        if case .ended = change { true } else { false }
    }

    /// Whether the event adds a request or a response, which may contain secrets.
    var hasSecrets: Bool {
        switch change {
        case .exchangeStarted, .exchangeEnded, .cache(_, _?): true
        default: isFirst
        }
    }
}

extension CallUpdate.ExchangeEnd {
    fileprivate init(
        _ duration: Duration, _ outcome: ExchangeRecord.Outcome, cause: String?, _ metrics: ExchangeMetrics?,
        _ response: NetworkResponse?, _ limits: CallLimits
    ) {
        isStub = response?.isStub ?? false
        let response = response?.statusCode == 0 ? nil : response
        let omission: String? =
            if response?.stream != nil {
                "a stream"
            } else if response?.fileURL != nil {
                "in a file"
            } else {
                (response?.body.count ?? 0) > limits.bodySize ? limits.omission : nil
            }
        end = InspectedExchange.End(
            duration: duration, outcome: outcome, status: response?.statusCode, cause: cause, metrics: metrics,
            type: response?.headers.contentType, bodySize: response?.recordedBodySize, omittedBody: omission)
        self.response = response.map {
            ReceivedResponse(
                status: $0.statusCode, headers: $0.headers, body: omission == nil ? $0.body : Data(),
                trailers: $0.trailers)
        }
    }
}

extension NetworkError.Code {
    /// Whether the code has a name in the package.
    var isKnown: Bool { title != rawValue }
}

extension String {
    /// The text with words in place of a code at its end: `retry after timedOut`.
    fileprivate var spellingOutCode: String {
        guard let last = split(separator: " ").last else { return self }
        let code = NetworkError.Code(rawValue: String(last))
        return code.isKnown ? String(dropLast(last.count)) + code.title.loweringFirst : self
    }

    private var loweringFirst: String { prefix(1).lowercased() + dropFirst() }
}

extension CallLimits {
    /// The reason why a body above the limit is not stored.
    var omission: String { "larger than \(bodySize >> 10) KiB" }
}
