import Foundation
import Switchboard

/// Parses the bytes of a stream into elements, over several connections.
protocol StreamParser {
    associatedtype Element
    associatedtype Position: Sendable

    /// The position after the last complete element, at which the next connection starts.
    var position: Position { get }
    /// The time that the server last asked clients to wait before they reconnect.
    var retry: Duration? { get }
    /// The media type that a response must have, or nil for any.
    var mediaType: String? { get }

    /// Prepares for the bytes of a new connection.
    mutating func restart()

    /// Passes `body` the elements that this chunk completes. Nil marks the end of the bytes, which completes the last
    /// element.
    mutating func parse(_ chunk: Data?, _ body: (Element) -> Void) throws
}
