import Foundation
import Switchboard

/// Sends equal requests that are under way at the same time once: ten views that ask for the same user cause one request.
///
/// ```swift
/// let manager = NetworkManager(interceptors: [login, Deduplicator()])
/// ```
///
/// Equal are GETs and HEADs with the same URL, header fields (credentials and `Range` among them) and options; those
/// that download into a file or stream their response are never shared. `RequestOptions.deduplication` names equal
/// requests by an id instead, or keeps one apart. Options of a type that is not `Hashable` are not compared: list it
/// behind what makes header fields of options, credentials above all.
///
/// Each caller gets the response with its own request. One that is cancelled leaves, the others go on waiting; when the
/// last one leaves, the shared request is cancelled. It keeps the timeouts of the first one, except for `Timeouts.total`,
/// which is each caller's own; and it is in the history of the first alone.
public final class Deduplicator: Interceptor {
    private let ignored: Set<String>
    private let sent = SharedCalls<DeduplicationKey, NetworkResponse, SharedTime>()

    /// Makes a deduplicator.
    ///
    /// - Parameter fields: Names of header fields, in any case, in which equal requests may differ: those that trace a
    ///   request by default.
    public init(
        ignoring fields: Set<String> = ["X-Request-ID", "X-Correlation-ID", "traceparent", "tracestate"]
    ) {
        ignored = Set(fields.map { $0.lowercased() })
    }

    /// How many shared requests are under way.
    public var inFlight: Int { sent.count }

    /// Sends the request, or waits for what an equal one brings.
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
    /// The response as that of an equal request.
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
        error.requestBox = own
        error.endPoint = own.endPointName
        return error
    }
}

extension NetworkRequest {
    /// This request as it was sent: itself by its own time, or in the place of an equal one.
    fileprivate func sent(like other: NetworkRequest) -> NetworkRequest {
        guard other.id == id else { return led(like: other) }
        var sent = other
        (sent.timeouts.total, sent.sharedTimeLeft) = (timeouts.total, nil)
        return sent
    }
}
