import Foundation
import HTTPTypes

// The declarations of swift-openapi-runtime 1 that a transport needs, because CI cannot get that package. They have its
// names and types, and none of its code.

/// Sends the operations of a generated client.
public protocol ClientTransport: Sendable {
    /// Sends the request of an operation, whose path is relative to the base URL.
    func send(
        _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String
    ) async throws -> (HTTPResponse, HTTPBody?)
}

/// How often a body can be read.
public enum IterationBehavior: Sendable {
    case single
    case multiple
}

/// A body as chunks of bytes.
public final class HTTPBody: AsyncSequence, Sendable {
    public typealias ByteChunk = ArraySlice<UInt8>
    public typealias Element = ByteChunk

    /// The number of bytes.
    public enum Length: Sendable, Equatable {
        case unknown
        case known(Int64)
    }

    /// Reads the chunks.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let read: () async throws -> ByteChunk?

        public mutating func next() async throws -> ByteChunk? { try await read() }
    }

    public let length: Length
    public let iterationBehavior: IterationBehavior
    private let open: @Sendable () -> Iterator

    public init<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes, length: Length, iterationBehavior: IterationBehavior
    ) where Bytes.Element == ByteChunk {
        self.length = length
        self.iterationBehavior = iterationBehavior
        open = {
            var iterator = bytes.makeAsyncIterator()
            return Iterator { try await iterator.next() }
        }
    }

    public func makeAsyncIterator() -> Iterator { open() }
}
