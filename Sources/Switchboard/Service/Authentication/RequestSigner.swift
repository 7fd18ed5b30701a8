/// Signs each request with a function of your own, just before it is sent.
///
/// ```swift
/// RequestSigner { request in
///     let digest = try await vault.sign(request.method.rawValue + request.path)
///     request.headers["X-Signature"] = digest
/// }
/// ```
///
/// List it last, so that it sees the finished request: behind ``RetryPolicy`` each attempt is signed anew, and behind a
/// ``RedirectInterceptor`` listed before it each redirect too. A header field that it changes is not sent to another
/// origin, whatever its name.
public struct RequestSigner: Interceptor {
    private let sign: @Sendable (inout NetworkRequest) async throws -> Void
    private let origins: CredentialOrigins

    /// Makes a signer. `sign` runs for each sending, for several requests at once; what it throws ends the request: a
    /// ``NetworkError`` as it is, anything else within ``NetworkError/Code/cannotAuthenticate``.
    public init(
        origins: CredentialOrigins = .asked, _ sign: @escaping @Sendable (inout NetworkRequest) async throws -> Void
    ) {
        self.sign = sign
        self.origins = origins
    }

    /// Sends the request signed.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        guard request.takesCredentials(for: origins) else { return try await next(request) }
        return try await next(signed(request))
    }

    /// Says that it signs. The signing function is not run.
    public func plan(for request: inout NetworkRequest) async -> [String] {
        guard request.takesCredentials(for: origins) else { return [request.reasonAgainstCredentials(for: origins)] }
        return ["signs the request when it is sent"]
    }

    private func signed(_ request: NetworkRequest) async throws -> NetworkRequest {
        do {
            var signed = try await withOwnTask { [sign] in
                var request = request
                try await sign(&request)
                return request
            }
            for field in signed.headers where !request.headers.values(for: field.name).contains(field.value) {
                signed.noteCredential(in: field.name)
            }
            return signed
        } catch let error where error is NetworkError || error is CancellationError {
            throw error
        } catch {
            throw NetworkError(
                .cannotAuthenticate, reason: "the signer threw a \(type(of: error))", underlying: error)
        }
    }
}
