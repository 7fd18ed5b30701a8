import Foundation
import SwitchboardText

/// Adds header fields to every request: fixed ones, or those of a provider.
///
/// ```swift
/// CommonHeaders(["X-App-Version": "7.1"])
/// CommonHeaders(origins: ["api.example.com"]) {
///     ["X-Token": await account.token ?? ""]
/// }
/// ```
///
/// A field that the request already has keeps its value, also if it comes from the manager or router. A `Content-Type`
/// is added only to a request with a body. A field with a secret's name, such as `X-Token`, is not added to TRACE. If
/// the provider throws, the call fails and nothing is sent: a `NetworkError` is thrown unchanged, any other error
/// within `NetworkError.Code.invalidRequest`.
public struct CommonHeaders: Interceptor, ExchangeInterceptor, RequestAdapter {
    private let source: CommonSource<HTTPHeaders>

    /// Creates an interceptor with fixed fields, for the requests to `origins`.
    public init(_ headers: HTTPHeaders, origins: CredentialOrigins = .endPoints) {
        source = CommonSource(origins: origins, fixed: headers)
    }

    /// Creates an interceptor that requests the fields from a provider, for the requests to `origins`. The provider
    /// runs for each request, several times concurrently, and may wait.
    public init(
        origins: CredentialOrigins = .endPoints, provider: @escaping @Sendable () async throws -> HTTPHeaders
    ) {
        source = CommonSource(origins: origins, of: "header fields", provider)
    }

    /// Adds the fields to a request.
    public func adapt(_ request: inout NetworkRequest) async throws {
        guard source.origins.allow(request) else { return }
        let headers = try await source.value()
        let (hasBody, isTrace) = (!request.body.isEmpty, request.method == .trace)
        let described = hasBody ? request.body.additionalHeaders : [:]
        request.headers.addMissing(headers) { name in
            // The body sets the fields that describe it. Without a body, a `Content-Type` would be wrong.
            described.contains(name) || !hasBody && name.equalsIgnoringCase("Content-Type")
                || isTrace && Redaction.standard.isSecret(header: name)
        }
    }
}

/// A value that is added to requests: fixed, or from a provider for each request.
struct CommonSource<Value: Sendable>: Sendable {
    let origins: CredentialOrigins
    let value: @Sendable () async throws -> Value

    init(origins: CredentialOrigins, fixed: Value) {
        self.origins = origins
        value = { fixed }
    }

    init(origins: CredentialOrigins, of name: String, _ provider: @escaping @Sendable () async throws -> Value) {
        self.origins = origins
        value = {
            do {
                let value = try await withOwnTask(provider)
                try Call.check()
                return value
            } catch {
                throw NetworkError.thrown(error, by: "the provider of common \(name)", .invalidRequest)
            }
        }
    }
}
