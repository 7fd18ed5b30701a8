import Foundation

/// A body whose bytes are produced while they are sent. ``FoundationSession`` first writes them to a temporary file,
/// and announces their number.
///
/// ```swift
/// let body = StreamBody(contentType: "text/csv") {
///     HTTPBodyStream { try await export.nextChunk() }
/// }
/// ```
public struct StreamBody: HTTPBody {
    /// The number of bytes, if it is known. The request then announces it, and a stream of another length ends the
    /// request with ``NetworkError/Code/encodingFailed``. With nil, ``CurlSession`` sends the body in chunks ([RFC 9112
    /// §7.1](https://www.rfc-editor.org/rfc/rfc9112#section-7.1)).
    public let length: Int64?
    /// The `Content-Type`.
    public let additionalHeaders: HTTPHeaders
    /// Whether the body can be sent again with a new ``makeStream()``.
    public let isReplayable: Bool
    private let open: @Sendable () throws -> HTTPBodyStream

    /// Creates a body. `open` is called each time the body is sent. Pass false as `isReplayable` if it can return its
    /// bytes only once: the body is then never sent again.
    public init(
        length: Int64? = nil, contentType: String = "application/octet-stream", isReplayable: Bool = true,
        open: @escaping @Sendable () throws -> HTTPBodyStream
    ) {
        self.length = length
        self.isReplayable = isReplayable
        self.open = open
        additionalHeaders = [.contentType(contentType)]
    }

    /// Whether the bytes are read while they are sent: always true.
    public var isStreamed: Bool { true }

    /// Returns a new stream.
    public func makeStream() throws -> HTTPBodyStream { try open() }

    /// Throws, because the bytes are never all in memory.
    ///
    /// - Throws: Always ``NetworkError/Code/encodingFailed``.
    public func encode() throws -> Data {
        throw NetworkError(.encodingFailed, reason: "a StreamBody is read through makeStream()")
    }
}
