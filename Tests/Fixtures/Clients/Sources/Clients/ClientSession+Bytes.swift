import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import Switchboard

extension ClientSession {
    /// Returns the body as it arrives. While nobody calls the
    /// closure, the client does not read from the server.
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
