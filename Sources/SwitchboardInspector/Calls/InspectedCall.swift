import Foundation
import Switchboard
import SwitchboardHAR
import SwitchboardPlatform
import SwitchboardText

/// The limits of what an inspector stores, and the names of secrets.
struct CallLimits: Sendable {
    /// The number of calls.
    let calls: Int
    /// The bytes of one body.
    let bodySize: Int
    /// The bytes of all calls together, roughly.
    var totalSize = 32 << 20
    /// The steps of one call. Later ones are dropped, except the end.
    var steps = 500
    /// The exchanges of one call. Later ones are counted alone.
    var exchanges = 100
    /// The messages of one call, and their bytes. The oldest are removed first.
    var messages = 1_000
    var messageSize = 1 << 20
    /// The number of secrets in one call above which those of its messages are masked only within the call.
    var secrets = 100

    let redaction: Redaction

    init(calls: Int = 1_000, bodySize: Int = 64 << 10, redaction: Redaction = .standard) {
        self.redaction = redaction
        self.calls = max(1, calls)
        self.bodySize = max(0, bodySize)
    }
}

/// A call as the inspector stores it. It may contain secrets, except in an exchange that is `masked`.
struct InspectedCall: Sendable {
    enum State: String, Encodable, Sendable {
        case running, finished, failed, cancelled
        /// The handshake of a WebSocket has succeeded, and its connection has not ended.
        case open
    }

    /// The origin of the response.
    enum Source: String, Encodable, Sendable {
        case network, cache, stale, revalidated, stub
        /// The exchange of an equal call.
        case shared
    }

    /// An event of the call.
    struct Step: Encodable, Sendable {
        /// The milliseconds since the start of the call.
        let at: Double
        let kind: String
        var text: String
        let attempt: Int
    }

    /// A message of a WebSocket or an event of a stream, with its secrets.
    struct Message: Sendable {
        let at: Duration
        let kind: CallMessage.Kind
        let isSent: Bool
        let size: Int
        /// The payload up to the limit of a body.
        let payload: Data

        /// The code of a Close frame, and the rest of the payload. A text has whole characters, because only those are
        /// masked.
        var parts: (code: Data, content: Data) {
            let code = payload.prefix(kind == .close ? 2 : 0)
            let rest = payload.dropFirst(code.count)
            return (Data(code), kind == .binary ? Data(rest) : Data(String(decoding: rest, as: UTF8.self).utf8))
        }
    }

    struct Failure: Encodable, Sendable {
        let summary: String
        let text: String
    }

    /// The number among all calls, from 1. 0 until the call is stored.
    var number = 0
    let request: SentRequest
    let started: Date
    let endPoint: String?
    let environment: String?
    let isWebSocket: Bool
    var state = State.running
    var status: Int?
    var duration: Duration?
    var failure: Failure?
    /// The Close frame of a WebSocket that has ended.
    var closure: String?
    var source: Source?
    /// Whether a cache made the call, to validate a stale response that it answered with.
    var isRevalidation = false
    var attempts = 1
    var exchangeCount = 0
    var steps: [Step] = []
    var exchanges: [InspectedExchange] = []
    /// The last messages, and the number of all.
    var messages: [Message] = []
    var messageCount = 0
    private var messageSize = 0
    /// The number of messages whose secrets are known.
    var searchedMessages = 0
    private let start: ContinuousClock.Instant
    /// The secrets of ``request``, the exchanges and the messages, as far as they were searched.
    var secrets: Set<ExactText> = []
    var isRequestSearched = false
    /// The bytes that the call occupies, roughly.
    var size = 0
    /// The number of the last change among the changes of all calls.
    var change = 0

    init(_ event: CallEvent, _ limits: CallLimits) {
        request = SentRequest(event.request, limits)
        started = Date(timeIntervalSinceNow: -event.elapsed.seconds)
        start = .now - event.elapsed
        endPoint = event.request.endPointName
        environment = event.request.environment?.name
        isWebSocket = event.request.options.upgrade != nil
        size = 512 + request.size
    }

    /// Whether events or messages may follow. A Close frame in response may follow the end of a WebSocket.
    var expectsMore: Bool { state == .running || isWebSocket }

    /// Adds a message, and removes the oldest ones above the limits.
    mutating func add(_ message: CallMessage, _ limits: CallLimits) {
        guard message.kind != .end else { return end(with: message, limits) }
        // A copy, because a slice would keep the whole message.
        let payload = Data(message.payload.prefix(limits.bodySize))
        messages.append(
            Message(
                at: .now - start, kind: message.kind, isSent: message.isSent, size: message.payload.count,
                payload: payload))
        messageCount += 1
        messageSize += payload.count + 128
        size += payload.count + 128
        while messages.count > limits.messages || messageSize > limits.messageSize, messages.count > 1 {
            // Many at once, because the others move.
            let old = max(1, messages.count / 16)
            let freed = messages.prefix(old).reduce(0) { $0 + $1.payload.count + 128 }
            messages.removeFirst(old)
            messageSize -= freed
            size -= freed
        }
    }

    /// Ends a connection of a WebSocket. It is the end of the call, unless the call's own event is yet to come.
    private mutating func end(with message: CallMessage, _ limits: CallLimits) {
        guard state == .open else { return }
        let text = String(decoding: message.payload, as: UTF8.self)
        closure = text.isEmpty ? nil : text
        failure = message.error.map { Failure(summary: $0.summary, text: $0.description) }
        let isLast = status != nil
        state = !isLast ? .running : failure != nil ? .failed : closure == nil ? .cancelled : .finished
        let at: Duration = .now - start
        if isLast { duration = at }
        let cause = failure.map { "failed: \($0.summary)" } ?? closure.map { "closed: \($0)" } ?? "canceled"
        let kind = failure != nil ? "failed" : closure != nil ? "closed" : "cancelled"
        size += text.utf8.count + (failure?.summary.utf8.count ?? 0) + (failure?.text.utf8.count ?? 0)
        if !isLast { failure = nil }
        guard isLast || steps.count < limits.steps else { return }
        steps.append(Step(at: at.milliseconds, kind: kind, text: cause, attempt: attempts))
        size += 96 + cause.utf8.count
    }

    /// Applies the next event of the call.
    mutating func apply(_ update: CallUpdate, _ limits: CallLimits) {
        switch update.change {
        case .none: break
        case .retry: attempts += 1
        case .cache(let role, let answer):
            source = role.flatMap(Source.init) ?? source
            if role == .revalidation { isRevalidation = true }
            guard let (request, end) = answer, exchanges.count < limits.exchanges else { break }
            exchanges.append(
                InspectedExchange(
                    number: -1 - exchanges.count, attempt: attempts, start: update.at,
                    content: .raw(request, end.response), cache: source, end: end.end))
            size += 256 + request.size + (end.response?.size ?? 0)
        case .exchangeStarted(let number, let request):
            exchangeCount = max(exchangeCount, number)
            guard exchanges.count < limits.exchanges else { break }
            exchanges.append(
                InspectedExchange(number: number, attempt: attempts, start: update.at, content: .raw(request, nil)))
            size += 256 + request.size
        case .exchangeEnded(let number, let end):
            if end.end.outcome != .cancelled { source = end.isStub ? .stub : .network }
            if isWebSocket, end.response?.status == 101 { (state, closure) = (.open, nil) }
            guard let index = exchanges.lastIndex(where: { $0.number == number }) else { break }
            exchanges[index].end = end.end
            if case .raw(let request, _) = exchanges[index].content {
                exchanges[index].content = .raw(request, end.response)
            }
            size += end.response?.size ?? 0
        case .ended(let state, let status, let failure):
            (self.status, self.failure) = (status, failure)
            // The call of a WebSocket ends with its handshake.
            if self.state != .open || state != .finished { (self.state, duration) = (state, update.at) }
            size += (failure?.summary.utf8.count ?? 0) + (failure?.text.utf8.count ?? 0)
        }
        guard steps.count < limits.steps || update.isLast else { return }
        // Policies around each other give the same reason.
        if update.kind == "note", update.text == steps.last?.text { return }
        let isOpening = update.isLast && state == .open
        let (kind, text) = isOpening ? ("open", "open") : (update.kind, update.text)
        steps.append(Step(at: update.at.milliseconds, kind: kind, text: text, attempt: attempts))
        size += 96 + text.utf8.count
    }
}

extension InspectedCall.Source {
    /// Creates the source that a cache reports. Nil if the server answers.
    fileprivate init?(_ role: CallEvent.CacheRole) {
        switch role {
        case .fresh: self = .cache
        case .stale: self = .stale
        case .validated: self = .revalidated
        case .shared: self = .shared
        case .revalidation: return nil
        }
    }
}

/// An exchange of a call, or an answer of a cache.
struct InspectedExchange: Sendable {
    /// The parts with secrets, as they are or masked.
    enum Content: Sendable {
        case raw(SentRequest, ReceivedResponse?)
        /// The whole exchange, with the secrets that a name marks replaced.
        case masked(HAR.Entry)
    }

    /// The facts that are known at the end.
    struct End: Sendable {
        let duration: Duration
        let outcome: ExchangeRecord.Outcome
        /// The status of a response, even of an incomplete one. Nil without a head.
        let status: Int?
        let cause: String?
        let metrics: ExchangeMetrics?
        /// The media type of the response.
        let type: String?
        /// The size of the response's body in bytes. Nil for an unknown one.
        let bodySize: Int?
        /// The reason why the body of the response is not stored. Nil if it is.
        let omittedBody: String?
    }

    /// The number among the exchanges of the call, or a negative one for an answer of a cache.
    let number: Int
    let attempt: Int
    /// The time from the start of the call.
    let start: Duration
    var content: Content
    /// The kind of a cache's answer. Nil for an exchange.
    var cache: InspectedCall.Source?
    /// Nil while the exchange runs.
    var end: End?
}

/// The parts of a request that the inspector stores. It retains no object of the app.
struct SentRequest: Sendable {
    let method: HTTPMethod
    let url: String
    let headers: HTTPHeaders
    /// Nil for a body that is not stored.
    let body: Data?
    /// Nil for an unknown size.
    let bodySize: Int?
    /// The names of secrets, with the fields to which a signer wrote one.
    let redaction: Redaction

    init(_ request: NetworkRequest, _ limits: CallLimits) {
        method = request.method
        url = request.urlText ?? ""
        headers = request.allHeaders
        redaction = request.redaction(extending: limits.redaction)
        (body, bodySize) = request.recordedBody(upTo: limits.bodySize)
    }

    var size: Int { url.utf8.count + headers.storedSize + (body?.count ?? 0) }
}

/// The parts of a response that the inspector stores.
struct ReceivedResponse: Sendable {
    let status: Int
    let headers: HTTPHeaders
    /// Empty for a body that is not stored.
    let body: Data
    let trailers: HTTPHeaders

    var size: Int { headers.storedSize + body.count + trailers.storedSize }
}

extension HTTPHeaders {
    fileprivate var storedSize: Int { reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 64 } }
}
