import Foundation
import Switchboard
import SwitchboardText

/// The faults and oddities in the bytes of an answer. Default none.
struct WireFaults: Sendable {
    /// `HTTP/1.1`, or the text sent in its place.
    var version = "HTTP/1.1"
    /// The announced `Content-Length`, which may differ from the body's.
    var announcedLength: Int?
    /// A second `Content-Length`.
    var secondLength: Int?
    /// The text sent as the size of the first chunk.
    var chunkSizeText: String?
    /// Bytes behind the end of the response.
    var trailing = Data()
    /// Interim responses before the answer.
    var interim: (status: Int, count: Int)?

    /// Whether the connection cannot be used after the answer.
    var isOdd: Bool { needsSocket != nil || version != "HTTP/1.1" || !trailing.isEmpty }

    /// The bytes of one interim response.
    var interimHead: Data {
        let status = interim?.status ?? 103
        return Data("HTTP/1.1 \(status) \(ReasonPhrase.phrase(for: status))\r\n\r\n".utf8)
    }

    /// The fault that needs a real socket, or nil when a stub can simulate the answer.
    var needsSocket: String? {
        if announcedLength != nil || secondLength != nil { return "wrong lengths" }
        return chunkSizeText == nil ? nil : "bad chunk sizes"
    }
}
