import SwitchboardPlatform
import SwitchboardText
import Foundation

/// A response's body as it arrives, in chunks that can be read only once.
///
/// The reader controls the pace: at most a few hundred kilobytes are buffered before the server must wait.
/// ``FoundationSession`` cannot pause a server and writes the rest to a temporary file. Releasing the bytes, or
/// canceling the reading task, cancels the exchange.
public struct ResponseBytes: AsyncSequence, Sendable {
    /// Supplies the chunks of one exchange.
    package protocol Source: Sendable {
        /// Returns the next chunk, or nil at the end of a complete body.
        func next() async throws -> Data?
        /// The request, for use in errors. Nil if it is unknown.
        var request: NetworkRequest? { get async }
        /// The trailers and measurements, once the whole body has arrived. Nil if the session has none.
        var result: (trailers: HTTPHeaders, metrics: ExchangeMetrics)? { get }
        /// The number of delivered bytes that came from a cache.
        var storedCount: Int64 { get }
        /// Tells the source that its reader may still fail after the last chunk. The call then ends with the error that
        /// the reader reports to ``ResponseBytes/failed(_:)``, or when the source is released.
        func endsWithReader() async
    }

    private let source: any Source

    package init(_ source: any Source) {
        self.source = source
    }

    /// Creates a body from a function that returns the next chunk, of any size, or nil at the end of a complete body.
    /// For a custom session or interceptor. Empty chunks are skipped.
    ///
    /// The function should throw only ``NetworkError`` or `CancellationError`.
    public init(read: @escaping @Sendable () async throws -> Data?) {
        source = Reading(read: read)
    }

    /// Creates a body from such a function, and from one that returns the trailers and measurements once the whole body
    /// has arrived.
    package init(
        result: @escaping @Sendable () -> (trailers: HTTPHeaders, metrics: ExchangeMetrics)?,
        read: @escaping @Sendable () async throws -> Data?
    ) {
        source = Reading(read: read, finish: result)
    }

    /// Creates a body whose exchange starts on the first read. It starts only once.
    package init(opening open: @escaping @Sendable () async throws -> ResponseBytes) {
        source = Opening(open)
    }

    /// Creates a body from bytes in memory: one chunk, or none if they are empty.
    init(_ data: Data) {
        source = WholeBody(data)
    }

    /// Reads the chunks in order.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let source: any Source

        /// Returns the next chunk, which is never empty, or nil at the end of a complete body.
        ///
        /// - Throws: ``NetworkError`` when the body ends early, such as ``NetworkError/Code/truncatedBody`` or
        ///   ``NetworkError/Code/connectionLost``. `CancellationError` when the task was canceled.
        public mutating func next() async throws -> Data? {
            try await source.next()
        }
    }

    /// The request of the body, or nil if it is unknown.
    package var request: NetworkRequest? {
        get async { await source.request }
    }

    /// The trailers and measurements of a body that was read to its end. Nil if the session has none.
    package var result: (trailers: HTTPHeaders, metrics: ExchangeMetrics)? { source.result }

    /// The number of delivered bytes that came from a cache.
    package var storedCount: Int64 { source.storedCount }

    /// Tells the source that its reader may still fail after the last chunk.
    func endsWithReader() async { await source.endsWithReader() }

    /// Ends the call with a reader's error. Returns the error with the request attached.
    func failed(_ error: any Error) async -> any Error {
        guard let request = await source.request else { return error }
        let error = (error as? NetworkError)?.attributed(to: request) ?? error
        request.endCall(.failure(error))
        return error
    }

    /// Returns the next chunk without an explicit iterator. See ``AsyncIterator/next()``.
    package func next() async throws -> Data? {
        try await source.next()
    }

    /// Starts reading. A second iterator continues where the first one stopped.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(source: source)
    }

    private struct Reading: Source {
        let read: @Sendable () async throws -> Data?
        var finish: @Sendable () -> (trailers: HTTPHeaders, metrics: ExchangeMetrics)? = { nil }

        var result: (trailers: HTTPHeaders, metrics: ExchangeMetrics)? { finish() }

        func next() async throws -> Data? {
            try await withOwnTask { [read] in
                while let chunk = try await read() {
                    if !chunk.isEmpty { return chunk }
                }
                return nil
            }
        }
    }

    private actor Opening: Source {
        private var open: (@Sendable () async throws -> ResponseBytes)?
        private var bytes: ResponseBytes?
        private var isEndedByReader = false

        init(_ open: @escaping @Sendable () async throws -> ResponseBytes) {
            self.open = open
        }

        var request: NetworkRequest? {
            get async { await bytes?.source.request }
        }

        func endsWithReader() async {
            isEndedByReader = true
            await bytes?.endsWithReader()
        }

        func next() async throws -> Data? {
            if let open {
                self.open = nil
                let opened = try await open()
                if isEndedByReader { await opened.endsWithReader() }
                bytes = opened
            }
            return try await bytes?.next()
        }
    }

    private final class WholeBody: Source {
        private let data: Protected<Data?>

        init(_ data: Data) {
            self.data = Protected(data.isEmpty ? nil : data)
        }

        func next() -> Data? {
            data.withLock { data in
                defer { data = nil }
                return data
            }
        }
    }
}

extension ResponseBytes.Source {
    var request: NetworkRequest? {
        get async { nil }
    }

    package var result: (trailers: HTTPHeaders, metrics: ExchangeMetrics)? { nil }
    package var storedCount: Int64 { 0 }

    package func endsWithReader() {}
}

extension ResponseBytes {
    /// Returns the body as lines of UTF-8 text without their line ends: LF, CRLF or CR. The last line needs none. Bytes
    /// that are not UTF-8 become U+FFFD.
    ///
    /// - Parameter limit: The maximum length of a line in bytes. A longer one fails with
    ///   ``NetworkError/Code/responseTooLarge``. Default 1 MiB.
    /// - Returns: The lines. They can be read only once.
    public func lines(limit: Int = 1 << 20) -> ResponseSequence<String> {
        var scanner = LineScanner(limit: limit)
        return ResponseSequence(self) { chunk, lines in
            try scanner.scan(chunk) { lines.append(String(decoding: $0, as: UTF8.self)) }
        }
    }
}

/// Splits bytes that arrive in chunks into lines. A line ends with LF, CRLF or CR alone.
///
/// A CR ends its line at once. If a LF follows later, the scanner skips it.
package struct LineScanner: Sendable {
    /// The maximum length of a line in bytes.
    package let limit: Int
    private var rest: [UInt8] = []
    private var isBehindCR = false

    package init(limit: Int) {
        self.limit = limit
    }

    /// Passes each line that this chunk completes to `body`, without its line end. Nil marks the end of the bytes and
    /// makes a line of the rest.
    ///
    /// - Throws: ``NetworkError/Code/responseTooLarge`` for a line above the limit, and the errors of `body`.
    package mutating func scan(_ chunk: Data?, _ body: (ArraySlice<UInt8>) throws -> Void) throws {
        guard let chunk else {
            defer { rest = [] }
            return rest.isEmpty ? () : try body(rest[...])
        }
        guard !chunk.isEmpty else { return }
        var start = rest.count
        var lineStart = 0
        rest += chunk
        if isBehindCR, rest.first == UInt8(ascii: "\n") { (start, lineStart) = (1, 1) }  // after a CR, `rest` was empty
        isBehindCR = rest.last == UInt8(ascii: "\r")
        var lineFeed = NextByte(UInt8(ascii: "\n"))
        var carriageReturn = NextByte(UInt8(ascii: "\r"))
        while true {
            let end = min(lineFeed.index(in: rest, from: start), carriageReturn.index(in: rest, from: start))
            guard end < rest.count else { break }
            guard end - lineStart <= limit else { throw tooLong }
            try body(rest[lineStart..<end])
            let isCRLF = rest[end] == UInt8(ascii: "\r") && end + 1 < rest.count && rest[end + 1] == UInt8(ascii: "\n")
            start = end + (isCRLF ? 2 : 1)
            lineStart = start
        }
        rest.removeFirst(lineStart)
        guard rest.count <= limit else { throw tooLong }
    }

    private var tooLong: NetworkError {
        NetworkError(.responseTooLarge, reason: "a line has more than \(limit) bytes")
    }
}

/// Finds a byte repeatedly with memchr(3), and keeps the last result until the search passes it.
private struct NextByte {
    private let byte: UInt8
    private var found = -1

    init(_ byte: UInt8) {
        self.byte = byte
    }

    /// Returns the next index of the byte, or the count of the bytes if it does not occur.
    mutating func index(in bytes: [UInt8], from start: Int) -> Int {
        guard found < start else { return found }
        found = bytes.withUnsafeBytes { $0.firstIndex(ofByte: byte, from: start) } ?? bytes.count
        return found
    }
}
