import Foundation
import Switchboard
import SwitchboardText

/// What is wrong, or odd, with the bytes of an answer. None by default.
struct WireFaults: Sendable {
    /// `HTTP/1.1` or what stands there instead.
    var version = "HTTP/1.1"
    /// `Content-Length` as announced, whatever the body has.
    var announcedLength: Int?
    /// A second `Content-Length`.
    var secondLength: Int?
    /// What stands where the size of the first chunk belongs.
    var chunkSizeText: String?
    /// Bytes behind the end of the response.
    var trailing = Data()
    /// Interim responses before it.
    var interim: (status: Int, count: Int)?

    /// Whether the connection cannot go on behind it.
    var isOdd: Bool { needsSocket != nil || version != "HTTP/1.1" || !trailing.isEmpty }

    /// The bytes of one interim response.
    var interimHead: Data {
        let status = interim?.status ?? 103
        return Data("HTTP/1.1 \(status) \(ReasonPhrase.phrase(for: status))\r\n\r\n".utf8)
    }

    /// What of it only a socket can show; nil when a stub, which has no bytes, can stand for it.
    var needsSocket: String? {
        if announcedLength != nil || secondLength != nil { return "wrong lengths" }
        return chunkSizeText == nil ? nil : "bad chunk sizes"
    }
}
