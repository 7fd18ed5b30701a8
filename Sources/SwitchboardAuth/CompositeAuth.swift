import Switchboard
import SwitchboardText

/// Combines several methods of authentication, and selects one of them for each request.
///
/// ```swift
/// let app = APIKeyAuth(key, in: .header("X-Api-Key"))
/// let auth = CompositeAuth(["user": login, "app": app]) { request in
///     request.path.hasPrefix("/me/") ? .named("user") : .named("app")
/// }
/// ```
///
/// `RequestOptions.authentication` of a request takes precedence over the closure. The selected method sends the
/// request through the rest of the chain. With `RequestOptions.Authentication.none` a request passes unchanged. With
/// `required`, `optional` and `anonymous` the closure selects the method, and the method applies them.
public struct CompositeAuth: Interceptor, ExchangeInterceptor, RequestAdapter {
    private let methods: [String: any Interceptor]
    private let choose: @Sendable (NetworkRequest) async -> RequestOptions.Authentication

    /// Creates a composite. `choose` selects the method for requests that name none. A choice other than `named`, such as
    /// the default `none`, selects no method: the request passes unchanged.
    public init(
        _ methods: [String: any Interceptor],
        choose: @escaping @Sendable (NetworkRequest) async -> RequestOptions.Authentication = { _ in .none }
    ) {
        self.methods = methods
        self.choose = choose
    }

    /// Passes the request to the selected method.
    ///
    /// - Throws: `NetworkError.Code.invalidRequest` when no method has the selected name.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        guard let name = try await name(for: request) else { return try await next(request) }
        guard let method = methods[name] else { throw unknown(name) }
        request.report(.note("authenticates by \(name.quotedForMessage)"))
        return try await method.intercept(request, next: next)
    }

    /// Changes the request as the selected method does, if that is a `RequestAdapter`.
    public func adapt(_ request: inout NetworkRequest) async throws {
        guard let name = try await name(for: request) else { return }
        guard let method = methods[name] else { throw unknown(name) }
        try await (method as? any RequestAdapter)?.adapt(&request)
    }

    private func name(for request: NetworkRequest) async throws -> String? {
        let choice = request.options.authentication
        switch choice {
        case .named(let name): return name
        case .none: return nil
        case .automatic, .required, .optional, .anonymous:
            let choice = try await withOwnTask { [choose] in await choose(request) }
            guard case .named(let name) = choice else { return nil }
            return name
        }
    }

    private func unknown(_ name: String) -> NetworkError {
        NetworkError(.invalidRequest, reason: "there is no method of authentication named \(name.quotedForMessage)")
    }
}

extension CompositeAuth: Resettable {
    /// Does nothing, because the composite itself has no state.
    public func reset() async {}
    /// The methods that have state.
    public var resettableParts: [any Resettable] {
        methods.sorted { $0.key < $1.key }.compactMap { $0.value as? any Resettable }
    }
}
