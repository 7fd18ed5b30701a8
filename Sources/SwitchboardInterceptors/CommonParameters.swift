import Foundation
import Switchboard

/// Adds parameters to every request, such as a token and a user's id: fixed ones, or what a provider gives for each.
///
/// ```swift
/// CommonParameters(["client": "app", "user_id": 7])
/// CommonParameters(hosts: ["api.example.com"]) { ["token": await .init(account.token ?? "")] }
/// ```
///
/// They go where `HTTPTask.requestParameters(_:bodyEncoding:)` puts them: into the query for GET, HEAD and DELETE, into
/// the body for the others; or where `in:` says, `.query` for a key that the server looks for there. A form gets more pairs, a JSON object more members, and a request without a body one by
/// `bodyEncoding`. What cannot take them, such as a file, a multipart or compressed body or a JSON array, is left alone,
/// and they go into the query. A name that the request has there keeps its own value; a nil is left out.
///
/// What the provider throws ends the call, as `NetworkError.Code.invalidRequest` when it is no `NetworkError`, and
/// nothing is sent. Logs replace what has a secret's name, such as `token`; see `Redaction`.
public struct CommonParameters: Interceptor, RequestAdapter {
    /// Where the parameters stand, whatever the method.
    public enum Place: Sendable, Hashable {
        /// In the query.
        case query
        /// In the body of every method that may have one, DELETE too; in the query of the others, such as GET.
        case body
    }

    private let source: CommonSource<Parameters>
    private let place: Place?
    private let encoding: ParameterEncoding

    /// Adds these parameters.
    ///
    /// - Parameters:
    ///   - parameters: The parameters.
    ///   - place: Where they stand. Nil, the default, for where the method wants them.
    ///   - hosts: The hosts, or origins such as `http://localhost:8080`, whose requests get them, as credentials have it:
    ///     see `CredentialOrigins.init(arrayLiteral:)`. Nil, the default, for the origin that the app asked: see
    ///     `CredentialOrigins.asked`.
    ///   - bodyEncoding: How a body is made for a request without one.
    public init(
        _ parameters: Parameters, in place: Place? = nil, hosts: [String]? = nil,
        bodyEncoding: ParameterEncoding = .jsonEncoding
    ) {
        source = CommonSource(hosts: hosts, fixed: parameters)
        self.place = place
        encoding = bodyEncoding
    }

    /// Adds what a provider gives; see ``init(_:in:hosts:bodyEncoding:)``. It is asked for each request, several times at
    /// once, and may wait.
    public init(
        in place: Place? = nil, hosts: [String]? = nil, bodyEncoding: ParameterEncoding = .jsonEncoding,
        provider: @escaping @Sendable () async throws -> Parameters
    ) {
        source = CommonSource(hosts: hosts, provider: provider)
        self.place = place
        encoding = bodyEncoding
    }

    /// Adds the parameters.
    public func adapt(_ request: inout NetworkRequest) async throws {
        guard source.isFor(request) else { return }
        let parameters = try await source.value("parameters")
        do {
            let (names, place) = try request.add(parameters, encoding, in: place)
            // A redirect would carry them to another origin.
            if place == "body", !names.isEmpty { request.trail.bodyRules.append(source.isFor) }
        } catch {
            throw NetworkError.encoding(error)
        }
    }
}
