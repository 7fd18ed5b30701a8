import Switchboard
import Foundation

/// A server fault and its expected error, for tests of an app's error handling. ``all`` lists those of HTTP, and
/// ``webSocket`` those of WebSockets.
///
/// ```swift
/// import SwitchboardTesting
///
/// @Test(arguments: MockFault.all.filter { !$0.needsBody })
/// func theErrorIsThatOfTheFault(fault: MockFault) async throws {
///     guard let code = fault.code else { return }
///     try await MockServer.run { server in
///         server.enqueue(fault.response)
///         let options = RequestOptions {
///             $0.timeouts.attempt = .seconds(2)
///         }
///         let error = await #expect(throws: NetworkError.self) {
///             try await NetworkManager().data(
///                 from: server.url, options: options)
///         }
///         #expect(error?.code.isKind(of: code) == true)
///     }
/// }
/// ```
///
/// Tests confirm each fault on the wire with programs that do not use this package.
public struct MockFault: Sendable, CustomStringConvertible {
    /// A short name, which never changes: `close-on-accept`.
    public let name: String
    /// The server's behavior, in words.
    public let summary: String
    /// The script: for ``MockServer/enqueue(_:)``, and for a ``StubSession`` if ``needsSocket`` is false.
    public let response: MockResponse
    /// The error that a session throws, or its general code. Nil when the response arrives all the same.
    ///
    /// Match it with `~=`: a connection that is reset at once may or may not have been open. A
    /// ``/Switchboard/NetworkError/Code/timedOut`` comes from the request's timeout, by default after a minute.
    public let code: NetworkError.Code?
    /// Whether the fault needs a request with a body.
    public let needsBody: Bool

    init(
        _ name: String, _ summary: String, _ response: MockResponse, _ code: NetworkError.Code?,
        needsBody: Bool = false
    ) {
        self.name = name
        self.summary = summary
        self.response = response
        self.code = code
        self.needsBody = needsBody
    }

    /// Whether only a ``MockServer`` can produce the fault. A ``StubSession`` throws
    /// ``/Switchboard/NetworkError/Code/unsupported`` for it.
    public var needsSocket: Bool { if case .script = response.outcome { true } else { false } }

    /// The name.
    public var description: String { name }
}

extension MockFault {
    /// Every fault of HTTP, one value each. Their times are short: a pause is 20 milliseconds, and a stall lasts until
    /// the client gives up.
    public static let all: [MockFault] = beforeHead + duringBody + framing + encodings + slow + unusualButComplete

    private static let beforeHead = [
        MockFault("close-on-accept", "closes as soon as the connection is open", .close(at: .accept), .connectionLost),
        MockFault("reset-on-accept", "resets as soon as the connection is open", .reset(at: .accept), .cannotConnect),
        MockFault("stall-on-accept", "accepts and answers nothing", .stall(at: .accept), .timedOut),
        MockFault(
            "close-after-request-line", "closes after the first line of the request", .close(at: .requestLine),
            .connectionLost),
        MockFault(
            "reset-after-request-line", "resets after the first line of the request", .reset(at: .requestLine),
            .connectionLost),
        MockFault(
            "close-after-request-head", "closes after the header fields of the request", .close(at: .requestHead),
            .connectionLost, needsBody: true),
        MockFault(
            "reset-amid-request-body", "resets after 10 bytes of the request's body",
            .reset(at: .requestBody(after: 10)), .connectionLost, needsBody: true),
        MockFault("close", "reads the request and closes without a byte", .close, .connectionLost),
        MockFault("reset", "reads the request and resets", .reset, .connectionLost),
        MockFault("stall", "reads the request and stays silent", .stall, .timedOut),
        MockFault(
            "close-after-status-line", "closes after the status line", .close(at: .statusLine), .connectionLost),
        MockFault(
            "stall-after-status-line", "sends the status line and stays silent", .stall(at: .statusLine), .timedOut),
    ]

    private static let duringBody = [
        MockFault("close-after-head", "closes after the header fields", .close(at: .head), .truncatedBody),
        MockFault("reset-after-head", "resets after the header fields", .reset(at: .head), .connectionLost),
        MockFault("truncated", "closes after 100 bytes of a longer body", .truncated(after: 100), .truncatedBody),
        MockFault(
            "reset-amid-body", "resets after 100 bytes of a longer body", .reset(at: .body(after: 100)),
            .connectionLost),
        MockFault("stalled", "sends 100 bytes of a longer body and stays silent", .stalled(after: 100), .timedOut),
        MockFault(
            "missing-last-chunk", "sends chunks without the last, empty one, and closes",
            .text("abcdef").chunked(2).truncated(after: 6), .truncatedBody),
    ]

    private static let framing = [
        MockFault(
            "length-too-long", "announces 10 bytes, sends 6 and closes",
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabcdef"), .truncatedBody),
        MockFault(
            "length-too-short", "announces 3 bytes and sends 6",
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef"), nil),
        MockFault(
            "lengths-that-differ", "has two Content-Length fields that differ",
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 6\r\nContent-Length: 5\r\n\r\nabcdef"), .invalidResponse),
        MockFault(
            "bad-chunk-size", "has a chunk size that is not a number",
            .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabcdef\r\n"), .invalidResponse),
        MockFault("garbage", "sends bytes that are not HTTP", .garbage(), .invalidResponse),
        MockFault("oversized-header", "sends a header field of a mebibyte", .oversizedHeader(), .headersTooLarge),
        MockFault(
            "interim-without-end", "sends 20,000 interim responses, and no other",
            .raw(String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", count: 20_000)), .headersTooLarge),
        MockFault("redirect-loop", "redirects to itself without end", .redirectLoop, nil),
    ]

    private static let encodings = [
        MockFault(
            "no-gzip", "declares gzip and sends text", .text("abcdef").mislabelled(as: "gzip"), .cannotDecodeResponse),
        MockFault(
            "unknown-encoding", "has an unknown Content-Encoding", .text("abcdef").mislabelled(as: "rot13"),
            nil),
    ]

    private static let slow = [
        MockFault("late", "waits before it answers", .text("late").delayed(by: .milliseconds(20)), nil),
        MockFault(
            "slow-chunks", "waits between chunks", .text("abcdef").chunked(2).paced(every: .milliseconds(20)), nil),
        MockFault(
            "throttled", "sends 40,000 bytes a second", .data(Data(count: 4_000)).throttled(bytesPerSecond: 40_000), nil
        ),
        MockFault(
            "split-head", "sends the head in two halves, by a script of bytes",
            .script(
                .send("HTTP/1.1 200 OK\r\nContent-Le"), .pause(.milliseconds(20)), .send("ngth: 3\r\n\r\nabc"),
                .keepAlive),
            nil),
        MockFault("slow-loris", "sends the head byte by byte", .text("abc").dripping(every: .milliseconds(2)), nil),
    ]

    private static let unusualButComplete = [
        MockFault(
            "http-1.0", "answers as HTTP/1.0, up to the end of the connection",
            .raw("HTTP/1.0 200 OK\r\n\r\nabc"), nil),
        MockFault(
            "trailing-bytes", "sends bytes after the end of the body",
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabctrailing"), nil),
        MockFault(
            "interim-storm", "sends 50 interim responses first",
            .raw(
                String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 50)
                    + "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"), nil),
        MockFault(
            "equal-lengths", "has the same Content-Length twice",
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc"), nil),
    ]
}

extension MockFault {
    /// The faults of a WebSocket, one value each. The error is that of reading until the end, with a
    /// `webSocket.pingInterval`. Nil when a message arrives all the same.
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
    /// The bytes of the step, each followed by a pause.
    fileprivate var dripping: [WebSocketStep] {
        guard case .send(let bytes) = action else { return [self] }
        return bytes.flatMap { [.bytes(Data([$0])), .pause(.milliseconds(2))] }
    }
}
