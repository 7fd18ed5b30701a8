import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import Switchboard

extension ClientSession {
    /// The body as it arrives. The client stops reading from the
    /// server while nobody calls the closure.
    static func bytes(
        _ body: HTTPClientResponse.Body
    ) -> ResponseBytes {
        let chunks = Chunks(body)
        return ResponseBytes {
            do {
                return try await chunks.next()
            } catch {
                throw Self.error(error)
            }
        }
    }

    /// `@unchecked`: a body has one reader, which awaits each chunk.
    private final class Chunks: @unchecked Sendable {
        private var iterator: HTTPClientResponse.Body.AsyncIterator

        init(_ body: HTTPClientResponse.Body) {
            iterator = body.makeAsyncIterator()
        }

        func next() async throws -> Data? {
            try await iterator.next().map { Data(buffer: $0) }
        }
    }
}
