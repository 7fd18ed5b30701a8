import Foundation
import Switchboard

/// Adds parameters to every request, such as a token and a user's id: fixed ones, or those of a provider.
///
/// ```swift
/// CommonParameters(["client": "app", "user_id": 7])
/// CommonParameters(hosts: ["api.example.com"]) {
///     ["token": await .init(account.token ?? "")]
/// }
/// ```
///
/// They go into the query for GET, HEAD and DELETE and into the body for other methods, as with
/// `HTTPTask.requestParameters(_:bodyEncoding:)`. The argument `in:` overrides this, for example `.query` for a key
/// that the server expects there. A form gets more pairs, a JSON object gets more members, and a request without a body
/// gets one by `bodyEncoding`. Other bodies stay unchanged, and the parameters go into the query: a file, a multipart
/// or compressed body, or a JSON array. A parameter that the request already has there keeps its value. Nil values are
/// left out.
///
/// If the provider throws, the call fails and nothing is sent: a `NetworkError` is thrown unchanged, any other error
/// within `NetworkError.Code.invalidRequest`. Logs redact parameters with a secret's name, such as `token`; see
/// `Redaction`.
public struct CommonParameters: Interceptor, RequestAdapter {
    /// The part of the request that gets the parameters, whatever the method.
    public enum Place: Sendable, Hashable {
        /// The query.
        case query
        /// The body of every method that may have one, also DELETE. The query of the others, such as GET.
        case body
    }

    private let source: CommonSource<Parameters>
    private let place: Place?
    private let encoding: ParameterEncoding

    /// Creates an interceptor with fixed parameters.
    ///
    /// - Parameters:
    ///   - parameters: The parameters.
    ///   - place: The part of the request that gets them. Nil, the default, for the part that suits the method.
    ///   - hosts: The hosts whose requests get them, or origins such as `http://localhost:8080`, by the rules of
    ///     `CredentialOrigins.init(arrayLiteral:)`. Nil, the default, for the origins of the app's own endpoints; see
    ///     `CredentialOrigins.asked`.
    ///   - bodyEncoding: The encoding of a body for a request without one.
    public init(
        _ parameters: Parameters, in place: Place? = nil, hosts: [String]? = nil,
        bodyEncoding: ParameterEncoding = .jsonEncoding
    ) {
        source = CommonSource(hosts: hosts, fixed: parameters)
        self.place = place
        encoding = bodyEncoding
    }

    /// Creates an interceptor that requests the parameters from a provider; see ``init(_:in:hosts:bodyEncoding:)``. The
    /// provider runs for each request, several times concurrently, and may wait.
    public init(
        in place: Place? = nil, hosts: [String]? = nil, bodyEncoding: ParameterEncoding = .jsonEncoding,
        provider: @escaping @Sendable () async throws -> Parameters
    ) {
        source = CommonSource(hosts: hosts, provider: provider)
        self.place = place
        encoding = bodyEncoding
    }

    /// Adds the parameters to a request.
    public func adapt(_ request: inout NetworkRequest) async throws {
        guard source.isFor(request) else { return }
        let parameters = try await source.value("parameters")
        do {
            let (names, place) = try request.add(parameters, encoding, in: place)
            // A redirect would carry them to another origin.
            if place == "body", !names.isEmpty { request.route.bodyRules.append(source.isFor) }
        } catch {
            throw NetworkError.encoding(error)
        }
    }
}
