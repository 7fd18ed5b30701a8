import Foundation
import Switchboard
import SwitchboardPlatform
import Testing
@testable import SwitchboardWebSocket

/// The opening handshake ([RFC 6455 §4.1](https://www.rfc-editor.org/rfc/rfc6455#section-4.1)).
@Suite("WebSocket handshake") struct WebSocketHandshakeTests {
    private let answer: HTTPHeaders = [
        "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Accept": "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
    ]

    private func handshake(_ change: (inout WebSocketOptions) -> Void = { _ in }) -> WebSocketHandshake {
        var options = WebSocketOptions()
        options.subprotocols = ["chat", "superchat"]
        options.compression = WebSocketCompression()
        change(&options)
        // The key of RFC 6455 §1.3.
        return WebSocketHandshake(options, key: "dGhlIHNhbXBsZSBub25jZQ==")
    }

    @Test("the key of RFC 6455 §1.3 has its answer")
    func key() throws {
        #expect(try WebSocketHandshake.accept(for: "dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }

    @Test("each handshake has another key of 16 bytes")
    func keys() {
        let keys = (0..<100).map { _ in WebSocketHandshake(WebSocketOptions()).key }
        #expect(Set(keys).count == 100)
        #expect(keys.allSatisfy { Data(base64Encoded: $0)?.count == 16 })
    }

    @Test("the request has the fields of RFC 6455 §4.1")
    func request() {
        let headers = handshake().headers
        #expect(headers["Sec-WebSocket-Version"] == "13" && headers["Upgrade"] == "websocket")
        #expect(headers["Sec-WebSocket-Protocol"] == "chat, superchat")
        #expect(headers["Sec-WebSocket-Extensions"] == "permessage-deflate; client_max_window_bits")
        #expect(handshake { $0 = WebSocketOptions() }.headers.count == 4)
    }

    @Test(
        "an answer that fits is accepted",
        arguments: [
            ([:], nil, nil), (["Upgrade": "WebSocket", "Connection": "keep-alive, upgrade"], nil, nil),
            (["Sec-WebSocket-Protocol": "superchat"], "superchat", nil),
            (["Sec-WebSocket-Extensions": "permessage-deflate"], nil, 15),
            (
                [
                    "Sec-WebSocket-Extensions":
                        "permessage-deflate; client_max_window_bits=\"10\"; server_no_context_takeover"
                ], nil, 10
            ),
        ] as [(HTTPHeaders, String?, Int?)])
    func accepted(_ headers: HTTPHeaders, _ subprotocol: String?, _ windowBits: Int?) throws {
        let negotiation = try handshake().negotiation(answer.merging(headers))
        #expect(negotiation.subprotocol == subprotocol && negotiation.compression?.windowBits == windowBits)
    }

    @Test(
        "an answer that does not fit is refused",
        arguments: [
            ["Upgrade": "webSoc\u{212A}et"], ["Upgrade": "h2c"], ["Upgrade": ""], ["Connection": "close"],
            ["Sec-WebSocket-Accept": "s3pPLMBiTxaQ9kYGzzhZRbK+xOO="],
            ["Sec-WebSocket-Protocol": "other"], ["Sec-WebSocket-Protocol": "Chat"],
            ["Sec-WebSocket-Protocol": "chat, superchat"],
            ["Sec-WebSocket-Extensions": "x-webkit-deflate-frame"],
            ["Sec-WebSocket-Extensions": "permessage-deflate, permessage-deflate"],
            ["Sec-WebSocket-Extensions": "permessage-deflate; unknown"],
            ["Sec-WebSocket-Extensions": "permessage-deflate;"],
            ["Sec-WebSocket-Extensions": "permessage-deflate;; server_no_context_takeover"],
            ["Sec-WebSocket-Extensions": "permessage-deflate; client_max_window_bits=16"],
            ["Sec-WebSocket-Extensions": "permessage-deflate; server_max_window_bits=7"],
            ["Sec-WebSocket-Extensions": "permessage-deflate; server_max_window_bits=010"],
            ["Sec-WebSocket-Extensions": "permessage-deflate; client_no_context_takeover; client_no_context_takeover"],
            ["Sec-WebSocket-Extensions": "permessage-deflate; server_no_context_takeover=1"],
        ] as [HTTPHeaders])
    func refused(_ headers: HTTPHeaders) {
        #expect(throws: NetworkError.self) { try handshake().negotiation(answer.merging(headers)) }
    }

    @Test(
        "the error of a refused parameter is short and on one line",
        arguments: ["x\u{9B}", "client_max_window_bits=\u{9B}"])
    func shortError(_ start: String) {
        let parameter = start + String(repeating: "y", count: 100_000)
        let headers = answer.merging(["Sec-WebSocket-Extensions": "permessage-deflate; \(parameter)"])
        let error = #expect(throws: NetworkError.self) { try handshake().negotiation(headers) }
        let reason = error?.reason ?? ""
        #expect(reason.hasPrefix("permessage-deflate has") && reason.count < 200)
        #expect(!reason.unicodeScalars.contains("\u{9B}"))
    }

    @Test("an extension that was not offered is refused")
    func unasked() {
        let headers = answer.merging(["Sec-WebSocket-Extensions": "permessage-deflate"])
        #expect(throws: NetworkError.self) { try handshake { $0.compression = nil }.negotiation(headers) }
    }

    @Test("a server that keeps its context although it must not is refused")
    func context() {
        let headers = answer.merging(["Sec-WebSocket-Extensions": "permessage-deflate"])
        #expect(throws: NetworkError.self) {
            try handshake { $0.compression?.allowsServerContextTakeover = false }.negotiation(headers)
        }
    }

    @Test("without zlib compression is unsupported, and the reason names the library")
    func noZlib() throws {
        let failure = DynamicLibrary.Failure(text: "libz.so.1 was not found")
        let accepted = try AcceptedCompression([], to: WebSocketCompression())
        let framer = MessageFramer(SendQueue())
        let error = #expect(throws: NetworkError.self) {
            try WebSocketOpener.reader(accepted, WebSocketOptions(), framer, zlib: .failure(failure))
        }
        #expect(error?.code == .unsupported)
        #expect(error?.reason == "permessage-deflate needs zlib, and libz.so.1 was not found")
    }
}
