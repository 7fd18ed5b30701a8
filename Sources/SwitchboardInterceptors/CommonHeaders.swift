import Foundation
import Switchboard
import SwitchboardText

/// Adds header fields to every request: fixed ones, or what a provider gives for each.
///
/// ```swift
/// CommonHeaders(["X-App-Version": "7.1"])
/// CommonHeaders(hosts: ["api.example.com"]) { ["X-Token": await account.token ?? ""] }
/// ```
///
/// A field that the request has stays as it is; those of manager and router count as its own. A `Content-Type` is added to
/// a request with a body alone. What the provider throws ends the call, as `NetworkError.Code.invalidRequest` when it is
/// no `NetworkError`, and nothing is sent.
public struct CommonHeaders: Interceptor, ExchangeInterceptor, RequestAdapter {
    private let source: CommonSource<HTTPHeaders>

    /// Adds these fields, to requests to these hosts, or origins such as `http://localhost:8080`, as credentials have it:
    /// see `CredentialOrigins.init(arrayLiteral:)`. Nil, the default, for the origin that the app asked: see
    /// `CredentialOrigins.asked`.
    public init(_ headers: HTTPHeaders, hosts: [String]? = nil) {
        source = CommonSource(hosts: hosts, fixed: headers)
    }

    /// Adds what a provider gives, to requests to these hosts; see ``init(_:hosts:)``. It is asked for each request, several times at once, and may wait.
    public init(hosts: [String]? = nil, provider: @escaping @Sendable () async throws -> HTTPHeaders) {
        source = CommonSource(hosts: hosts, provider: provider)
    }

    /// Adds the fields.
    public func adapt(_ request: inout NetworkRequest) async throws {
        guard source.isFor(request) else { return }
        let headers = try await source.value("header fields")
        let hasBody = !request.body.isEmpty
        let described = hasBody ? request.body.additionalHeaders : [:]
        request.headers.fill(headers) { name in
            // The body's own fields are its own; a type for no body would be a lie.
            described.contains(name) || !hasBody && name.equalsIgnoringCase("Content-Type")
        }
    }
}
