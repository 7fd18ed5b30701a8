import Foundation
import Switchboard

/// Sends equal concurrent requests once: ten views that load the same user cause one request.
///
/// ```swift
/// let manager = NetworkManager(interceptors: [login, Deduplicator()])
/// ```
///
/// GET and HEAD requests are equal when their URL, options and header fields, including credentials and `Range`, are
/// the same. Downloads into a file and streamed responses are never shared. `RequestOptions.deduplication` replaces the
/// rule by an id, or turns it off for a request. Options of a type that is not `Hashable` are not compared, so list the
/// deduplicator behind interceptors that turn options into header fields, above all credentials.
///
/// Each caller receives the response with its own request. A canceled caller leaves, and the others continue to wait;
/// when the last one leaves, the shared request is canceled. The shared request has the timeouts of the first caller,
/// but each caller keeps its separate `Timeouts.total`. Only the first caller's history contains the exchange.
public final class Deduplicator: Interceptor {
    private let ignored: Set<String>
    private let sent = SharedCalls<DeduplicationKey, NetworkResponse, SharedTime>()

    /// Creates a deduplicator.
    ///
    /// - Parameter fields: Names of header fields, in any case, that may differ between equal requests. By default the
    ///   fields that trace requests.
    public init(
        ignoring fields: Set<String> = ["X-Request-ID", "X-Correlation-ID", "traceparent", "tracestate"]
    ) {
        ignored = Set(fields.map { $0.lowercased() })
    }

    /// The number of shared requests in flight.
    public var inFlight: Int { sent.count }

    /// Sends the request, or waits for the response to an equal one in flight.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        guard let key = DeduplicationKey(request, ignoring: ignored) else { return try await next(request) }
        do {
            let response = try await sent.value(for: key, note: SharedTime(of: request)) { time in
                time.join(request)
                request.report(.cache("shared with \(time.leader)"))
            } _: { time in
                try await next(time.sharing(request))
            }
            return response.answering(request)
        } catch let error as NetworkError {
            throw error.answering(request)
        }
    }
}

extension NetworkResponse {
    /// Returns the response as the answer to an equal request.
    fileprivate func answering(_ request: NetworkRequest) -> NetworkResponse {
        var response = self
        response.isShared = isShared || self.request?.id != request.id
        response.request = self.request.map(request.sent(like:)) ?? request
        return response
    }
}

extension NetworkError {
    fileprivate func answering(_ request: NetworkRequest) -> NetworkError {
        guard let other = self.request else { return self }
        var error = self
        let own = request.sent(like: other)
        error.request = own
        error.endPoint = own.endPointName
        return error
    }
}

extension NetworkRequest {
    /// Returns this request as it was sent: with its own total timeout if it was the shared request, or else with the
    /// URL and origins of the equal request that was sent in its place.
    fileprivate func sent(like other: NetworkRequest) -> NetworkRequest {
        guard other.id == id else { return led(like: other) }
        var sent = other
        (sent.timeouts.total, sent.sharedTimeLeft) = (timeouts.total, nil)
        return sent
    }
}
