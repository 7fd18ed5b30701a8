import Foundation
import Switchboard
import SwitchboardHAR
import SwitchboardPlatform

extension Cassette {
    /// Returns the request with a recorder of messages, if it opens a WebSocket.
    func recordingMessages(of request: NetworkRequest, at index: Int) -> NetworkRequest {
        var request = request
        request.options.upgrade?.recorder = { [tape] in
            let message =
                switch $0 {
                case .sent(let opcode, let data): HAR.WebSocketMessage(type: "send", opcode: Int(opcode), payload: data)
                case .received(let opcode, let data):
                    HAR.WebSocketMessage(type: "receive", opcode: Int(opcode), payload: data)
                case .failure(let error):
                    HAR.WebSocketMessage(type: "error", opcode: -1, payload: Data(error.code.description.utf8))
                }
            tape.withLock { $0.add([message], at: index) }
        }
        return request
    }
}

extension CassettePlayback {
    /// Returns the response that plays the recorded messages. A message that the client sends must be the recorded one.
    func upgraded(_ upgrade: ConnectionUpgrade, _ messages: [HAR.WebSocketMessage]) throws -> NetworkResponse {
        let sent = messages.filter { $0.type == "send" && $0.opcode < 0x8 }
        var headers = HTTPHeaders(entry.response.headers)
        for name in ["Sec-WebSocket-Accept", "Sec-WebSocket-Extensions"] { headers.remove(name) }
        let response = MockResponse.webSocket(steps: Self.steps(messages), headers: headers)
        return try StubExchange(request, response, clock: ContinuousClock())
            .upgraded(upgrade) { [check] index, message in
                try check(index, message, sent)
            }
    }

    private static func steps(_ messages: [HAR.WebSocketMessage]) -> [WebSocketStep] {
        messages.compactMap { message in
            switch (message.type, message.opcode) {
            case ("send", 0..<0x8): .receive
            case ("receive", 0...0x8): .frame(UInt8(message.opcode), message.payload)
            case ("error", _): .reset
            default: nil
            }
        }
    }

    private func check(
        _ index: Int, _ message: RecordedWebSocket.Message, _ recorded: [HAR.WebSocketMessage]
    ) throws {
        let faults = faults(message, recorded.dropFirst(index).first)
        guard !faults.isEmpty else { return }
        throw fault(
            (["message \(index + 1) to \(request.url?.path ?? "") differs:"] + faults).joined(separator: "\n  "))
    }

    private func faults(_ message: RecordedWebSocket.Message, _ recorded: HAR.WebSocketMessage?) -> [String] {
        guard let recorded else { return ["not recorded"] }
        guard message.isText == (recorded.opcode == 1) else {
            return [message.isText ? "text, recorded bytes" : "bytes, recorded text"]
        }
        var masking = masking
        let live = masking.masked(body: message.payload, type: "")
        return Comparison(mask: masking.redaction.mask, isLoose: true).differences(live, recorded.payload)
    }
}
