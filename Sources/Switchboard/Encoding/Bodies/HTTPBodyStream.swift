import Foundation

/// The chunks of a body, from its start to its end, read once.
public struct HTTPBodyStream: AsyncSequence, Sendable {
    private let read: @Sendable () async throws -> Data?

    /// Makes a stream from a function that gives the next chunk, of any size, and nil at the end.
    public init(read: @escaping @Sendable () async throws -> Data?) {
        self.read = read
    }

    /// Reads the chunks in order.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let read: @Sendable () async throws -> Data?

        /// The next chunk, or nil at the end. Empty chunks are skipped.
        public mutating func next() async throws -> Data? {
            while let chunk = try await read() {
                if !chunk.isEmpty { return chunk }
            }
            return nil
        }
    }

    /// The next chunk, for those who read as they are asked; see ``AsyncIterator/next()``.
    package func next() async throws -> Data? {
        var iterator = makeAsyncIterator()
        return try await iterator.next()
    }

    /// Starts reading. A second iterator goes on where the first one stopped.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(read: read)
    }
}
