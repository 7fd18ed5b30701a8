import Switchboard
import SwitchboardText

/// Several methods of authentication under one roof, one of which handles each request.
///
/// ```swift
/// let auth = CompositeAuth(["user": login, "app": APIKeyAuth(key, in: .header("X-Api-Key"))]) { request in
///     request.path.hasPrefix("/me/") ? .named("user") : .named("app")
/// }
/// ```
///
/// An endpoint that knows better sets `RequestOptions.authentication`. The method chosen is followed by the rest of the
/// chain; with `AuthenticationChoice.none` a request passes as it is. `required`, `optional` and `anonymous` leave the
/// choice to the composite, and the method heeds them.
public struct CompositeAuth: Interceptor, ExchangeInterceptor, RequestAdapter {
    private let methods: [String: any Interceptor]
    private let choose: @Sendable (NetworkRequest) async -> AuthenticationChoice

    /// Makes a composite. `choose` picks the method of requests that do not name one; by default none, as is any choice
    /// without a name.
    public init(
        _ methods: [String: any Interceptor],
        choose: @escaping @Sendable (NetworkRequest) async -> AuthenticationChoice = { _ in .none }
    ) {
        self.methods = methods
        self.choose = choose
    }

    /// Hands the request to the method chosen.
    ///
    /// - Throws: `NetworkError.Code.invalidRequest` when there is no method of the name chosen.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        guard let name = await name(for: request) else { return try await next(request) }
        guard let method = methods[name] else { throw unknown(name) }
        request.report(.note("authenticates by \(name.quotedForMessage)"))
        return try await method.intercept(request, next: next)
    }

    /// Changes the request as the method chosen does, where that is a `RequestAdapter`.
    public func adapt(_ request: inout NetworkRequest) async throws {
        guard let name = await name(for: request) else { return }
        guard let method = methods[name] else { throw unknown(name) }
        try await (method as? any RequestAdapter)?.adapt(&request)
    }

    private func name(for request: NetworkRequest) async -> String? {
        let choice = request.options.authentication
        switch choice {
        case .named(let name): return name
        case .none: return nil
        case .automatic, .required, .optional, .anonymous:
            guard case .named(let name) = await choose(request) else { return nil }
            return name
        }
    }

    private func unknown(_ name: String) -> NetworkError {
        NetworkError(.invalidRequest, reason: "there is no method of authentication named \(name.quotedForMessage)")
    }
}

extension CompositeAuth: Resettable {
    /// Nothing of its own.
    public func reset() async {}
    /// The methods that hold something.
    public var resettableParts: [any Resettable] {
        methods.sorted { $0.key < $1.key }.compactMap { $0.value as? any Resettable }
    }
}
