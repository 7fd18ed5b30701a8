import Foundation
import Switchboard
import SwitchboardPlatform

/// A step of ``MockResponse/webSocket(_:subprotocol:headers:)``.
public struct WebSocketStep: Sendable, Hashable {
    enum Action: Sendable, Hashable {
        case send(Data)
        case receive, echo
        case pause(Duration)
        case end(MockResponse.Break)
    }

    let action: Action

    /// Sends a text message.
    public static func text(_ text: String) -> WebSocketStep { frame(0x1, Data(text.utf8)) }

    /// Sends a binary message.
    public static func binary(_ data: Data) -> WebSocketStep { frame(0x2, data) }

    /// Sends a ping.
    public static func ping(_ payload: Data = Data()) -> WebSocketStep { frame(0x9, payload) }

    /// Sends a Close frame, by default with the code 1000. A nil code sends an empty frame.
    public static func close(_ code: UInt16? = 1000, reason: String = "") -> WebSocketStep {
        frame(0x8, code.map { Data([UInt8($0 >> 8), UInt8($0 & 0xFF)]) + Data(reason.utf8) } ?? Data())
    }

    /// Sends one frame, also one that breaks the rules of [RFC 6455
    /// §5.2](https://www.rfc-editor.org/rfc/rfc6455#section-5.2).
    ///
    /// - Parameters:
    ///   - opcode: The type of the frame: 0 to 15.
    ///   - payload: The payload.
    ///   - isFinal: Whether the frame ends its message.
    ///   - reserved: The three reserved bits as a number, 4 for RSV1.
    ///   - isMasked: Whether the payload is masked, which servers must not do.
    /// - Returns: The step.
    public static func frame(
        _ opcode: UInt8, _ payload: Data, isFinal: Bool = true, reserved: UInt8 = 0, isMasked: Bool = false
    ) -> WebSocketStep {
        bytes(ServerFrames.frame(opcode, payload, isFinal: isFinal, reserved: reserved, isMasked: isMasked))
    }

    /// Sends bytes as they are, for instance half a frame.
    public static func bytes(_ bytes: Data) -> WebSocketStep { WebSocketStep(action: .send(bytes)) }

    /// Waits for a message of the client.
    public static let receive = WebSocketStep(action: .receive)

    /// Sends each message back, until the client closes.
    public static let echo = WebSocketStep(action: .echo)

    /// Stays silent for a time, without an answer to a ping. A server reads at most 1 MiB of the client's bytes
    /// meanwhile.
    public static func pause(_ time: Duration) -> WebSocketStep { WebSocketStep(action: .pause(time.clamped)) }

    /// The end of the connection without a Close frame.
    public static let drop = WebSocketStep(action: .end(.close))
    /// The end of the connection by a TCP RST.
    public static let reset = WebSocketStep(action: .end(.reset))
    /// Silence until the client leaves or the server stops. Not even a ping is answered.
    public static let stall = WebSocketStep(action: .end(.stall))
}

extension WebSocketStep: CustomReflectable {
    /// A mirror with the numbers of bytes, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["action": "\(action)"]) }
}

extension MockResponse {
    /// Creates a response that accepts a WebSocket ([RFC 6455
    /// §4.2](https://www.rfc-editor.org/rfc/rfc6455#section-4.2)) and plays steps. A server answers pings and a
    /// Close frame of the client between the steps, a stub once a step receives. After the last step both wait for the
    /// client to close. A server refuses a request that is no handshake, which is one of its ``MockServer/faults``.
    ///
    /// ```swift
    /// let session = StubSession(
    ///     .webSocket(.receive, .text("welcome"), .echo))
    /// ```
    ///
    /// - Parameters:
    ///   - steps: The steps, in order.
    ///   - subprotocol: The subprotocol that the server chooses. Nil for none.
    ///   - headers: More fields of the 101, which replace those of the handshake.
    /// - Returns: The response.
    public static func webSocket(
        _ steps: WebSocketStep..., subprotocol: String? = nil, headers: HTTPHeaders = [:]
    ) -> MockResponse {
        webSocket(steps: steps, subprotocol: subprotocol, headers: headers)
    }

    /// Creates a response that accepts a WebSocket and plays a list of steps; see
    /// ``webSocket(_:subprotocol:headers:)``.
    public static func webSocket(
        steps: [WebSocketStep], subprotocol: String? = nil, headers: HTTPHeaders = [:]
    ) -> MockResponse {
        var fields: HTTPHeaders = ["Upgrade": "websocket", "Connection": "Upgrade"]
        if let subprotocol { fields.set("Sec-WebSocket-Protocol", subprotocol) }
        return MockResponse(statusCode: 101, headers: fields.merging(headers), outcome: .webSocket(steps))
    }

    /// Returns the response with the answer to a client's key, if it accepts a WebSocket.
    func accepting(_ key: String?) -> MockResponse {
        guard case .webSocket = outcome, let key, !headers.contains("Sec-WebSocket-Accept") else { return self }
        let text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        guard let hash = try? MessageDigest.sha1.hash(Data(text.utf8)) else { return self }
        return with { $0.headers.set("Sec-WebSocket-Accept", hash.base64EncodedString()) }
    }
}

extension RecordedRequest {
    /// Throws unless the request opens a WebSocket ([RFC 6455
    /// §4.2.1](https://www.rfc-editor.org/rfc/rfc6455#section-4.2.1)).
    func checkHandshake() throws(RequestError) {
        guard method == .get, httpVersion == "HTTP/1.1", headers.hasToken("upgrade", in: "Connection"),
            headers.hasToken("websocket", in: "Upgrade")
        else { throw RequestError("the request opens no WebSocket (RFC 6455 §4.2.1)") }
        guard headers.values(for: "Sec-WebSocket-Version") == ["13"] else {
            throw RequestError(426, "the version of the WebSocket is not 13")
        }
        guard Data(base64Encoded: headers["Sec-WebSocket-Key"] ?? "")?.count == 16 else {
            throw RequestError("Sec-WebSocket-Key is not 16 bytes in Base64")
        }
    }
}
