import Foundation
import Switchboard
import SwitchboardHAR
import SwitchboardPlatform

/// Everything about one call, without secrets. Times are in milliseconds since the start of the call.
struct CallDetail: Encodable {
    /// An exchange, or an answer of a cache.
    struct Exchange: Encodable {
        /// Nil for an answer of a cache.
        let number: Int?
        let attempt: Int
        let at: Double
        let duration: Double?
        /// The kind of a cache's answer. Nil for an exchange.
        let source: InspectedCall.Source?
        let cause: String?
        /// The status, the error or `canceled`. Nil while the exchange runs.
        let outcome: String?
        /// The error in words, of an exchange whose response is incomplete. Nil otherwise.
        let error: String?
        let `protocol`: String?
        let reused: Bool?
        let remote: String?
        let phases: [Phase]
        let request: Request
        let response: Response?
    }

    struct Phase: Encodable {
        let name: String
        let at: Double
        let duration: Double
    }

    struct Request: Encodable {
        let method: String
        let url: String
        let headers: [[String]]
        let body: Body?
    }

    struct Response: Encodable {
        let status: Int
        let headers: [[String]]
        let body: Body?
    }

    /// A body as text, as base64, or with the reason why it is not stored.
    struct Body: Encodable {
        var size: Int?
        var type: String?
        var text: String?
        var base64: String?
        var omitted: String?
    }

    struct Message: Encodable {
        /// The number among all messages of the call, from 1. The oldest ones may have been removed.
        let number: Int
        let at: Double
        let sent: Bool
        let kind: String
        let size: Int
        /// Nil for bytes that are no text.
        let text: String?
    }

    private let summary: CallSummary
    private let steps: [InspectedCall.Step]
    private let exchanges: [Exchange]
    /// The request before its interceptors.
    private let request: Request
    private let messages: [Message]
    private let curl: String
    private let stub: String
    private let error: InspectedCall.Failure?

    init(_ call: InspectedCall, _ masking: TextMasking) {
        var summary = CallSummary(call, masking)
        (summary.error, summary.messages) = (nil, nil)  // the detail has members of these names
        self.summary = summary
        steps = call.steps.map { step in
            var step = step
            step.text = masking.line(step.text)
            return step
        }
        let payloads = masking.payloads(of: call)
        let entries = masking.entries(of: call, payloads)
        exchanges = zip(call.exchanges, entries).map { Exchange($0, $1, masking) }
        let removed = call.messageCount - call.messages.count
        messages = zip(call.messages, payloads).enumerated().map { index, message in
            Message(message.0, message.1, number: removed + index + 1)
        }
        let asked = masking.request(of: call)
        request = Request(asked, masking.limits)
        curl =
            masking.secrets.masked((entries.first?.request ?? asked).curlCommand(masking.redaction))
            .replacingInvisible
        stub = StubText.text(zip(call.exchanges, entries).filter { $0.0.end != nil }, masking)
        error = call.failure.map {
            InspectedCall.Failure(summary: masking.line($0.summary), text: masking.text($0.text))
        }
    }

    private enum CodingKeys: String, CodingKey {
        case steps, exchanges, request, messages, curl, stub, error
    }

    /// Encodes the members of the summary and its own into one object.
    func encode(to encoder: any Encoder) throws {
        try summary.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(steps, forKey: .steps)
        try container.encode(exchanges, forKey: .exchanges)
        try container.encode(request, forKey: .request)
        try container.encode(messages, forKey: .messages)
        try container.encode(curl, forKey: .curl)
        try container.encode(stub, forKey: .stub)
        try container.encodeIfPresent(error, forKey: .error)
    }
}

extension Data {
    /// The code and the reason in the payload of a Close frame (RFC 6455 §5.5.1). Nil for a payload without a code.
    var closeFrame: (code: Int, reason: String)? {
        guard count >= 2 else { return nil }
        let code = prefix(2).reduce(0) { $0 << 8 | Int($1) }
        return (code, String(decoding: dropFirst(2), as: UTF8.self))
    }
}

extension CallDetail.Message {
    /// Creates a message with its masked payload.
    fileprivate init(_ message: InspectedCall.Message, _ payload: Data, number: Int) {
        self.number = number
        at = message.at.milliseconds
        sent = message.isSent
        kind = message.kind.rawValue
        size = message.size
        switch message.kind {
        case .binary: text = nil
        case .close: text = payload.closeFrame.map { $1.isEmpty ? "\($0)" : "\($0) \($1)" }
        default: text = String(decoding: payload, as: UTF8.self)
        }
    }
}

extension CallDetail.Exchange {
    fileprivate init(_ exchange: InspectedExchange, _ entry: HAR.Entry, _ masking: TextMasking) {
        let end = exchange.end
        number = exchange.cache == nil ? exchange.number : nil
        source = exchange.cache
        attempt = exchange.attempt
        at = exchange.start.milliseconds
        duration = end?.duration.milliseconds
        cause = end?.cause.map(masking.line)
        let words = end.map { masking.line($0.outcome.words) }
        outcome = end?.status.map { "\($0)" } ?? words
        error = end?.status != nil && end?.outcome.isStatus == false ? words : nil
        self.protocol = (end?.metrics?.protocolVersion).map(masking.line)
        reused = end?.metrics?.isReusedConnection
        remote = (end?.metrics?.remoteAddress).map(masking.line)
        phases = end?.metrics?.phases(since: exchange.start) ?? []
        request = CallDetail.Request(entry.request, masking.limits)
        response =
            entry.response.status == 0
            ? nil
            : CallDetail.Response(
                status: entry.response.status, headers: entry.response.headers.map { [$0.name, $0.value] },
                body: CallDetail.Body(of: entry.response, end))
    }
}

extension CallDetail.Request {
    fileprivate init(_ request: HAR.Request, _ limits: CallLimits) {
        method = request.method
        url = request.url
        headers = request.headers.map { [$0.name, $0.value] }
        body = CallDetail.Body(of: request, limits)
    }
}

extension CallDetail.Body {
    /// Creates the body of a request. Nil for an empty one.
    fileprivate init?(of request: HAR.Request, _ limits: CallLimits) {
        guard request.bodySize != 0 else { return nil }
        size = request.bodySize < 0 ? nil : request.bodySize
        guard let body = request.postData else {
            let isLarge = request.bodySize > limits.bodySize
            omitted = isLarge ? limits.omission : "a stream, a file or compressed"
            return
        }
        type = body.mimeType.isEmpty ? nil : body.mimeType
        if body.encoding == nil { text = body.text } else { base64 = body.text }
    }

    /// Creates the body of a response. Nil for an empty one.
    fileprivate init?(of response: HAR.Response, _ end: InspectedExchange.End?) {
        guard end?.omittedBody != nil || response.content.size > 0 else { return nil }
        size = end?.bodySize
        type = response.content.mimeType.isEmpty ? nil : response.content.mimeType
        omitted = end?.omittedBody
        if response.content.encoding == nil { text = response.content.text } else { base64 = response.content.text }
    }
}

extension ExchangeMetrics {
    /// Returns the measured phases in their order, since the start of the call. Without measurements there are none.
    fileprivate func phases(since start: Duration) -> [CallDetail.Phase] {
        guard let whole = duration else { return [] }
        let measured: [(String, Duration?)] = [
            ("queue", queue), ("DNS", nameLookup), ("connect", connect), ("TLS", secureConnect),
        ]
        var time = Duration.zero
        var phases: [CallDetail.Phase] = []
        func add(_ name: String, _ duration: Duration) {
            guard duration > .zero else { return }
            phases.append(
                CallDetail.Phase(
                    name: name, at: (start + time).milliseconds, duration: duration.milliseconds))
            time += duration
        }
        for (name, duration) in measured { add(name, duration ?? .zero) }
        let firstByte = timeToFirstByte ?? whole
        add("wait", firstByte - time)
        add("receive", whole - max(firstByte, time))
        return phases
    }
}

extension HAR.Request {
    /// Returns the masked request as a shell command.
    fileprivate func curlCommand(_ redaction: Redaction) -> String {
        var request = NetworkRequest(HTTPMethod(rawValue: method), URL(string: url))
        request.headers = HTTPHeaders(headers)
        if let data = postData?.data, !data.isEmpty {
            request.body = DataBody(data)
        } else if bodySize != 0 {
            request.body = OmittedBody(length: bodySize < 0 ? nil : Int64(bodySize))
        }
        return request.curlCommand(redaction: redaction)
    }
}

extension String {
    /// The text with U+FFFD for each character that would hide others in a terminal.
    fileprivate var replacingInvisible: String {
        var text = String.UnicodeScalarView()
        for scalar in unicodeScalars { text.append(scalar.isInvisible ? "\u{FFFD}" : scalar) }
        return String(text)
    }
}
