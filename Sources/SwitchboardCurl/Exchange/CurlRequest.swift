#if os(Linux)
import Foundation

/// The request of an exchange, and the limits of its response.
package struct CurlRequest: Sendable {
    /// The body to send.
    package enum Body: Sendable {
        case none
        case data(Data)
        /// A body of chunks. `pump` passes each chunk to the closure it receives, and returns at the end or when the
        /// closure returns false. A known length is announced and must be exact.
        case stream(length: Int64?, pump: @Sendable (_ send: @Sendable (Data) async -> Bool) async throws -> Void)
    }

    /// Confirms a chunk of the body, and returns the sender to resume.
    package typealias Confirmation = @Sendable () -> CheckedContinuation<Void, any Error>?

    /// The URL without user and password.
    package var url: String
    package var isTLS: Bool
    package var method: String
    package var body = Body.none
    /// Whether a request without a body sends `Content-Length: 0` ([RFC 9110
    /// §8.6](https://www.rfc-editor.org/rfc/rfc9110#section-8.6)).
    package var announcesEmptyBody = false

    /// The timeouts in nanoseconds, `.max` for no limit: for connecting, between activity of the server, and for the
    /// whole exchange.
    package var connectTimeout = UInt64.max
    package var idleTimeout = UInt64.max
    package var attemptTimeout = UInt64.max

    /// The maximum number of bytes of a head, and of a body in memory.
    package var headLimit = Int.max
    package var bodyLimit = Int.max
    /// The maximum ratio of a body's decoded size to its size on the wire.
    package var ratioLimit = Int.max

    /// Whether the body of a 2xx response is streamed.
    package var isStreamed = false
    /// Whether the body of a response with any other status is streamed too.
    package var streamsEveryStatus = false
    /// Whether the request upgrades to another protocol. The head is sent with HTTP/1.1 on a new connection, and the body
    /// without framing after the 101.
    package var isUpgrade = false
    /// Confirms that a chunk of an upgraded connection is sent, before the end of the connection reaches the reader.
    package var onConfirm: Confirmation?
    /// Whether the caller would repeat the request over a new connection.
    package var mayBeReplayed = false
    /// Whether the caller would repeat the request if the server has certainly not processed it.
    package var mayBeReplayedUnprocessed = false
    package var isOnNewConnection = false
    /// Receives the number of bytes sent, on a separate queue.
    package var onBodySent: (@Sendable (Int64) -> Void)?

    /// Creates a request with defaults for everything else.
    package init(_ method: String, _ url: String, isTLS: Bool) {
        self.method = method
        self.url = url
        self.isTLS = isTLS
    }

    /// The URL up to its path.
    var server: Substring { url[..<(url.endOfServer(isTLS: isTLS) ?? url.endIndex)] }

    /// The body, if it is so small that libcurl sends it together with the head. `onBodySent` needs a callback for it.
    var smallBody: Data? {
        guard case .data(let data) = body, !data.isEmpty, data.count <= 16 << 10, onBodySent == nil, !isUpgrade else {
            return nil
        }
        return data
    }

    /// The length of the body, -1 if unknown. Nil without a body.
    var bodyLength: Int64? {
        switch body {
        case .none: nil
        case .data(let data): Int64(data.count)
        case .stream(let length, _): length ?? -1
        }
    }
}

extension String {
    /// Returns the start of the path, query or fragment of a URL, or its end. Nil for a URL shorter than its scheme.
    func endOfServer(isTLS: Bool) -> Index? {
        utf8.index(startIndex, offsetBy: isTLS ? 8 : 7, limitedBy: endIndex).map { host in
            utf8[host...].firstIndex { $0 == 0x2F || $0 == 0x3F || $0 == 0x23 } ?? endIndex
        }
    }
}
#endif
