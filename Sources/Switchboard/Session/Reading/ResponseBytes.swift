import SwitchboardPlatform
import Foundation

/// A response's body as it arrives, in chunks, read once.
///
/// The reader sets the pace: while it is busy, no more than a few hundred kilobytes are held, and then the server is
/// made to wait. ``FoundationSession`` cannot do that and puts the rest into a temporary file. Letting go of it, or
/// cancelling the reading task, closes the exchange.
public struct ResponseBytes: AsyncSequence, Sendable {
    /// What gives the chunks of one exchange.
    package protocol Source: Sendable {
        /// The next chunk, nil at the end of a whole body.
        func next() async throws -> Data?
        /// What they answer, to be named in errors; nil when it is not known.
        var request: NetworkRequest? { get async }
        /// The trailers and figures, once the whole body has come and where the session has them.
        var result: (trailers: HTTPHeaders, metrics: ExchangeMetrics)? { get }
    }

    private let source: any Source

    package init(_ source: any Source) {
        self.source = source
    }

    /// Chunks from a function that gives the next one, of any size, and nil at the end of a whole body: for a session or
    /// an interceptor of your own. Empty chunks are skipped.
    ///
    /// It should throw ``NetworkError`` or `CancellationError` only.
    public init(read: @escaping @Sendable () async throws -> Data?) {
        source = Reading(read: read)
    }

    /// The chunks of an exchange that begins with the first reading, and is not begun again.
    package init(opening open: @escaping @Sendable () async throws -> ResponseBytes) {
        source = Opening(open)
    }

    /// A body that is there already: one chunk, none when it is empty.
    init(_ data: Data) {
        source = WholeBody(data)
    }

    /// Reads the chunks in order.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let source: any Source

        /// The next chunk, never empty; nil at the end of a whole body.
        ///
        /// - Throws: ``NetworkError`` when the body ends early, ``NetworkError/Code/truncatedBody`` or
        ///   ``NetworkError/Code/connectionLost`` for instance; `CancellationError` when the task was cancelled.
        public mutating func next() async throws -> Data? {
            try await source.next()
        }
    }

    /// What they answer; nil when it is not known.
    package var request: NetworkRequest? {
        get async { await source.request }
    }

    /// The trailers and figures of a body that was read to its end, where the session has them.
    var result: (trailers: HTTPHeaders, metrics: ExchangeMetrics)? { source.result }

    /// The error of somebody who reads the chunks, with the request noted on it.
    func attributed(_ error: any Error) async -> any Error {
        guard let error = error as? NetworkError, let request = await source.request else { return error }
        return error.attributed(to: request)
    }

    /// The next chunk, for those who read as they are asked; see ``AsyncIterator/next()``.
    package func next() async throws -> Data? {
        try await source.next()
    }

    /// Starts reading. A second iterator goes on where the first one stopped.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(source: source)
    }

    private struct Reading: Source {
        let read: @Sendable () async throws -> Data?

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

        init(_ open: @escaping @Sendable () async throws -> ResponseBytes) {
            self.open = open
        }

        var request: NetworkRequest? {
            get async { await bytes?.source.request }
        }

        func next() async throws -> Data? {
            if let open {
                self.open = nil
                bytes = try await open()
            }
            guard let chunk = try await bytes?.next() else {
                bytes = nil
                return nil
            }
            return chunk
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
}
