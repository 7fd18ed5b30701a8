import SwitchboardPlatform
import Foundation
import Switchboard

/// The stored first bytes of a body, followed by the rest from the server.
final class ContinuedBytes: ResponseBytes.Source {
    private struct State {
        var isAtRest = false
        var count = 0
    }

    private let start: ResponseBytes
    private let startCount: Int
    private let rest: ResponseBytes
    private let size: Int
    let request: NetworkRequest?
    private let state = Protected(State())

    /// Creates the body.
    ///
    /// - Parameters:
    ///   - start: The stored bytes.
    ///   - startCount: The number of stored bytes.
    ///   - rest: The bytes of the server.
    ///   - size: The number of all bytes.
    init(_ start: ResponseBytes, _ startCount: Int, _ rest: ResponseBytes, size: Int) async {
        (self.start, self.startCount, self.rest, self.size) = (start, startCount, rest, size)
        request = await rest.request
    }

    var result: (trailers: HTTPHeaders, metrics: ExchangeMetrics)? { rest.result }
    var storedCount: Int64 { Int64(min(startCount, state.withLock { $0.count })) }

    func next() async throws -> Data? {
        if !state.withLock({ $0.isAtRest }) {
            if let chunk = try await start.next() { return try count(chunk) }
            state.withLock { $0.isAtRest = true }
        }
        if let chunk = try await rest.next() { return try count(chunk) }
        let count = state.withLock { $0.count }
        guard count == size else {
            throw NetworkError(.truncatedBody, reason: "\(count) of \(size) bytes arrived")
        }
        return nil
    }

    private func count(_ chunk: Data) throws -> Data {
        let isTooLong = state.withLock { state in
            state.count += chunk.count
            return state.count > size
        }
        guard !isTooLong else {
            throw NetworkError(.invalidResponse, reason: "more bytes arrived than the response announced")
        }
        return chunk
    }
}
