import SwitchboardPlatform
import SwitchboardText
import Foundation

/// A response's body as it arrives, in chunks that can be read only once.
///
/// The reader controls the pace: at most a few hundred kilobytes are buffered before the server must wait.
/// ``FoundationSession`` cannot pause a server and writes the rest to a temporary file. Releasing the bytes, or
/// canceling the reading task, cancels the exchange.
public struct ResponseBytes: AsyncSequence, Sendable {
    package protocol Source: Sendable {
        /// Returns the next chunk, or nil at the end of a complete body.
        func next() async throws -> Data?
        /// The request of the whole call, for use in errors. Nil if it is unknown.
        var request: NetworkRequest? { get async }
        /// The trailers and measurements, once the whole body has arrived. Nil if the session has none.
        var result: (trailers: HTTPHeaders, metrics: ExchangeMetrics)? { get }
        /// The number of delivered bytes that came from a cache.
        var storedCount: Int64 { get }
        /// Whether the chunks are those of the session, unchanged and also the empty ones.
        var isUnchanged: Bool { get }
        /// Lets the reader end the call, because it may fail after the last chunk. The call ends with the error that
        /// the reader passes to ``ResponseBytes/endCall(with:)``, or when the source is released.
        func letReaderEndCall() async
        /// Ends the call after a complete body, which the reader has parsed.
        func readerDidEnd() async
    }

    private let source: any Source
    /// The request of the response, whose options decode the values of the body. Nil if it is unknown.
    package internal(set) var origin: NetworkRequest?

    package init(_ source: any Source) {
        self.source = source
    }

    /// Creates a body from a closure that returns the next chunk, of any size, or nil at the end of a complete body.
    /// For a custom session or interceptor. Empty chunks are skipped.
    ///
    /// The closure should throw only ``NetworkError`` or `CancellationError`.
    public init(read: @escaping @Sendable () async throws -> Data?) {
        self.init(result: { nil }, read: read)
    }

    /// Creates a body from closures: `result` returns the trailers and measurements of a body that has arrived
    /// completely, `storedCount` the number of delivered bytes from a cache, and `read` the next chunk.
    package init(
        result: @escaping @Sendable () -> (trailers: HTTPHeaders, metrics: ExchangeMetrics)?,
        storedCount: @escaping @Sendable () -> Int64 = { 0 }, read: @escaping @Sendable () async throws -> Data?
    ) {
        source = ClosureSource(stream: HTTPBodyStream(read: read), makeResult: result, countStored: storedCount)
    }

    /// Returns this body with another way to read its chunks, such as one that delays them.
    package func reading(_ read: @escaping @Sendable () async throws -> Data?) -> ResponseBytes {
        ResponseBytes(result: { result }, storedCount: { storedCount }, read: read)
    }

    /// Creates a body whose exchange starts on the first read. It starts only once.
    package init(opening open: @escaping @Sendable () async throws -> ResponseBytes, origin: NetworkRequest? = nil) {
        source = DeferredSource(open)
        self.origin = origin
    }

    /// Creates a body from bytes in memory: one chunk, or none if they are empty.
    init(_ data: Data) {
        source = DataSource(data)
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

    package var request: NetworkRequest? {
        get async { await source.request }
    }

    package var result: (trailers: HTTPHeaders, metrics: ExchangeMetrics)? { source.result }

    package var storedCount: Int64 { source.storedCount }

    package var isUnchanged: Bool { source.isUnchanged }

    package func letReaderEndCall() async { await source.letReaderEndCall() }

    /// Ends the call of a body that was read and parsed completely.
    func endCall() async { await source.readerDidEnd() }

    /// Ends the call with a reader's error. Returns the error with the request attached.
    func endCall(with error: any Error) async -> any Error {
        let request = await source.request
        guard let origin = request ?? origin else { return error }
        let error = (error as? NetworkError)?.attributed(to: origin) ?? error
        request?.endCall(.failure(error))
        return error
    }

    package func next() async throws -> Data? {
        try await source.next()
    }

    /// Starts reading. A second iterator continues where the first one stopped.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(source: source)
    }

    private struct ClosureSource: Source {
        let stream: HTTPBodyStream
        let makeResult: @Sendable () -> (trailers: HTTPHeaders, metrics: ExchangeMetrics)?
        let countStored: @Sendable () -> Int64

        var result: (trailers: HTTPHeaders, metrics: ExchangeMetrics)? { makeResult() }
        var storedCount: Int64 { countStored() }

        func next() async throws -> Data? {
            try await withOwnTask { [stream] in try await stream.next() }
        }
    }

    private actor DeferredSource: Source {
        private var open: (@Sendable () async throws -> ResponseBytes)?
        private var bytes: ResponseBytes?
        private var readerEndsCall = false
        private let lock = ReadLock()

        init(_ open: @escaping @Sendable () async throws -> ResponseBytes) {
            self.open = open
        }

        var request: NetworkRequest? {
            get async { await bytes?.source.request }
        }

        func letReaderEndCall() async {
            readerEndsCall = true
            await bytes?.letReaderEndCall()
        }

        func readerDidEnd() async { await bytes?.endCall() }

        func next() async throws -> Data? {
            if bytes == nil { try await lock.run { try await openOnce() } }
            return try await bytes?.next()
        }

        private func openOnce() async throws {
            guard let open else { return }
            self.open = nil
            let opened = try await open()
            if readerEndsCall { await opened.letReaderEndCall() }
            bytes = opened
        }
    }

    private final class DataSource: Source {
        private let data: Protected<Data?>

        init(_ data: Data) {
            self.data = Protected(data.isEmpty ? nil : data)
        }

        func next() -> Data? { data.swap(nil) }
    }
}

extension ResponseBytes.Source {
    var request: NetworkRequest? {
        get async { nil }
    }

    package var result: (trailers: HTTPHeaders, metrics: ExchangeMetrics)? { nil }
    package var storedCount: Int64 { 0 }
    package var isUnchanged: Bool { false }

    package func letReaderEndCall() {}
    package func readerDidEnd() {}
}

extension ResponseBytes {
    /// Returns the body as lines of UTF-8 text without their line ends: LF, CRLF or CR. The last line needs no end.
    /// Bytes that are not UTF-8 become U+FFFD. A byte-order mark before the first line is removed.
    ///
    /// - Parameter limit: The maximum length of a line in bytes. A longer one fails with
    ///   ``NetworkError/Code/responseTooLarge``. Default 1 MiB.
    /// - Returns: The lines. They can be read only once.
    public func lines(limit: Int = 1 << 20) -> ResponseSequence<String> {
        var scanner = LineScanner(limit: limit)
        var isFirst = true
        return ResponseSequence(self) { chunk, lines in
            try scanner.scan(chunk) { line in
                lines.append(String(decoding: isFirst ? line.withoutMark : line, as: UTF8.self))
                isFirst = false
            }
        }
    }
}

/// Splits bytes that arrive in chunks into lines. A line ends with LF, CRLF or CR alone.
///
/// A CR ends its line at once. If a LF follows later, the scanner skips it.
package struct LineScanner: Sendable {
    package let limit: Int
    private var rest: [UInt8] = []
    private var isAfterCR = false

    package init(limit: Int) {
        self.limit = limit
    }

    /// Passes each line that this chunk completes to `body`, without its line end. Nil marks the end of the bytes,
    /// which completes the last line.
    package mutating func scan(_ chunk: Data?, _ body: (ArraySlice<UInt8>) throws -> Void) throws {
        guard let chunk else {
            defer { rest = [] }
            return rest.isEmpty ? () : try body(rest[...])
        }
        guard !chunk.isEmpty else { return }
        var start = rest.count
        var lineStart = 0
        rest += chunk
        if isAfterCR, rest.first == UInt8(ascii: "\n") { (start, lineStart) = (1, 1) }  // after a CR, `rest` was empty
        isAfterCR = rest.last == UInt8(ascii: "\r")
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

/// Finds the occurrences of a byte with memchr(3). The last result is reused until the search passes it.
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
