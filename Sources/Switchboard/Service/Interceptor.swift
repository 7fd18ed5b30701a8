/// A link of the chain between a router and its session.
///
/// It may change the request, answer by itself, send the request again, or change the response:
///
/// ```swift
/// struct Stamp: Interceptor {
///     func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
///         var request = request
///         request.headers["X-Stamp"] = "1"
///         return try await next(request)
///     }
/// }
/// ```
///
/// Interceptors run in the order in which they are listed: the first one sees the request first and the response last.
/// One value serves all requests of its router at once, so keep state in an actor or behind a lock.
public protocol Interceptor: Sendable {
    /// Handles one request.
    ///
    /// - Parameters:
    ///   - request: The request as the links before left it.
    ///   - next: The rest of the chain and the session. Calling it sends; it may be called never, once, or again.
    /// - Returns: The response for the links before.
    /// - Throws: ``NetworkError`` or `CancellationError`; anything else reaches the caller as
    ///   ``NetworkError/Code/unknown``, with the error underneath.
    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse

    /// Says what it would do with a request, for ``Router/explain(_:)``: a dry run that sends nothing, asks nobody for new
    /// credentials and changes no state.
    ///
    /// - Parameter request: The request, to be changed as ``intercept(_:next:)`` would before it sends it.
    /// - Returns: Sentences without secrets, such as `adds Authorization`. By default one that says that it is not known.
    func plan(for request: inout NetworkRequest) async -> [String]
}

extension Interceptor {
    /// Not known: the interceptor may do anything.
    public func plan(for request: inout NetworkRequest) async -> [String] {
        ["does not say what it would do"]
    }
}

/// The rest of the chain after an interceptor, down to the session.
public struct Next: Sendable {
    private let chain: InterceptorChain
    private let index: Int

    init(_ chain: InterceptorChain, _ index: Int) {
        self.chain = chain
        self.index = index
    }

    /// Sends a request through the rest of the chain.
    public func callAsFunction(_ request: NetworkRequest) async throws -> NetworkResponse {
        try await chain.send(request, from: index)
    }
}

/// The interceptors of a router, in order, and its session behind them.
final class InterceptorChain: Sendable {
    let interceptors: [any Interceptor]
    let session: any NetworkSession
    let gate = ResetGate()
    /// Whether the session gives up by itself when a router cancels its calls.
    private let isSessionCancellable: Bool

    init(_ interceptors: [any Interceptor], _ session: any NetworkSession) {
        self.interceptors = interceptors
        self.session = session
        isSessionCancellable = session is any CallCancellableSession
    }

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        try await send(request, from: 0)
    }

    fileprivate func send(_ request: NetworkRequest, from index: Int) async throws -> NetworkResponse {
        guard index < interceptors.count else { return try await exchange(request) }
        return try await interceptors[index].intercept(request, next: Next(self, index + 1))
    }

    private func exchange(_ request: NetworkRequest) async throws -> NetworkResponse {
        try CallCancellation.check()
        guard let call = request.call else { return try await perform(request) }
        return try await request.exchange(in: call, perform)
    }

    private func perform(_ request: NetworkRequest) async throws -> NetworkResponse {
        let request = request.inEnvironmentOfCall()
        guard !isSessionCancellable else { return try await session.send(request) }
        return try await session.sendWithinCall(request)
    }
}

extension NetworkSession {
    /// Sends a request in a task of its own, which ends with the call around it, and says in the response what was sent.
    /// The sessions here need neither.
    func sendWithinCall(_ request: NetworkRequest) async throws -> NetworkResponse {
        var response = try await withOwnTask { try await self.send(request) }
        if response.request == nil { response.request = request }
        return response
    }
}
