/// Whether a request is sent in the name of whoever has signed in; see ``RequestOptions/signIn``.
public enum SignInChoice: Sendable, Hashable {
    /// As the interceptor has it: `AuthenticationInterceptor` requires a credential; a provider of ``BearerAuth``,
    /// ``BasicAuth`` or `DigestAuth` that gives nil sends none.
    case automatic
    /// With a credential. Without one the call fails with ``NetworkError/Code/cannotAuthenticate``, and nothing is sent.
    case required
    /// With a credential when somebody has signed in, without one when nobody has, and also when the server ends the
    /// sign-in. A refresh that fails for another reason, a lost connection for instance, fails the call.
    case optional
    /// Without a credential, whether or not somebody has signed in.
    case none
}

extension RequestOptions {
    /// Whether the request is sent in the name of whoever has signed in. Default ``SignInChoice/automatic``.
    ///
    /// ```swift
    /// let manager = NetworkManager(interceptors: [key, login], options: RequestOptions { $0.signIn = .optional })
    /// var options: RequestOptions { RequestOptions { $0.signIn = .required } }        // an endpoint's: the favorites
    /// ```
    ///
    /// `AuthenticationInterceptor`, ``BearerAuth``, ``BasicAuth`` and `DigestAuth` heed it. The key of the app, by
    /// ``APIKeyAuth`` or `RequestSigner`, is sent in any case; ``authentication`` set to ``AuthenticationChoice/none``
    /// leaves out that too.
    public var signIn: SignInChoice {
        get { self[SignInOption.self] }
        set { self[SignInOption.self] = newValue }
    }
}

private enum SignInOption: RequestOption { static let defaultValue = SignInChoice.automatic }
