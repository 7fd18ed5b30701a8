import Foundation
import Switchboard
import SwitchboardPlatform

extension MockResponse {
    /// Creates a response that accepts a WebSocket ([RFC 6455 §4.2](https://www.rfc-editor.org/rfc/rfc6455#section-4.2))
    /// and plays steps. Pings and a Close frame of the client are answered at any time. After the last step it waits for
    /// the client to close.
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
        return MockResponse(status: 101, headers: fields.merging(headers), course: .webSocket(steps))
    }

    /// Returns the response with the answer to a client's key, if it accepts a WebSocket.
    func accepting(_ key: String?) -> MockResponse {
        guard case .webSocket = course, let key, !headers.contains("Sec-WebSocket-Accept") else { return self }
        let text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        guard let hash = try? MessageDigest.sha1.hash(Data(text.utf8)) else { return self }
        return with { $0.headers.set("Sec-WebSocket-Accept", hash.base64EncodedString()) }
    }
}
