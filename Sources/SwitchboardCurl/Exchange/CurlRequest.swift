#if os(Linux)
import Foundation

/// What an exchange sends, and what it accepts.
package struct CurlRequest: Sendable {
    /// The body to send.
    package enum Body: Sendable {
        case none
        case data(Data)
        /// Chunks as they come: `pump` hands each to the closure it is given, and returns at the end or when that gives
        /// false. A length that is known is announced and must be kept.
        case stream(length: Int64?, pump: @Sendable (_ send: @Sendable (Data) async -> Bool) async throws -> Void)
    }

    /// Without a user and password.
    package var url: String
    package var isTLS: Bool
    package var method: String
    package var body = Body.none
    /// Sends `Content-Length: 0` when there is no body ([RFC 9110
    /// §8.6](https://www.rfc-editor.org/rfc/rfc9110#section-8.6)).
    package var announcesEmptyBody = false

    /// Nanoseconds, `.max` for no limit: until there is a connection, between signs of the server, and for all of it.
    package var connectTimeout = UInt64.max
    package var idleTimeout = UInt64.max
    package var attemptTimeout = UInt64.max

    /// The most bytes of a head, and of a body in memory.
    package var headLimit = Int.max
    package var bodyLimit = Int.max
    /// How many times its size on the wire a body may have.
    package var ratioLimit = Int.max

    /// Whether the body of a status of 200 to 299 is handed out while it arrives.
    package var isStreamed = false
    /// Whether the caller would send it again, over a new connection or for a body that is not decoded.
    package var mayBeRepeated = false
    package var isOnNewConnection = false
    package var decodesBody = true
    /// Hears the number of bytes sent, on a queue of its own.
    package var onBodySent: (@Sendable (Int64) -> Void)?

    /// Makes a request; everything else is set on it.
    package init(_ method: String, _ url: String, isTLS: Bool) {
        self.method = method
        self.url = url
        self.isTLS = isTLS
    }

    /// Nil for no body, -1 for one of unknown length.
    var bodyLength: Int64? {
        switch body {
        case .none: nil
        case .data(let data): Int64(data.count)
        case .stream(let length, _): length ?? -1
        }
    }
}
#endif
