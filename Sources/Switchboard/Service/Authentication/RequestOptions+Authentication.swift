extension RequestOptions {
    /// The authentication of a single request; see ``RequestOptions/authentication``.
    public enum Authentication: Sendable, Hashable {
        /// Leaves the choice to the router's interceptors. `AuthenticationInterceptor` requires a credential.
        /// ``BearerAuth``, ``BasicAuth`` and `DigestAuth` send none if their provider returns nil.
        case automatic
        /// Requires a sign-in. Without a credential the call fails with ``NetworkError/Code/cannotAuthenticate``, and
        /// nothing is sent. An `Authorization` field that the app sets counts as a sign-in. A request to an origin that
        /// a server may have chosen needs none.
        case required
        /// Sends a credential if a user has signed in, and none otherwise. If the server ends the sign-in, the request
        /// is sent without one. A refresh that fails for another reason, such as a lost connection, fails the call.
        case optional
        /// Sends no credential of a user, even if one has signed in. ``APIKeyAuth`` and `RequestSigner` still add the
        /// app's key, as with the cases above.
        case anonymous
        /// Sends no credentials, not even the app's key: every authentication interceptor passes the request unchanged.
        case none
        /// Uses the method of this name in a `CompositeAuth`. Other interceptors treat it as ``automatic``.
        case named(String)
    }

    /// The authentication of the request. Default ``Authentication/automatic``.
    ///
    /// ```swift
    /// let manager = NetworkManager(
    ///     interceptors: [BearerAuth(key)],
    ///     options: RequestOptions { $0.authentication = .optional })
    /// struct FindFavorites: TypedEndPoint {
    ///     typealias Response = [Movie]
    ///     var path: String { "favorites" }
    ///     var options: RequestOptions {
    ///         RequestOptions { $0.authentication = .required }
    ///     }
    /// }
    /// ```
    public var authentication: Authentication {
        get { self[AuthenticationOption.self] }
        set { self[AuthenticationOption.self] = newValue }
    }
}

private enum AuthenticationOption: RequestOption { static let defaultValue = RequestOptions.Authentication.automatic }
