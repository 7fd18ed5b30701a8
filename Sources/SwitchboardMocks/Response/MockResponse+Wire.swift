import Foundation
import Switchboard

// What breaks, or strains, the rules of HTTP/1.1. It needs a socket, unless something else is said: a stub throws
// `unsupported`.
extension MockResponse {
    /// These bytes and no others, then the end of the connection: for heads that no server should send.
    public static func raw(_ bytes: Data) -> MockResponse { script(.send(bytes)) }

    /// This text in UTF-8 and nothing else, line ends as written, then the end of the connection; see
    /// ``raw(_:)-(Data)``.
    public static func raw(_ text: String) -> MockResponse { script(.send(text)) }

    /// Bytes and pauses as written, then the end of the connection, unless the last step says otherwise.
    ///
    /// ```swift
    /// server.enqueue(.script(.send("HTTP/1.1 200 OK\r\n"), .pause(.milliseconds(20)), .send("Content-Le"), .reset))
    /// ```
    public static func script(_ steps: RawStep...) -> MockResponse { MockResponse(course: .script(steps)) }

    /// Bytes that are no HTTP, the same for the same seed, then the end of the connection.
    public static func garbage(_ count: Int = 1_024, seed: UInt64 = 1) -> MockResponse {
        var generator = SplitMix64(seed: seed)
        return raw(Data((0..<max(0, count)).map { _ in UInt8(truncatingIfNeeded: generator.next() >> 56) }))
    }

    /// A 200 with one header field of that many bytes.
    public static func oversizedHeader(_ count: Int = 1 << 20) -> MockResponse {
        .text("", headers: ["X-Filler": String(repeating: "x", count: max(0, count))])
    }

    /// This response with a `Content-Length` of its own, whatever the body has. One that is longer ends with the
    /// connection; of one that is shorter the rest are ``followed(by:)-(Data)`` bytes.
    public func announcing(length: Int) -> MockResponse { with { $0.wire.announcedLength = length } }

    /// This response with a second `Content-Length` ([RFC 9112
    /// §6.3](https://www.rfc-editor.org/rfc/rfc9112#section-6.3) has clients refuse one that differs).
    public func duplicatingContentLength(as length: Int) -> MockResponse { with { $0.wire.secondLength = length } }

    /// This response in chunks, the first of which has this text for a size: `zz`, `-1`, `FFFFFFFFFFFFFFFFF`. The
    /// connection ends behind it.
    public func chunked(sizeText: String) -> MockResponse {
        with {
            $0.chunkSizes = $0.chunkSizes ?? []
            $0.wire.chunkSizeText = sizeText
        }
    }

    /// This response in chunks, all but the last, empty one, then the end of the connection. From a stub:
    /// ``/Switchboard/NetworkError/Code/truncatedBody``.
    public func withoutLastChunk() -> MockResponse {
        with { $0.chunkSizes = $0.chunkSizes ?? [] }.truncated(after: body.count)
    }

    /// This response, and bytes behind its end that nobody announced, then the end of the connection. A stub leaves
    /// them out, as a session does.
    public func followed(by bytes: Data) -> MockResponse { with { $0.wire.trailing += bytes } }

    /// This response, and text behind its end that nobody announced; see ``followed(by:)-(Data)``.
    public func followed(by text: String) -> MockResponse { followed(by: Data(text.utf8)) }

    /// This response behind so many interim ones ([RFC 9110
    /// §15.2](https://www.rfc-editor.org/rfc/rfc9110#section-15.2)): 103 each, unless another status is given. A stub
    /// leaves them out, as a session does.
    public func preceded(byInterim count: Int, status: Int = 103) -> MockResponse {
        with { $0.wire.interim = (status, max(0, count)) }
    }

    /// This response as HTTP/1.0, without a length, up to the end of the connection ([RFC 9112
    /// §6.3](https://www.rfc-editor.org/rfc/rfc9112#section-6.3), case 8). A stub gives it as it is.
    public func asHTTP10() -> MockResponse {
        with {
            $0.wire.version = "HTTP/1.0"
            $0.chunkSizes = nil
        }
    }
}
