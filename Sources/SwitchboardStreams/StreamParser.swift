import Foundation
import Switchboard

/// Makes elements of the bytes of a stream, over as many connections as it takes.
protocol StreamParser: Sendable {
    associatedtype Element: Sendable
    associatedtype Position: Sendable

    /// The place behind the last whole element, which the next connection asks for.
    var position: Position { get }
    /// How long the server wants a client to wait before it connects again, as last said.
    var retry: Duration? { get }
    /// The media type that a response must have; nil for any.
    var mediaType: String? { get }

    /// Begins with another connection's bytes.
    mutating func restart()

    /// Hands out the elements that are complete with this chunk; nil, for the end of the bytes, completes the last one.
    mutating func parse(_ chunk: Data?, _ body: (Element) -> Void) throws
}
