import Foundation

/// Lets equal requests that are under way at the same time share one exchange: ten views that ask for the same user
/// cause one request.
///
/// ```swift
/// let manager = NetworkManager(interceptors: [authentication, Deduplicator()])
/// ```
///
/// Equal are GETs and HEADs with the same URL, header fields (credentials and `Range` among them) and options; those
/// that download into a file or stream their response are never shared. ``RequestOptions/deduplication`` names equal
/// requests by an id instead, or keeps one apart. Options of a type that is not `Hashable` are not compared: list it
/// behind what makes header fields of options, credentials above all.
///
/// Each caller gets the response with its own request. One that is cancelled leaves, the others go on waiting; when the
/// last one leaves, the exchange is cancelled. The exchange keeps the timeouts of the first request, except for
/// ``Timeouts/total``, which is each caller's own; and it is in the history of the first alone.
public final class Deduplicator: Interceptor {
    private typealias Waiter = CheckedContinuation<NetworkResponse, any Error>

    private struct Flight: Sendable {
        let id: Int
        /// Of the request that is sent.
        let request: NetworkRequest.ID
        var waiters: [Int: Waiter] = [:]
        var task: Task<Void, any Error>?
    }

    private struct State: Sendable {
        var nextID = 0
        var flights: [DeduplicationKey: Flight] = [:]
    }

    private let ignored: Set<String>
    private let state = Protected(State())

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
    public var inFlight: Int { state.withLock { $0.flights.count } }

    /// Sends the request, or waits for what an equal one brings.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        guard let key = DeduplicationKey(request, ignoring: ignored) else { return try await next(request) }
        try CallCancellation.check()
        let id = nextID()
        do {
            let response = try await withCancellation {
                try await withCheckedThrowingContinuation { waiter in
                    join(waiter, id, key, request, next)
                    // A cancellation before that found nobody to end.
                    if Task.isCancelled || CallCancellation.current?.isCancelled == true { leave(id, key) }
                }
            } onCancel: { [self] in
                leave(id, key)
            }
            return response.answering(request)
        } catch let error as NetworkError {
            throw error.answering(request)
        }
    }

    /// Says whether it would be sent now.
    public func plan(for request: inout NetworkRequest) async -> [String] {
        guard let key = DeduplicationKey(request, ignoring: ignored) else { return ["is not shared"] }
        let isShared = state.withLock { $0.flights[key] != nil }
        return [isShared ? "waits for the answer to an equal request" : "is shared by equal ones that come meanwhile"]
    }

    // MARK: One exchange

    private func nextID() -> Int {
        state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
    }

    private func join(_ waiter: Waiter, _ id: Int, _ key: DeduplicationKey, _ request: NetworkRequest, _ next: Next) {
        let leader: NetworkRequest.ID? = state.withLock { state in
            defer { state.flights[key, default: Flight(id: id, request: request.id)].waiters[id] = waiter }
            return state.flights[key]?.request
        }
        if let leader { return request.report(.cache("shared with \(leader)")) }
        // It is nobody's own: neither a caller's task nor a router's call ends it.
        let task = CallCancellation.$current.withValue(nil) {
            startTask { [self] in
                let result: Result<NetworkResponse, any Error>
                do { result = .success(try await next(request)) } catch { result = .failure(error) }
                end(id, key, result)
            }
        }
        let isAbandoned = state.withLock { state in
            guard state.flights[key]?.id == id else { return true }
            state.flights[key]?.task = task
            return false
        }
        if isAbandoned { task.cancel() }
    }

    private func end(_ id: Int, _ key: DeduplicationKey, _ result: Result<NetworkResponse, any Error>) {
        let waiters: [Waiter] = state.withLock { state in
            guard let flight = state.flights[key], flight.id == id else { return [] }
            state.flights[key] = nil
            return Array(flight.waiters.values)
        }
        for waiter in waiters { waiter.resume(with: result) }
    }

    /// Takes a waiter away. Nobody joins an exchange that the last one has left.
    private func leave(_ id: Int, _ key: DeduplicationKey) {
        let (waiter, task) = state.withLock { state -> (Waiter?, Task<Void, any Error>?) in
            guard let waiter = state.flights[key]?.waiters.removeValue(forKey: id) else { return (nil, nil) }
            guard let flight = state.flights[key], flight.waiters.isEmpty else { return (waiter, nil) }
            state.flights[key] = nil
            return (waiter, flight.task)
        }
        task?.cancel()
        waiter?.resume(throwing: CancellationError())
    }
}

extension NetworkResponse {
    /// The response as that of an equal request.
    fileprivate func answering(_ request: NetworkRequest) -> NetworkResponse {
        guard self.request?.id != request.id else { return self }
        var response = self
        var own = request
        if let url = self.request?.url { own.url = url }
        response.request = own
        return response
    }
}

extension NetworkError {
    fileprivate func answering(_ request: NetworkRequest) -> NetworkError {
        guard let other = self.request, other.id != request.id else { return self }
        var error = self
        var own = request
        own.url = other.url
        error.requestBox = own
        error.endPoint = own.endPointName
        return error
    }
}
