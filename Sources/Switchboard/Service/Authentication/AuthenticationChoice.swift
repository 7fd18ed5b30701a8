/// How a single request is authenticated; see ``RequestOptions/authentication``.
public enum AuthenticationChoice: Sendable, Hashable {
    /// As the interceptors of its router do it: `AuthenticationInterceptor` requires a credential; a provider of
    /// ``BearerAuth``, ``BasicAuth`` or `DigestAuth` that gives nil sends none.
    case automatic
    /// In the name of whoever has signed in. Without a credential the call fails with
    /// ``NetworkError/Code/cannotAuthenticate``, and nothing is sent.
    case required
    /// With a credential when somebody has signed in, without one when nobody has, and also when the server ends the
    /// sign-in. A refresh that fails for another reason, a lost connection for instance, fails the call.
    case optional
    /// In nobody's name, whether or not somebody has signed in. The key of the app, by ``APIKeyAuth`` or `RequestSigner`, is
    /// sent; so it is with the cases before.
    case anonymous
    /// Not at all: every interceptor of credentials lets it pass as it is, that of the app's key too.
    case none
    /// By the method of this name of a `CompositeAuth`; other interceptors take it for ``automatic``.
    case named(String)
}

extension RequestOptions {
    /// How the request is authenticated. Default ``AuthenticationChoice/automatic``.
    ///
    /// ```swift
    /// let manager = NetworkManager(interceptors: [key, login], options: RequestOptions { $0.authentication = .optional })
    /// var options: RequestOptions { RequestOptions { $0.authentication = .required } }   // an endpoint's: the favorites
    /// ```
    public var authentication: AuthenticationChoice {
        get { self[AuthenticationOption.self] }
        set { self[AuthenticationOption.self] = newValue }
    }
}

private enum AuthenticationOption: RequestOption { static let defaultValue = AuthenticationChoice.automatic }
