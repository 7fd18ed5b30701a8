import Foundation

/// Converts between the frames of a WebSocket and the messages of a ``FoundationSocket``.
package struct MessageRelay: Sendable {
    /// The largest message that is received, in bytes.
    package let messageLimit: Int
    /// Starts to send the frames of a client over a socket, and returns the server's frames.
    package let start: @Sendable (FoundationSocket, HTTPBodyStream) -> ResponseBytes

    /// Creates a relay.
    package init(
        messageLimit: Int, start: @escaping @Sendable (FoundationSocket, HTTPBodyStream) -> ResponseBytes
    ) {
        self.messageLimit = messageLimit
        self.start = start
    }
}
