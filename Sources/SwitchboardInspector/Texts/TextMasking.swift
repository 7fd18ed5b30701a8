import Foundation
import Switchboard
import SwitchboardHAR
import SwitchboardPlatform
import SwitchboardText

/// Replaces the secrets of texts: those that a name marks, and those that it marks in any stored call.
struct TextMasking {
    let redaction: Redaction
    let secrets: SecretTrie
    let limits: CallLimits

    /// Finds the secrets of all calls first.
    init(_ store: CallStore) {
        secrets = store.knownSecrets()
        redaction = store.redaction
        limits = store.limits
    }

    func url(_ text: String, of request: SentRequest) -> String {
        secrets.masked(ExchangeMasking(request.redaction).redaction.url(text))
    }

    /// Returns a text of the package on one line, such as that of an event.
    func line(_ text: String) -> String {
        self.text(text).onOneLine
    }

    func text(_ text: String) -> String {
        secrets.masked(redaction.pairs(in: text))
    }

    func entry(_ exchange: InspectedExchange, of call: InspectedCall) -> HAR.Entry {
        var entry: HAR.Entry
        switch exchange.content {
        case .masked(let masked): entry = secrets.masked(masked)
        case .raw(let request, let response):
            var masking = ExchangeMasking(request.redaction)
            let masked = masking.masked(exchange.entry(request, response, call.started))
            entry = secrets.masked(masking.storedSecrets.masked(masked))
        }
        entry.response.error = entry.response.error.map(line)
        return entry
    }

    /// Returns the payloads of a call's messages. That of a Close frame begins with its code.
    func payloads(of call: InspectedCall) -> [Data] {
        var masking = ExchangeMasking(call.request.redaction)
        let payloads = call.messages.map { message in
            let (code, content) = message.parts
            return (code, masking.masked(body: content, type: ""))
        }
        let own = masking.storedSecrets
        return payloads.map { code, content in
            code + secrets.masked(body: own.masked(body: content, type: ""), type: "")
        }
    }

    /// Returns the exchanges of a call as entries of an archive, with the messages of each connection of a WebSocket.
    func entries(of call: InspectedCall, _ payloads: [Data]) -> [HAR.Entry] {
        var entries = call.exchanges.map { entry($0, of: call) }
        guard call.isWebSocket else { return entries }
        var connections = entries.indices.filter { entries[$0].response.status == 101 }[...]
        for index in connections { entries[index].webSocketMessages = [] }
        for (message, payload) in zip(call.messages, payloads) {
            while let next = connections.dropFirst().first, call.exchanges[next].start <= message.at {
                connections.removeFirst()
            }
            guard let index = connections.first else { break }
            entries[index].webSocketMessages?.append(
                HAR.WebSocketMessage(
                    message.kind, isSent: message.isSent, payload: payload,
                    at: call.started.addingTimeInterval(message.at.seconds)))
        }
        if let index = connections.last, let failure = call.failure {
            let end = call.started.addingTimeInterval(call.duration?.seconds ?? 0)
            entries[index].webSocketMessages?.append(
                HAR.WebSocketMessage(
                    type: "error", opcode: -1, payload: Data(line(failure.summary).utf8), at: end))
        }
        return entries
    }

    /// Returns the request of a call as it was before its interceptors.
    func request(of call: InspectedCall) -> HAR.Request {
        var masking = ExchangeMasking(call.request.redaction)
        let request = masking.masked(call.request.entry)
        return secrets.masked(masking.storedSecrets.masked(request))
    }
}

extension InspectedExchange {
    /// Returns the exchange as an entry of an archive, with its secrets.
    func entry(_ request: SentRequest, _ response: ReceivedResponse?, _ callStarted: Date) -> HAR.Entry {
        var answer = NetworkResponse(statusCode: response?.status ?? 0, headers: response?.headers ?? [:])
        answer.trailers = response?.trailers ?? [:]
        if let metrics = end?.metrics { answer.metrics = metrics }
        return HAR.Entry(
            request.entry, answer, body: response?.body ?? Data(),
            bodySize: end?.bodySize ?? (response == nil ? 0 : -1), outcome: end?.outcome,
            start: callStarted.addingTimeInterval(start.seconds), elapsed: end?.duration ?? .zero)
    }
}

extension SentRequest {
    /// The request in the form of an archive, with its secrets.
    var entry: HAR.Request {
        HAR.Request(method, URL(string: url), headers, body: body ?? Data(), bodySize: bodySize)
    }
}
