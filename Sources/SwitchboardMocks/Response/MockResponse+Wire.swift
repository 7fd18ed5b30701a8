import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardText

// Responses that break or strain the rules of HTTP/1.1. A stub throws `unsupported` for them unless their documentation
// says otherwise.
extension MockResponse {
    /// Creates a response of these bytes and no others, for heads that no server should send. The connection then ends.
    public static func raw(_ bytes: Data) -> MockResponse { script(.send(bytes)) }

    /// Creates a response of this text in UTF-8 and nothing else, line ends as written. The connection then ends; see
    /// ``raw(_:)-(Data)``.
    public static func raw(_ text: String) -> MockResponse { script(.send(text)) }

    /// Creates a response of bytes and pauses. The connection then ends, unless the last step says otherwise.
    ///
    /// ```swift
    /// let cut = MockResponse.script(
    ///     .send("HTTP/1.1 200 OK\r\n"), .pause(.milliseconds(20)),
    ///     .send("Content-Le"), .reset)
    /// ```
    public static func script(_ steps: Step...) -> MockResponse { MockResponse(outcome: .script(steps)) }

    /// Creates a response of bytes that are not HTTP, the same for the same seed. The connection then ends.
    public static func garbage(_ count: Int = 1_024, seed: UInt64 = 1) -> MockResponse {
        var generator = SplitMix64(seed: seed)
        return raw(Data((0..<max(0, count)).map { _ in UInt8(truncatingIfNeeded: generator.next() >> 56) }))
    }

    /// Creates a 200 with one header field of `count` bytes.
    public static func oversizedHeader(_ count: Int = 1 << 20) -> MockResponse {
        .text("", headers: ["X-Filler": String(repeating: "x", count: max(0, count))])
    }

    /// Returns this response with a `Content-Length` that need not be the body's length. When it is longer, the
    /// response ends with the connection. When it is shorter, the rest of the body counts as ``followed(by:)-(Data)``
    /// bytes.
    public func announcing(length: Int) -> MockResponse { with { $0.wire.announcedLength = length } }

    /// Returns this response with a second `Content-Length`. Clients must refuse two lengths that differ ([RFC 9112
    /// §6.3](https://www.rfc-editor.org/rfc/rfc9112#section-6.3)).
    public func duplicatingContentLength(as length: Int) -> MockResponse { with { $0.wire.secondLength = length } }

    /// Returns this response in chunks, with this text as the size of the first one: `zz`, `-1`, `FFFFFFFFFFFFFFFFF`.
    /// The connection then ends.
    public func chunked(sizeText: String) -> MockResponse {
        with {
            $0.chunkSizes = $0.chunkSizes ?? []
            $0.wire.chunkSizeText = sizeText
        }
    }

    /// Returns this response in chunks, without the last, empty chunk. The connection then ends. A stub throws
    /// ``/Switchboard/NetworkError/Code/truncatedBody``.
    public func withoutLastChunk() -> MockResponse {
        with { $0.chunkSizes = $0.chunkSizes ?? [] }.truncated(after: body.count)
    }

    /// Returns this response, followed by bytes that its length does not announce. The connection then ends. A stub
    /// leaves these bytes out, as a session does.
    public func followed(by bytes: Data) -> MockResponse { with { $0.wire.trailing += bytes } }

    /// Returns this response, followed by text that its length does not announce; see ``followed(by:)-(Data)``.
    public func followed(by text: String) -> MockResponse { followed(by: Data(text.utf8)) }

    /// Returns this response preceded by `count` interim ones ([RFC 9110
    /// §15.2](https://www.rfc-editor.org/rfc/rfc9110#section-15.2)). Their default status is 103. A stub leaves them
    /// out, as a session does.
    public func preceded(byInterim count: Int, statusCode: Int = 103) -> MockResponse {
        with { $0.wire.interim = (statusCode, max(0, count)) }
    }

    /// Returns this response as HTTP/1.0, without a length, up to the end of the connection ([RFC 9112
    /// §6.3](https://www.rfc-editor.org/rfc/rfc9112#section-6.3), case 8). A stub delivers it like any other response.
    public func asHTTP10() -> MockResponse {
        with {
            $0.wire.version = "HTTP/1.0"
            $0.chunkSizes = nil
        }
    }
}

/// The faults in the bytes of an answer. Default none.
struct WireFaults: Sendable {
    /// `HTTP/1.1`, or the text sent instead.
    var version = "HTTP/1.1"
    /// The announced `Content-Length`, which may differ from the body's.
    var announcedLength: Int?
    /// A second `Content-Length`.
    var secondLength: Int?
    /// The text sent as the size of the first chunk.
    var chunkSizeText: String?
    /// Bytes after the end of the response.
    var trailing = Data()
    /// Interim responses before the answer.
    var interim: (statusCode: Int, count: Int)?

    /// Whether the connection ends after the answer.
    var endsConnection: Bool { needsSocket != nil || version != "HTTP/1.1" || !trailing.isEmpty }

    /// The bytes of one interim response.
    var interimHead: Data {
        let status = interim?.statusCode ?? 103
        return Data("HTTP/1.1 \(status) \(ReasonPhrase.phrase(for: status))\r\n\r\n".utf8)
    }

    /// The fault that needs a real socket, or nil when a stub can simulate the answer.
    var needsSocket: String? {
        if announcedLength != nil || secondLength != nil { return "wrong lengths" }
        return chunkSizeText == nil ? nil : "bad chunk sizes"
    }
}

extension MockResponse {
    /// A step of ``MockResponse/script(_:)``.
    public struct Step: Sendable, Hashable {
        enum Action: Sendable, Hashable {
            case send(Data)
            case pause(Duration)
            /// The end of the connection, or nil for one that stays open.
            case end(MockResponse.Break?)
        }

        let action: Action

        /// Sends these bytes, in one write.
        public static func send(_ bytes: Data) -> Step { Step(action: .send(bytes)) }

        /// Sends this text in UTF-8, line ends as written, in one write.
        public static func send(_ text: String) -> Step { send(Data(text.utf8)) }

        /// Stays silent for a time.
        public static func pause(_ time: Duration) -> Step { Step(action: .pause(time.clamped)) }

        /// The end of the connection, which also follows the last step of any script.
        public static let close = Step(action: .end(.close))
        /// The end of the connection by a TCP RST.
        public static let reset = Step(action: .end(.reset))
        /// Silence until the client leaves or the server stops.
        public static let stall = Step(action: .end(.stall))
        /// The end of the answer on a connection that stays open for the next request.
        public static let keepAlive = Step(action: .end(nil))
    }
}

extension MockResponse.Step: CustomReflectable {
    /// A mirror with the numbers of bytes, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["action": "\(action)"]) }
}
