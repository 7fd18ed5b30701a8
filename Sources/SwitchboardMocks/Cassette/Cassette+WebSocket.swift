import Foundation
import Switchboard
import SwitchboardHAR
import SwitchboardPlatform

extension Cassette {
    /// Returns the request of a WebSocket whose messages to the server are recorded. It offers no compression, so that
    /// the messages are readable.
    func recordingMessages(of request: NetworkRequest, at index: Int) -> NetworkRequest {
        guard let upgrade = request.options.upgrade else { return request }
        let tape = tape
        var request = request
        request.options.upgrade = ConnectionUpgrade(byURLSession: upgrade.openByURLSession) {
            var headers = upgrade.headers()
            headers.remove("Sec-WebSocket-Extensions")
            return headers
        } outgoing: {
            let (source, scanner) = (upgrade.outgoing(), Protected(MessageScanner()))
            return HTTPBodyStream {
                let bytes = try await source.next()
                if let bytes { tape.record(scanner.withLock { $0.take(bytes) }, "send", at: index) }
                return bytes
            }
        } ended: {
            upgrade.ended()
        }
        return request
    }

    /// Records the messages of the server as they are read.
    func recordMessages(_ bytes: inout ResponseBytes, at index: Int) {
        let (source, tape, scanner) = (bytes, tape, Protected(MessageScanner()))
        tape.withLock { $0.add([], at: index) }
        bytes = ResponseBytes {
            do {
                let bytes = try await source.next()
                if let bytes { tape.record(scanner.withLock { $0.take(bytes) }, "receive", at: index) }
                return bytes
            } catch let error as NetworkError {
                let text = Data(error.code.description.utf8)
                tape.withLock { $0.add([HAR.WebSocketMessage(type: "error", opcode: -1, payload: text)], at: index) }
                throw error
            }
        }
    }
}

extension Protected<CassetteTape> {
    fileprivate func record(_ messages: [(opcode: UInt8, payload: Data)], _ type: String, at index: Int) {
        // An app sees no pings and pongs.
        let recorded = messages.filter { $0.opcode < 0x9 }.map {
            HAR.WebSocketMessage(type: type, opcode: Int($0.opcode), payload: $0.payload)
        }
        if !recorded.isEmpty { withLock { $0.add(recorded, at: index) } }
    }
}

extension CassettePlayback {
    /// Returns the response that plays the recorded messages. A message that the client sends must be the recorded one.
    func upgraded(_ upgrade: ConnectionUpgrade, _ messages: [HAR.WebSocketMessage]) throws -> NetworkResponse {
        let sent = messages.filter { $0.type == "send" && $0.opcode < 0x8 }
        var headers = HTTPHeaders(entry.response.headers)
        for name in ["Sec-WebSocket-Accept", "Sec-WebSocket-Extensions"] { headers.remove(name) }
        let response = MockResponse.webSocket(steps: Self.steps(messages), headers: headers)
        return try StubExchange(request: request, response: response, clock: ContinuousClock())
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
