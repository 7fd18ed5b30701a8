import Foundation

/// The chunks of a body, in order. They can be read only once.
public struct HTTPBodyStream: AsyncSequence, Sendable {
    private let read: @Sendable () async throws -> Data?

    /// Creates a stream from a function that returns the next chunk, of any size, or nil at the end.
    public init(read: @escaping @Sendable () async throws -> Data?) {
        self.read = read
    }

    /// Reads the chunks in order.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let read: @Sendable () async throws -> Data?

        /// Returns the next chunk, or nil at the end. Empty chunks are skipped.
        public mutating func next() async throws -> Data? {
            while let chunk = try await read() {
                if !chunk.isEmpty { return chunk }
            }
            return nil
        }
    }

    /// Returns the next chunk without an explicit iterator. See ``AsyncIterator/next()``.
    package func next() async throws -> Data? {
        var iterator = makeAsyncIterator()
        return try await iterator.next()
    }

    /// Starts reading. A second iterator continues where the first one stopped.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(read: read)
    }
}
