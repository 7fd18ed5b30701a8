import Foundation
import Switchboard

/// Lets equal requests that are under way at the same time share one exchange: ten views that ask for the same user
/// cause one request.
///
/// ```swift
/// let manager = NetworkManager(interceptors: [authentication, Deduplicator()])
/// ```
///
/// Equal are GETs and HEADs with the same URL, header fields (credentials and `Range` among them) and options; those
/// that download into a file or stream their response are never shared. `RequestOptions.deduplication` names equal
/// requests by an id instead, or keeps one apart. Options of a type that is not `Hashable` are not compared: list it
/// behind what makes header fields of options, credentials above all.
///
/// Each caller gets the response with its own request. One that is cancelled leaves, the others go on waiting; when the
/// last one leaves, the exchange is cancelled. The exchange keeps the timeouts of the first request, except for
/// `Timeouts.total`, which is each caller's own; and it is in the history of the first alone.
public final class Deduplicator: Interceptor {
    private let ignored: Set<String>
    private let exchanges = SharedCalls<DeduplicationKey, NetworkResponse>()

    /// Makes a deduplicator.
    ///
    /// - Parameter fields: Names of header fields, in any case, in which equal requests may differ: those that trace a
    ///   request by default.
    public init(
        ignoring fields: Set<String> = ["X-Request-ID", "X-Correlation-ID", "traceparent", "tracestate"]
    ) {
        ignored = Set(fields.map { $0.lowercased() })
    }

    /// How many exchanges are under way.
    public var inFlight: Int { exchanges.count }

    /// Sends the request, or waits for what an equal one brings.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        guard let key = DeduplicationKey(request, ignoring: ignored) else { return try await next(request) }
        do {
            let response = try await exchanges.value(for: key, name: request.id.description) { leader in
                request.report(.cache("shared with \(leader)"))
            } _: {
                try await next(request)
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
        guard self.request?.id != request.id else { return self }
        var response = self
        response.isShared = true
        response.request = self.request.map(request.led(like:)) ?? request
        return response
    }
}

extension NetworkError {
    fileprivate func answering(_ request: NetworkRequest) -> NetworkError {
        guard let other = self.request, other.id != request.id else { return self }
        var error = self
        let own = request.led(like: other)
        error.requestBox = own
        error.endPoint = own.endPointName
        return error
    }
}
