import SwitchboardPlatform
import Foundation

/// A decision during a call.
public struct CallEvent: Sendable {
    /// What happened.
    public let kind: Kind
    /// The request as it was then. All events of a call have the same ``NetworkRequest/id``. Its URL and header fields may
    /// hold secrets; its texts do not.
    public let request: NetworkRequest
    /// How long after the start of the call.
    public let elapsed: Duration

    /// What may happen. More may come with a later version: keep a `default`.
    public enum Kind: Sendable {
        /// The request was made and enters the chain. The first of a call.
        case made
        /// It waits for its turn, or for something named.
        case waiting(for: String)
        /// It has waited this long, and goes on.
        case admitted(after: Duration)
        /// A cache or the like was asked: what it said.
        case cache(String)
        /// An exchange begins, with its number in the call, from 1.
        case exchange(Int)
        /// An exchange ended, with a response or without. The phases of its connection are in
        /// ``ExchangeRecord/exchange``; the body of a stream is still to come, that of a download is in its file.
        indirect case exchanged(ExchangeRecord, response: NetworkResponse?)
        /// It is sent again after a wait, and why.
        case retry(after: Duration, because: String)
        /// It goes on at another URL.
        case redirect(to: URL)
        /// Credentials: `refresh`, `refreshed` and the like. Never a credential itself.
        case authentication(String)
        /// Anything else that an interceptor has to say. Without secrets.
        case note(String)
        /// The call ended with a response. The last of a call.
        case finished(status: Int)
        /// The call ended with an error. The last of a call.
        case failed(NetworkError)
        /// The call was cancelled. The last of a call.
        case cancelled
    }
}

extension CallEvent: CustomStringConvertible, CustomReflectable {
    /// The event in a line, without secrets: `12 ms GET https://… retry after 500 ms: HTTP 503`.
    public var description: String { "\(elapsed.millisecondsText) \(request) \(kind)" }

    /// Shows the line only, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension CallEvent.Kind: CustomStringConvertible, CustomReflectable {
    /// What happened in a few words, without secrets.
    public var description: String {
        switch self {
        case .made: "made"
        case .waiting(let what): "waits for \(what)"
        case .admitted(let wait): "continues after \(wait.millisecondsText)"
        case .cache(let what): "cache: \(what)"
        case .exchange(let number): "exchange \(number)"
        case .exchanged(let metrics, _): "exchanged: \(metrics.outcome) in \(metrics.duration.millisecondsText)"
        case .retry(let wait, let cause): "retry after \(wait.millisecondsText): \(cause)"
        case .redirect(let url): "redirected to \(Redaction.standard.url(url.absoluteString))"
        case .authentication(let what): "authentication: \(what)"
        case .note(let what): what
        case .finished(let status): "finished: HTTP \(status)"
        case .failed(let error): "failed: \(error.summary)"
        case .cancelled: "cancelled"
        }
    }

    /// Shows the words only, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension RequestOptions {
    /// Who hears what is decided during the call. Default nobody. Append to it in a closure, so that those of the router
    /// stay: `RequestOptions { $0.monitors.append(monitor) }`.
    public var monitors: [any EventMonitor] {
        get { self[MonitorsOption.self] }
        set { self[MonitorsOption.self] = newValue }
    }
}

private enum MonitorsOption: RequestOption { static let defaultValue: [any EventMonitor] = [] }

extension NetworkRequest {
    /// Tells the monitors of the call what an interceptor decided about this request. Outside of a call it does nothing.
    ///
    /// What is said here about retries, redirects and credentials also becomes the ``ExchangeRecord/cause`` of the next
    /// exchange.
    public func report(_ kind: CallEvent.Kind) {
        call?.report(kind, self)
    }
}
