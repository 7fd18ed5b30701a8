import Foundation
import Switchboard
import SwitchboardHAR

/// A call as the page lists it, without secrets. Times are in milliseconds. A nil member is left out.
struct CallSummary: Encodable {
    enum Kind: String, Encodable {
        case http, websocket, events
    }

    let id: Int
    /// The milliseconds since 1970.
    let started: Double
    let method: String
    let url: String
    let state: InspectedCall.State
    let status: Int?
    let duration: Double?
    /// The size of the last response's body in bytes.
    let size: Int?
    /// The media type of the last response.
    let type: String?
    let source: InspectedCall.Source?
    /// Whether a cache made the call in the background, to validate a stale response.
    let revalidation: Bool?
    let statuses: [Int]
    let attempts: Int
    let exchanges: Int
    let kind: Kind
    /// The number of messages.
    var messages: Int?
    let environment: String?
    let endpoint: String?
    /// The failure on one line.
    var error: String?
    /// The Close frame of a WebSocket that has ended: `1000 by the server, "bye"`.
    let closed: String?

    init(_ call: InspectedCall, _ masking: TextMasking) {
        let end = call.exchanges.last { $0.end != nil }?.end
        id = call.number
        started = (call.started.timeIntervalSince1970 * 1_000).rounded()
        method = masking.line(call.request.method.rawValue)
        url = masking.url(call.request.url, of: call.request)
        state = call.state
        status = call.status ?? end?.status
        duration = call.duration?.milliseconds
        size = end?.bodySize
        type = end?.type.map(masking.line)
        source = call.source
        revalidation = call.isRevalidation ? true : nil
        statuses = Set(call.exchanges.compactMap { $0.end?.status }).sorted()
        attempts = call.attempts
        exchanges = call.exchangeCount
        let isEvents = call.exchanges.contains { $0.end?.type?.hasPrefix("text/event-stream") == true }
        kind = call.isWebSocket ? .websocket : isEvents ? .events : .http
        messages = call.messageCount
        environment = call.environment.map(masking.line)
        endpoint = call.endPoint.map(masking.line)
        error = call.failure.map { masking.line($0.summary) }
        closed = call.closure.map(masking.line)
    }
}

extension ExchangeRecord.Outcome {
    /// The result in words.
    var words: String {
        switch self {
        case .status(let status): "HTTP \(status)"
        case .failure(let code): code.title
        case .cancelled: "canceled"
        }
    }
}
