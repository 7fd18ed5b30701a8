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

    /// Creates a composite. `choose` selects the method for requests that name none. A choice other than `named`, such
    /// as the default `none`, selects no method: the request passes unchanged.
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
        guard let (name, method) = try await method(for: request) else { return try await next(request) }
        request.report(.note("authenticates by \(name.quotedForMessage)"))
        return try await method.intercept(request, next: next)
    }

    /// Changes the request as the selected method does, if that is a `RequestAdapter`.
    public func adapt(_ request: inout NetworkRequest) async throws {
        try await (method(for: request)?.method as? any RequestAdapter)?.adapt(&request)
    }

    /// Returns the selected method, or nil when the request passes unchanged.
    private func method(for request: NetworkRequest) async throws -> (name: String, method: any Interceptor)? {
        var choice = request.options.authentication
        switch choice {
        case .named, .none: break
        case .automatic, .required, .optional, .anonymous:
            choice = try await withOwnTask { [choose] in await choose(request) }
        }
        guard case .named(let name) = choice else { return nil }
        guard let method = methods[name] else {
            throw NetworkError(
                .invalidRequest,
                reason: "CompositeAuth has no method named \(name.quotedForMessage), only \(methods.keys.sorted())")
        }
        return (name, method)
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
