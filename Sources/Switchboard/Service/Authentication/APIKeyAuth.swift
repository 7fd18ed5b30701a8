import Foundation
import SwitchboardText

/// Adds an API key to each request, in a header field or in the query.
///
/// ```swift
/// APIKeyAuth(key, in: .header("X-Api-Key"))
/// APIKeyAuth(key, in: .query("api_key"))
/// ```
///
/// A request that already has the field or parameter keeps it. The texts about a request mask the key that was added to
/// it, whatever the name of its field or parameter. If a server repeats the key in a body, only the names of
/// ``Redaction/standard`` mask it.
public struct APIKeyAuth: Interceptor, ExchangeInterceptor, RequestAdapter {
    /// The part of the request that carries the key.
    public enum Location: Sendable, Hashable {
        /// A header field of this name. A redirect never sends it to another origin, whatever its name.
        case header(String)
        /// A query parameter of this name, after the existing ones. Prefer a header: servers write URLs into their
        /// logs.
        case query(String)
    }

    private let source: CredentialSource<String>
    private let location: Location
    private let origins: CredentialOrigins

    /// Creates an interceptor with a fixed key.
    public init(_ key: String, in location: Location, origins: CredentialOrigins = .endPoints) {
        source = CredentialSource(key)
        self.location = location
        self.origins = origins
    }

    /// Creates an interceptor that requests the key from a provider; see ``BearerAuth/init(origins:provider:)``.
    public init(
        in location: Location, origins: CredentialOrigins = .endPoints,
        provider: @escaping @Sendable () async throws -> String?
    ) {
        source = CredentialSource(provider)
        self.location = location
        self.origins = origins
    }

    /// Adds the key to a request.
    public func adapt(_ request: inout NetworkRequest) async throws {
        guard request.acceptsCredentials(for: origins) else { return }
        guard !hasKey(request) else { return record(in: &request) }
        guard let key = try await source.value(request) else { return }
        guard !key.isEmpty else {
            throw NetworkError(.cannotAuthenticate, reason: "the API key is empty")
        }
        add(key, to: &request)
    }

    private func hasKey(_ request: NetworkRequest) -> Bool {
        switch location {
        case .header(let name): request.headers.contains(name)
        case .query(let name): FormBody.decode(request.query ?? "").contains { $0.name == name }
        }
    }

    private func add(_ key: String, to request: inout NetworkRequest) {
        switch location {
        case .header(let name): request.setCredential(name, key)
        case .query(let name): request.appendToQuery(name.percentEncoded() + "=" + key.percentEncoded())
        }
        record(in: &request)
    }

    /// Records the parameter, whose value texts then mask. The app or a link of the server may have set it.
    private func record(in request: inout NetworkRequest) {
        if case .query(let name) = location { request.recordCredential(inParameter: name) }
    }
}

extension APIKeyAuth: DumpedAsDescription {
    /// The name of the type, without the key.
    public var description: String { "APIKeyAuth" }
}
