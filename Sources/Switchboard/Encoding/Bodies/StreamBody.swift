import Foundation

/// Bytes that are made while they are sent.
///
/// ```swift
/// let body = StreamBody(contentType: "text/csv") { HTTPBodyStream { try await export.nextChunk() } }
/// ```
public struct StreamBody: HTTPBody {
    /// The number of bytes, when it is known: then it is announced, and a stream that gives another number ends the
    /// request with ``NetworkError/Code/encodingFailed``. Nil sends them in chunks ([RFC 9112
    /// §7.1](https://www.rfc-editor.org/rfc/rfc9112#section-7.1)).
    public let length: Int64?
    /// The `Content-Type`.
    public let additionalHeaders: HTTPHeaders
    /// Whether ``makeStream()`` can be called again for a second sending.
    public let isReplayable: Bool
    private let open: @Sendable () throws -> HTTPBodyStream

    /// Makes a body. `open` is called for each sending; when it can give its bytes only once, say so with
    /// `isReplayable`, and the request is never sent a second time.
    public init(
        length: Int64? = nil, contentType: String = "application/octet-stream", isReplayable: Bool = true,
        open: @escaping @Sendable () throws -> HTTPBodyStream
    ) {
        self.length = length
        self.isReplayable = isReplayable
        self.open = open
        additionalHeaders = [.contentType(contentType)]
    }

    /// True: the bytes are read as they are sent.
    public var isStreamed: Bool { true }

    /// A new stream.
    public func makeStream() throws -> HTTPBodyStream { try open() }

    /// Not to be had: the bytes are never all in memory.
    ///
    /// - Throws: ``NetworkError/Code/encodingFailed`` always.
    public func encode() throws -> Data {
        throw NetworkError(.encodingFailed, reason: "a StreamBody is read through makeStream()")
    }
}
