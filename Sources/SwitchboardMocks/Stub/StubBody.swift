import SwitchboardPlatform
import Foundation
import Switchboard

/// The body of one answer of a ``StubSession``, up to the point where it breaks.
struct StubBody {
    let request: NetworkRequest
    let response: MockResponse
    /// The number of bytes before the break.
    let count: Int
    /// The break after those bytes, or nil at the end of a complete body.
    let action: MockResponse.Break?
    let time: StubTime
    let metrics: ExchangeMetrics

    /// Waits as long as the body takes, and returns it.
    ///
    /// - Throws: The error that `partial` makes from an error and the number of bytes that came before it.
    func whole(_ partial: (NetworkError, Int) -> NetworkError) async throws -> Data {
        let chunks = response.chunks(of: content.prefix(sentCount))
        let needed = response.pace.time(for: sentCount, inChunks: chunks.count)
        if let timeout = try await wait(for: needed, after: .zero) { throw partial(timeout, 0) }
        if let action { throw partial(try await error(for: action, after: needed), sentCount) }
        let limit = request.limits.responseBody
        guard content.count <= limit else {
            let reason = "the body has \(content.count) bytes, limits.responseBody is \(limit)"
            throw partial(NetworkError(.responseTooLarge, reason: reason), limit)
        }
        return content
    }

    /// Waits while a part of the body arrives, after the body has taken the time `spent`. Returns the error of a timeout
    /// that ends the wait, or nil.
    fileprivate func wait(for duration: Duration, after spent: Duration) async throws -> NetworkError? {
        guard duration > .zero else { return nil }
        if let idle = time.idle, response.pace.silence > idle { return try await time.timeout(after: idle) }
        if let attempt = time.attempt, attempt - spent < duration {
            return try await time.timeout(after: attempt - spent)
        }
        try await time.sleep(for: duration)
        return nil
    }

    /// Returns the error of a break, after the body has taken the time `spent`.
    fileprivate func error(for action: MockResponse.Break, after spent: Duration) async throws -> NetworkError {
        switch action {
        case .stall: try await time.timeout(after: time.silence(after: spent))
        case .close: NetworkError(.truncatedBody, reason: "StubSession: scripted to end after \(count) bytes")
        case .reset: NetworkError(.connectionLost, reason: "StubSession: scripted to reset after \(count) bytes")
        }
    }

    // MARK: Content

    private var allowsBody: Bool { response.allowsBody(to: request.method) }

    private var sentCount: Int { allowsBody ? count : 0 }

    fileprivate var sent: [Data] { response.chunks(of: content.prefix(action == nil ? content.count : sentCount)) }

    private var content: Data {
        guard allowsBody else { return Data() }
        if case .gzip(let data) = response.encodedContent { return data }
        return response.body
    }

    /// The chunks of a response that is read as it arrives.
    final class Parts: Sendable {
        private let body: StubBody
        private let rest: Protected<ArraySlice<Data>>
        /// The time that the chunks so far took.
        private let spent = Protected(Duration.zero)
        private let metrics: ExchangeMetrics

        init(_ body: StubBody) {
            self.body = body
            let sent = body.sent
            rest = Protected(sent[...])
            var metrics = body.metrics
            metrics.bytesReceived = sent.reduce(0) { $0 + Int64($1.count) }
            self.metrics = metrics
        }

        /// The trailers and measurements. Nil before the last chunk, and for a body that breaks.
        var result: (trailers: HTTPHeaders, metrics: ExchangeMetrics)? {
            guard body.action == nil, rest.value.isEmpty else { return nil }
            return (body.response.trailers, metrics)
        }

        func next() async throws -> Data? {
            try Task.checkCancellation()
            let (isFirst, chunk) = rest.withLock { ($0.startIndex == 0, $0.popFirst()) }
            guard let chunk else {
                guard let action = body.action else { return nil }
                throw attributed(try await body.error(for: action, after: spent.value))
            }
            let duration = body.response.pace.time(for: chunk.count, inChunks: isFirst ? 1 : 2)
            if let timeout = try await body.wait(for: duration, after: spent.value) { throw attributed(timeout) }
            spent.withLock { $0 += duration }
            return chunk
        }

        private func attributed(_ error: NetworkError) -> NetworkError {
            error.adding(body.request).with(body.response)
        }
    }
}
