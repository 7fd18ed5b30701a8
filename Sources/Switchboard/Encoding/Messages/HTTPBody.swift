import SwitchboardPlatform
import Foundation

/// The body of a request.
///
/// A custom body needs ``encode()`` alone:
///
/// ```swift
/// struct CSVBody: HTTPBody {
///     let rows: [[String]]
///     var additionalHeaders: HTTPHeaders {
///         ["Content-Type": "text/csv; charset=utf-8"]
///     }
///     func encode() throws -> Data {
///         let lines = rows.map { $0.joined(separator: ",") }
///         return Data(lines.joined(separator: "\r\n").utf8)
///     }
/// }
/// ```
///
/// A body in memory is encoded once for each request, before anything is sent. A retry and a 307 redirect send the same
/// bytes again. A body that is too large for memory sets ``isStreamed`` and returns its bytes from ``makeStream()``,
/// which is called for each sending.
public protocol HTTPBody: Sendable {
    /// Whether the request has no body. It then has no `Content-Type` either. Default false.
    var isEmpty: Bool { get }
    /// Header fields that describe the body, such as `Content-Type`. A field that the request sets itself takes
    /// precedence. Default none.
    var additionalHeaders: HTTPHeaders { get }
    /// Returns the whole body in memory. An error thrown here ends the request before anything is sent: a
    /// ``NetworkError`` unchanged, any other error within ``NetworkError/Code/encodingFailed``.
    func encode() throws -> Data
    /// The number of bytes, if it is known without encoding. Default nil.
    var length: Int64? { get }
    /// Whether the bytes are read through ``makeStream()`` instead of being kept in memory. Default false.
    var isStreamed: Bool { get }
    /// Whether the body can be sent again. Default true. If false, the request is never retried, and a redirect that
    /// keeps the body fails with ``NetworkError/Code/redirectRefused``.
    var isReplayable: Bool { get }
    /// Returns the bytes from the start. By default one chunk: the result of ``encode()``.
    func makeStream() throws -> HTTPBodyStream
}

extension HTTPBody {
    /// Whether the request has no body: false.
    public var isEmpty: Bool { false }
    /// No fields.
    public var additionalHeaders: HTTPHeaders { [:] }
    /// Nil: the length is unknown without encoding.
    public var length: Int64? { nil }
    /// Whether the bytes are streamed: false, the body is in memory.
    public var isStreamed: Bool { false }
    /// Whether the body can be sent again: true.
    public var isReplayable: Bool { true }

    /// Returns a stream of one chunk: the result of ``encode()``.
    public func makeStream() throws -> HTTPBodyStream {
        let data = try encode()
        let whole = Protected<Data?>(data)
        return HTTPBodyStream { whole.swap(nil) }
    }
}

/// The chunks of a body, in order. They can be read only once.
public struct HTTPBodyStream: AsyncSequence, Sendable {
    private let read: @Sendable () async throws -> Data?

    /// Creates a stream from a closure that returns the next chunk, of any size, or nil at the end.
    public init(read: @escaping @Sendable () async throws -> Data?) {
        self.read = read
    }

    /// Reads the chunks in order.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let stream: HTTPBodyStream

        /// Returns the next chunk, or nil at the end. Empty chunks are skipped.
        public mutating func next() async throws -> Data? {
            try await stream.next()
        }
    }

    package func next() async throws -> Data? {
        while let chunk = try await read() {
            if !chunk.isEmpty { return chunk }
        }
        return nil
    }

    /// Starts reading. A second iterator continues where the first one stopped.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(stream: self)
    }
}
