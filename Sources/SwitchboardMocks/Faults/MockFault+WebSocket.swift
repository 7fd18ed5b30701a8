import Foundation
import Switchboard

extension MockFault {
    /// The faults of a WebSocket, one value each. The error is that of reading until the end, with
    /// `webSocket.compression` and a `webSocket.pingInterval`. Nil when a message arrives all the same.
    public static let webSocket: [MockFault] = handshake + frames + messages + timing

    private static let handshake = [
        MockFault(
            "ws-wrong-accept", "answers another key", .webSocket(.echo, headers: ["Sec-WebSocket-Accept": "AAAA"]),
            .invalidResponse),
        MockFault(
            "ws-unknown-subprotocol", "chooses a subprotocol that was not offered",
            .webSocket(.echo, subprotocol: "unknown"), .invalidResponse),
        MockFault("ws-refused", "answers without an upgrade", .text("no socket here"), .unexpectedStatus),
    ]

    private static let frames = [
        MockFault(
            "ws-masked", "masks a frame", .webSocket(.frame(0x1, Data("a".utf8), isMasked: true)), .invalidResponse),
        MockFault(
            "ws-reserved-bits", "sets reserved bits", .webSocket(.frame(0x1, Data("a".utf8), reserved: 3)),
            .invalidResponse),
        MockFault("ws-reserved-opcode", "sends an unknown frame", .webSocket(.frame(0x3, Data())), .invalidResponse),
        MockFault(
            "ws-half-frame", "closes the connection inside a frame",
            .webSocket(.bytes(Data([0x81, 0x05, 0x61])), .drop), .connectionLost),
        MockFault(
            "ws-long-ping", "sends a ping of 126 bytes", .webSocket(.ping(Data(count: 126))), .invalidResponse),
        MockFault(
            "ws-lone-continuation", "continues a message that did not begin", .webSocket(.frame(0x0, Data())),
            .invalidResponse),
    ]

    private static let messages = [
        MockFault(
            "ws-invalid-utf8", "sends text that is not UTF-8", .webSocket(.frame(0x1, Data([0xC3, 0x28]))),
            .invalidResponse),
        MockFault(
            "ws-oversized", "announces a message of a tebibyte",
            .webSocket(.bytes(Data([0x82, 0x7F, 0, 0, 1, 0, 0, 0, 0, 0]))), .responseTooLarge),
        MockFault(
            "ws-bomb", "sends a gibibyte of zeros as a mebibyte of permessage-deflate",
            .webSocket(.bomb(), headers: ["Sec-WebSocket-Extensions": "permessage-deflate"]), .responseTooLarge),
        MockFault(
            "ws-close-code", "closes with a code that no frame may have", .webSocket(.close(1006)), .invalidResponse),
    ]

    private static let timing = [
        MockFault("ws-drop", "closes the connection without a Close frame", .webSocket(.drop), .connectionLost),
        MockFault("ws-reset", "resets the connection", .webSocket(.reset), .connectionLost),
        MockFault("ws-silent", "answers nothing, not even a ping", .webSocket(.stall), .timedOut),
        MockFault(
            "ws-slow", "sends a message byte by byte",
            .webSocket(steps: WebSocketStep.text("slow").dripping + [.close()]),
            nil),
    ]
}

extension WebSocketStep {
    /// The bytes of the step, with a pause behind each.
    fileprivate var dripping: [WebSocketStep] {
        guard case .send(let bytes) = action else { return [self] }
        return bytes.flatMap { [.bytes(Data([$0])), .pause(.milliseconds(2))] }
    }
}
