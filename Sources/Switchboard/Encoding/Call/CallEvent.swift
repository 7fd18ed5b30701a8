import SwitchboardPlatform
import Foundation

/// A step or decision during a call.
public struct CallEvent: Sendable {
    /// The kind of event.
    public let kind: Kind
    /// The request at the time of the event. All events of a call have the same ``NetworkRequest/id``. The URL and the
    /// header fields may contain secrets; the descriptions do not.
    public let request: NetworkRequest
    /// The time since the start of the call.
    public let elapsed: Duration
    /// The response that a cache answers with, or the part of a response that arrived before its exchange failed. Nil
    /// in all other events.
    package var response: NetworkResponse?
    package var cacheRole: CacheRole?

    package enum CacheRole: Sendable {
        /// A stored response answers: a fresh one, a stale one, or one that the server confirmed or completed.
        case fresh, stale, validated
        /// The response to an equal call answers.
        case shared
        /// The call validates a stored response in the background.
        case revalidation
    }

    /// The kinds of events. Later versions may add more, so keep a `default`.
    public enum Kind: Sendable {
        /// The request was built and enters the interceptor chain. The first event of a call.
        case started
        /// The request waits, for instance for a limiter, the network or credentials. The text names the reason.
        case waiting(for: String)
        /// The wait is over, after this time.
        case resumed(after: Duration)
        /// A cache or a similar interceptor was consulted. The text is its result.
        case cache(String)
        /// An exchange starts. The number counts the call's exchanges from 1.
        case exchangeStarted(number: Int)
        /// An exchange ended, with or without a response. ``ExchangeRecord/metrics`` has the phases of its connection.
        /// The body of a stream has yet to arrive and is not readable here, and that of a download is in its file.
        indirect case exchangeEnded(ExchangeRecord, response: NetworkResponse?)
        /// The request will be sent again after a wait. The text is the cause.
        case retry(after: Duration, because: String)
        /// The request will continue at another URL.
        case redirect(to: URL)
        /// A step of authentication, such as `refresh` or `refreshed`. Never contains a credential.
        case authentication(String)
        /// Any other message of an interceptor. Contains no secrets.
        case note(String)
        /// The call ended with a response. The last event of a call.
        case finished(statusCode: Int)
        /// The call ended with an error. The last event of a call.
        case failed(NetworkError)
        /// The call was canceled. The last event of a call.
        case cancelled
    }
}

extension CallEvent: DumpedAsDescription {
    /// The event in one line, without secrets: `12 ms GET https://… retry after 500 ms: HTTP 503`.
    public var description: String {
        "\(elapsed.millisecondsText) \(request) \(kind.text(by: request.redaction(extending: .standard)))"
    }
}

extension CallEvent.Kind: DumpedAsDescription {
    /// The event in a few words, without secrets.
    public var description: String { text(by: .standard) }

    func text(by redaction: Redaction) -> String {
        switch self {
        case .started: "started"
        case .waiting(let reason): "waits for \(reason)"
        case .resumed(let wait): "continues after \(wait.millisecondsText)"
        case .cache(let result): "cache: \(result)"
        case .exchangeStarted(let number): "exchange \(number)"
        case .exchangeEnded(let record, _): "exchanged: \(record.outcome) in \(record.duration.millisecondsText)"
        case .retry(let wait, let cause): "retry after \(wait.millisecondsText): \(cause)"
        case .redirect(let url): "redirected to \(redaction.url(url.absoluteString))"
        case .authentication(let step): "authentication: \(step)"
        case .note(let message): message
        case .finished(let status): "finished: HTTP \(status)"
        case .failed(let error): "failed: \(error.summary)"
        case .cancelled: "cancelled"
        }
    }
}

extension RequestOptions {
    /// The monitors that receive the events of the call. Default none. Append in a closure, so that the router's
    /// monitors stay: `RequestOptions { $0.monitors.append(monitor) }`.
    public var monitors: [any EventMonitor] {
        get { self[MonitorsOption.self] }
        set { self[MonitorsOption.self] = newValue }
    }
}

private enum MonitorsOption: RequestOption { static let defaultValue: [any EventMonitor] = [] }

extension NetworkRequest {
    /// Sends an interceptor's decision about this request to the monitors of the call. Does nothing outside of a call.
    ///
    /// A report about a retry, a redirect or credentials also becomes the ``ExchangeRecord/cause`` of the next
    /// exchange.
    public func report(_ kind: CallEvent.Kind) {
        guard let call else { return }
        call.recordCause(kind)
        call.report(kind, self)
    }

    /// Reports the role of a cache in this call to its monitors. The response, if any, answers the request.
    package func report(
        _ role: CallEvent.CacheRole, _ text: @autoclosure () -> String, with response: NetworkResponse? = nil
    ) {
        guard let call, call.hasMonitors else { return }
        call.report(.cache(text()), self, with: response, role)
    }
}

/// Receives the events of a call: what it waited for, why it was sent again and how it ended. A call whose request
/// cannot be built, or that a reset refuses, has no events.
///
/// ```swift
/// struct Console: EventMonitor {
///     func record(_ event: CallEvent) { print(event) }
/// }
/// let manager = NetworkManager(monitors: [Console()])
/// ```
public protocol EventMonitor: Sendable {
    /// Receives one event. The events of a call arrive in order; those of several calls are mixed. Calls and hedged
    /// exchanges run this method concurrently, on any thread, and wait for it, so return quickly. The request of an
    /// event refers to the call's monitors, so a monitor that keeps events keeps itself in memory.
    func record(_ event: CallEvent)
}
