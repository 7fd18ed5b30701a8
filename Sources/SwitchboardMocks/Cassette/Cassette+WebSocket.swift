import Foundation
import Switchboard
import SwitchboardHAR
import SwitchboardPlatform

extension Cassette {
    /// Returns the request with a recorder of messages, if it opens a WebSocket.
    func recordingMessages(of request: NetworkRequest, at index: Int) -> NetworkRequest {
        var request = request
        guard request.options.upgrade != nil else { return request }
        request.options.messageRecorder = { [tape] message in
            let recorded: HAR.WebSocketMessage
            if message.kind == .end {
                guard let error = message.error else { return }
                recorded = HAR.WebSocketMessage(
                    type: "error", opcode: -1, payload: Data(error.code.description.utf8))
            } else {
                recorded = HAR.WebSocketMessage(message.kind, isSent: message.isSent, payload: message.payload)
            }
            tape.withLock { tape in
                tape.change(index) {
                    $0.messages = $0.messages ?? []
                    $0.messages?.append(recorded)
                }
            }
        }
        return request
    }
}

extension Cassette {
    /// Returns the response that plays the recorded messages. A message that the client sends must be the recorded one.
    func playMessages(
        of entry: HAR.Entry, _ upgrade: ConnectionUpgrade, _ request: NetworkRequest
    ) throws -> NetworkResponse {
        let messages = entry.webSocketMessages ?? []
        // A message that was sent when the server had ended cannot be sent again.
        let end = messages.firstIndex { $0.type == "error" || $0.type == "receive" && $0.opcode == 0x8 }
        let expected = messages[..<(end ?? messages.count)].count { $0.type == "send" && $0.opcode < 0x8 }
        let path = request.url?.path ?? ""
        let socket = tape.withLock { $0.openSocket(path, expecting: expected) }
        let sent = messages.filter { $0.type == "send" && $0.opcode < 0x8 }
        var headers = HTTPHeaders(entry.response.headers)
        for name in ["Sec-WebSocket-Accept", "Sec-WebSocket-Extensions"] { headers.remove(name) }
        let response = MockResponse.webSocket(steps: Self.steps(messages), headers: headers)
        return try StubExchange(request, response, clock: ContinuousClock()).upgraded(
            upgrade, loss: Self.loss(messages)
        ) { [self] index, message in
            let differences = differences(message, sent.dropFirst(index).first)
            guard !differences.isEmpty else { return tape.withLock { $0.recordMessage(of: socket, fault: nil) } }
            let lines = ["cassette: message \(index + 1) to \(path) differs:"] + differences
            let text = masking.storedSecrets.masked(lines.joined(separator: "\n  "))
            tape.withLock { $0.recordMessage(of: socket, fault: text) }
            throw NetworkError(.unmatchedRequest, reason: text).adding(request)
        }
    }

    private static func steps(_ messages: [HAR.WebSocketMessage]) -> [WebSocketStep] {
        messages.forStub.compactMap { message in
            switch (message.type, message.opcode) {
            case ("send", 0..<0x8): .receive
            case ("receive", 0...0x8): .frame(UInt8(message.opcode), message.payload)
            case ("error", _): .reset
            default: nil
            }
        }
    }

    /// Returns the error that ended the recorded connection. That of a browser means a lost connection.
    private static func loss(_ messages: [HAR.WebSocketMessage]) -> NetworkError {
        let code = NetworkError.Code(rawValue: messages.first { $0.type == "error" }?.data ?? "")
        let isKnown = code.title != code.rawValue
        return NetworkError(
            isKnown ? code : .connectionLost, reason: "cassette: the recorded connection ended with this error")
    }

    private func differences(
        _ message: RecordedWebSocket.Message, _ recorded: HAR.WebSocketMessage?
    ) -> [String] {
        guard let recorded else { return ["not recorded"] }
        guard message.isText == (recorded.opcode == 1) else {
            return [message.isText ? "text, recorded bytes" : "bytes, recorded text"]
        }
        var masking = masking
        let live = masking.masked(body: message.payload, type: "")
        return Comparison(mask: masking.redaction.mask, isLoose: true).differences(live, recorded.payload)
    }
}
