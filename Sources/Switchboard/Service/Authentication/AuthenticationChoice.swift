/// How a single request is authenticated; see ``RequestOptions/authentication``.
public enum AuthenticationChoice: Sendable, Hashable {
    /// As the interceptors of its router do it.
    case automatic
    /// Not at all: every interceptor of credentials lets it pass as it is.
    case none
    /// By the method of this name of a `CompositeAuth`; other interceptors take it for ``automatic``.
    case named(String)
}

extension RequestOptions {
    /// How the request is authenticated. Default ``AuthenticationChoice/automatic``.
    ///
    /// ```swift
    /// var options: RequestOptions { RequestOptions { $0.authentication = .none } }      // the login itself
    /// ```
    public var authentication: AuthenticationChoice {
        get { self[AuthenticationOption.self] }
        set { self[AuthenticationOption.self] = newValue }
    }
}

private enum AuthenticationOption: RequestOption { static let defaultValue = AuthenticationChoice.automatic }
