import Foundation
import SwitchboardPlatform
import Testing

import SwitchboardTestSupport
@testable import Switchboard

extension FoundationExchange {
    static let playedURL = URL(text: "http://a.example/stream")

    /// Runs an exchange whose callbacks a test makes, and returns its response.
    static func play(
        streams: Bool = false, quirks: URLSessionQuirks = .apple, limit: Int? = nil,
        _ callbacks: (FoundationExchange) throws -> Void
    ) async throws -> NetworkResponse {
        var request = NetworkRequest(.get, playedURL)
        request.options.streamsResponse = streams
        if let limit { request.limits.responseBody = limit }
        let exchange = FoundationExchange(request, payload: nil, DeadlineSweeper(), quirks: quirks)
        return try await withCheckedThrowingContinuation { continuation in
            guard exchange.begin(continuation) else { return }
            do { try callbacks(exchange) } catch { exchange.fail(NetworkError(.unknown, underlying: error)) }
        }
    }

    /// Makes the head of a response.
    static func head(_ fields: [String: String] = [:], status: Int = 200) throws -> HTTPURLResponse {
        try #require(HTTPURLResponse(url: playedURL, statusCode: status, httpVersion: nil, headerFields: fields))
    }
}
