/// Wraps a whole call. It receives the request before redirects, and the response that the call ends with.
///
/// It may change the request, answer without sending, send the request again, or change the response:
///
/// ```swift
/// struct Stamp: Interceptor {
///     func intercept(
///         _ request: NetworkRequest, next: Next
///     ) async throws -> NetworkResponse {
///         var request = request
///         request.headers["X-Stamp"] = "1"
///         return try await next(request)
///     }
/// }
/// ```
///
/// Interceptors run in the order in which they are listed: the first one receives the request first and the response
/// last. Interceptors after a ``RetryPolicy`` receive each attempt. An ``ExchangeInterceptor`` receives each exchange;
/// a type may be both. One value serves all requests of its router concurrently, so protect its state with an actor or
/// a lock. An object that is listed twice makes every call fail with ``NetworkError/Code/invalidRequest``.
public protocol Interceptor: Sendable {
    /// Sends a request through the rest of the chain, with any change, or answers it without sending.
    ///
    /// - Parameters:
    ///   - request: The request as the earlier interceptors left it.
    ///   - next: The rest of the chain, including the session. Calling it sends the request. Call it once, several
    ///     times, or never.
    /// - Returns: The response for the earlier interceptors.
    /// - Throws: ``NetworkError`` or `CancellationError`. A `URLError`, `EncodingError` or `DecodingError` reaches the
    ///   caller with the code for it, and any other error as ``NetworkError/Code/unknown``. The original error is
    ///   underneath.
    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse
}

/// Wraps each exchange of a call. It runs after redirects, once for each request to a server. If the connection is
/// dead, the same request is sent again on a new one, and the interceptor does not run again.
///
/// List it in the `exchangeInterceptors` of a ``Router`` or ``NetworkManager``. Exchange interceptors run in the order
/// in which they are listed, directly before the session. `CookieInterceptor` is one: it sends a cookie that a redirect
/// sets to the target of that redirect.
public protocol ExchangeInterceptor: Sendable {
    /// Sends or answers the request of one exchange; see ``Interceptor/intercept(_:next:)``.
    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse
}

/// An interceptor that only changes the request.
///
/// ``Router/explain(_:options:isolation:)`` calls ``adapt(_:)`` too, so that it shows the request as it would be sent.
///
/// ```swift
/// struct Stamp: Interceptor, RequestAdapter {
///     func adapt(_ request: inout NetworkRequest) async throws {
///         request.headers["X-Stamp"] = "1"
///     }
/// }
/// ```
public protocol RequestAdapter: Sendable {
    /// Changes a request before it is sent. An error that it throws ends the call.
    func adapt(_ request: inout NetworkRequest) async throws
}

extension RequestAdapter {
    /// Sends the request after ``adapt(_:)`` has changed it.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        var request = request
        try await adapt(&request)
        return try await next(request)
    }
}

/// The rest of the chain after an interceptor, including the session.
public struct Next: Sendable {
    private let chain: InterceptorChain
    let index: Int
    /// Performs an exchange after the last interceptor.
    let exchange: @Sendable (NetworkRequest) async throws -> NetworkResponse

    init(
        _ chain: InterceptorChain, index: Int = 0,
        exchange: @escaping @Sendable (NetworkRequest) async throws -> NetworkResponse
    ) {
        self.chain = chain
        self.index = index
        self.exchange = exchange
    }

    var next: Next { Next(chain, index: index + 1, exchange: exchange) }

    /// Sends a request through the rest of the chain.
    public func callAsFunction(_ request: NetworkRequest) async throws -> NetworkResponse {
        try await chain.send(request, through: self)
    }
}

/// An interceptor that explains its effect in the plan of a call.
package protocol ExplainedInterceptor: Sendable {
    /// Returns one line without secrets. It has no side effects.
    ///
    /// - Parameters:
    ///   - request: The request that the interceptor receives.
    ///   - sent: The request after the adapters that follow.
    /// - Returns: The line.
    func explanation(of request: NetworkRequest, sentAs sent: NetworkRequest) async -> String
}

/// An interceptor or session with state that a reset removes, such as tokens, cookies or stored responses. See
/// ``Router/reset()``.
public protocol Resettable: Sendable {
    /// Removes all state, including state that is saved for later launches. Meanwhile, no call of the chain begins or
    /// is in flight, except a canceled one whose interceptor started the reset.
    func reset() async

    /// Parts of this value that are reset too. A part that is an object is reset once, even if several values share it.
    /// Default none.
    var resettableParts: [any Resettable] { get }
}

extension Resettable {
    /// No parts.
    public var resettableParts: [any Resettable] { [] }
}
