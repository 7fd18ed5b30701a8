import Switchboard

/// Signs each request with a closure, directly before it is sent.
///
/// ```swift
/// RequestSigner { request in
///     let text = request.method.rawValue + request.path
///     let digest = try await vault.sign(text)
///     request.headers["X-Signature"] = digest
/// }
/// ```
///
/// List it last of the exchange interceptors, so that it receives the finished request of each attempt and redirect.
/// With a `ResponseCache`, list it after a cache with `identity`, so that it also signs validations, and before a cache
/// without `identity`, where a signature that changes with each request prevents cache hits. A header field that the
/// signer changes is not sent to another origin, whatever its name.
public struct RequestSigner: Interceptor, ExchangeInterceptor, RequestAdapter {
    private let sign: @Sendable (inout NetworkRequest) async throws -> Void
    private let origins: CredentialOrigins

    /// Creates a signer. `sign` runs each time a request is sent, for several requests concurrently. An error that it
    /// throws ends the request: a `NetworkError` is thrown unchanged, any other error within
    /// `NetworkError.Code.cannotAuthenticate`.
    public init(
        origins: CredentialOrigins = .endPoints, _ sign: @escaping @Sendable (inout NetworkRequest) async throws -> Void
    ) {
        self.sign = sign
        self.origins = origins
    }

    /// Signs a request.
    public func adapt(_ request: inout NetworkRequest) async throws {
        if request.acceptsCredentials(for: origins) { request = try await signed(request) }
    }

    private func signed(_ request: NetworkRequest) async throws -> NetworkRequest {
        do {
            var signed = try await changed(request, by: sign)
            signed.recordCredentials(addedTo: request)
            return signed
        } catch {
            throw NetworkError.thrown(error, by: "the signer", .cannotAuthenticate)
        }
    }
}
