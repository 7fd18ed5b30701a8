import Foundation
import SwitchboardText

/// A key in a header field or in the query of each request.
///
/// ```swift
/// APIKeyAuth(key, in: .header("X-Api-Key"))
/// APIKeyAuth(key, in: .query("api_key"))
/// ```
///
/// A request that has such a field or parameter already keeps it. The field is redacted in every text about the request,
/// whatever its name; a parameter, when its name ends in `key`, `token` and the like: give any other one to the
/// ``Redaction`` of your logs.
public struct APIKeyAuth: Interceptor, ExchangeInterceptor, RequestAdapter {
    /// Where the key stands.
    public enum Place: Sendable, Hashable {
        /// In a header field of this name. It goes to no other origin by a redirect, whatever its name.
        case header(String)
        /// In a parameter of this name, behind those that the query has. Prefer a header: URLs end up in logs of servers.
        case query(String)
    }

    private let source: CredentialSource<String>
    private let place: Place
    private let origins: CredentialOrigins

    /// Always the same key.
    public init(_ key: String, in place: Place, origins: CredentialOrigins = .asked) {
        source = CredentialSource(key)
        self.place = place
        self.origins = origins
    }

    /// Asks for the key; see ``BearerAuth/init(origins:provider:)``.
    public init(
        in place: Place, origins: CredentialOrigins = .asked, provider: @escaping @Sendable () async throws -> String?
    ) {
        source = CredentialSource(provider)
        self.place = place
        self.origins = origins
    }

    /// Adds the key.
    public func adapt(_ request: inout NetworkRequest) async throws {
        guard request.takesCredentials(for: origins), !isThere(request),
            let key = try await source.value(for: request)
        else { return }
        guard !key.isEmpty else {
            throw NetworkError(.cannotAuthenticate, reason: "the API key is empty")
        }
        add(key, to: &request)
    }

    private func isThere(_ request: NetworkRequest) -> Bool {
        switch place {
        case .header(let name): request.headers.contains(name)
        case .query(let name): FormBody.decode(request.query ?? "").contains { $0.name == name }
        }
    }

    private func add(_ key: String, to request: inout NetworkRequest) {
        switch place {
        case .header(let name): request.setCredential(name, key)
        case .query(let name):
            var item: [UInt8] = []
            item.appendEscaped(name, allowed: .unreserved)
            item.append(.equals)
            item.appendEscaped(key, allowed: .unreserved)
            let query = request.query ?? ""
            request.query =
                query + (query.isEmpty || query.hasSuffix("&") ? "" : "&") + String(decoding: item, as: UTF8.self)
        }
    }
}

extension APIKeyAuth: CustomStringConvertible, CustomReflectable {
    /// Without the key.
    public var description: String { "APIKeyAuth" }
    /// Shows the redacted line only, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
