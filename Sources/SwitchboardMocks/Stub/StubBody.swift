import SwitchboardPlatform
import Foundation
import Switchboard

/// The body of one answer of a ``StubSession``. It arrives in chunks, up to the point where it breaks.
final class StubBody: Sendable {
    private let exchange: StubExchange
    private let count: Int
    /// The break after the last chunk, or nil at the end of a complete body.
    private let action: MockResponse.Break?
    private let size: Int
    private let rest: Protected<ArraySlice<Data>>

    init(_ exchange: StubExchange, upTo count: Int, _ action: MockResponse.Break?) {
        self.exchange = exchange
        self.count = count
        self.action = action
        let response = exchange.response
        var content = exchange.allowsBody ? response.body : Data()
        if !content.isEmpty, case .gzip(let data) = response.encodedContent { content = data }
        if action != nil { content = content.prefix(count) }
        size = content.count
        rest = Protected(response.chunks(of: content)[...])
    }

    /// The trailers and measurements. Nil before the last chunk, and for a body that breaks.
    var result: (trailers: HTTPHeaders, metrics: ExchangeMetrics)? {
        guard action == nil, rest.value.isEmpty else { return nil }
        var metrics = exchange.metrics
        metrics.bytesReceived = Int64(size)
        return (exchange.allowsBody ? exchange.response.trailers : [:], metrics)
    }

    /// The size of the body that a server would announce. Nil without an announcement, and for a compressed body.
    private var announced: Int? {
        let response = exchange.response
        guard response.chunkSizes == nil, response.trailers.isEmpty, response.encodedContent == nil,
            exchange.allowsBody
        else { return nil }
        // One more byte makes a cut after the last byte visible.
        return response.body.count + (action != nil && count >= response.body.count ? 1 : 0)
    }

    func next() async throws -> Data? {
        do {
            try Task.checkCancellation()
            let (isFirst, chunk) = rest.withLock { ($0.startIndex == 0, $0.popFirst()) }
            guard let chunk else {
                try await end()
                return nil
            }
            let pace = exchange.response.pace
            let idle = exchange.request.timeouts.idle.flatMap { pace.silence > $0 ? $0 : nil }
            try await exchange.time.wait(
                for: pace.time(for: chunk.count, inChunks: isFirst ? 1 : 2), limit: idle)
            if case .mislabelled = exchange.response.encodedContent {
                let reason = "StubSession: the body does not match its Content-Encoding"
                throw NetworkError(.cannotDecodeResponse, reason: reason)
            }
            return chunk
        } catch let error as NetworkError {
            throw attributed(error)
        }
    }

    private func end() async throws {
        switch action {
        case nil: break
        case .stall: try await exchange.time.stall(limit: exchange.request.timeouts.idle)
        case .close: throw NetworkError(.truncatedBody, reason: "StubSession: scripted to end after \(count) bytes")
        case .reset: throw NetworkError(.connectionLost, reason: "StubSession: scripted to reset after \(count) bytes")
        }
    }

    /// Waits for all chunks, and returns the body.
    ///
    /// - Throws: An error with the part of the body that came before it.
    func whole() async throws -> Data {
        var body = Data()
        let limits = exchange.request.limits
        do {
            if let announced, announced > limits.responseBody {
                body = rest.value.first?.prefix(max(0, limits.responseBody)) ?? Data()
                throw attributed(limits.bodyTooLarge("the body has \(announced) bytes"))
            }
            while let chunk = try await next() {
                if body.isEmpty { body = chunk } else { body += chunk }
                guard body.count <= limits.responseBody else {
                    let error = limits.bodyTooLarge("the body has at least \(body.count) bytes")
                    body = body.prefix(max(0, limits.responseBody))
                    throw attributed(error)
                }
            }
            return body
        } catch var error as NetworkError {
            error.body = body
            throw error
        }
    }

    private func attributed(_ error: NetworkError) -> NetworkError {
        error.adding(exchange.request).with(exchange.response)
    }
}
