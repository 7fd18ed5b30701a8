import SwitchboardText
import Foundation

/// A fixed value, or a provider of values.
///
/// A provider runs once for all requests of an environment and a partition that wait at the same time, and again for
/// the next one. It is canceled when all of those requests are canceled. A request that it sends itself gets nil.
package struct CredentialSource<Value: Sendable>: Sendable {
    /// Returns the value for a request, or nil when the provider returns nil.
    package let value: @Sendable (_ request: NetworkRequest) async throws -> Value?

    package init(_ value: Value) {
        self.value = { _ in value }
    }

    package init(_ provider: @escaping @Sendable () async throws -> Value?) {
        let shared = SharedOperations<CredentialKey, Value?, Void>()
        value = { request in
            guard !EnclosingOperations.contain(shared) else { return nil }
            let reportWaiting = { @Sendable in request.report(.waiting(for: "credentials")) }
            do {
                return try await shared.value(for: CredentialKey(request), context: (), didJoin: reportWaiting) { _ in
                    reportWaiting()
                    return try await EnclosingOperations.run(of: shared, obtainsCredential: true, provider)
                }
            } catch let error as CancellationError {
                try Call.check()
                throw NetworkError(
                    .cannotAuthenticate, reason: "the credential provider was cancelled", underlying: error)
            } catch {
                throw NetworkError.thrown(error, by: "the credential provider", .cannotAuthenticate)
            }
        }
    }
}

/// The requests that share a run of a provider, which may read the environment.
private struct CredentialKey: Hashable, Sendable {
    private let environment = NetworkEnvironment.current
    private let partition: String?

    init(_ request: NetworkRequest) {
        partition = request.options.partition
    }
}

extension NetworkRequest {
    /// Whether the request itself has credentials: an `Authorization` field, or a user in its URL.
    package var hasAuthorization: Bool { headers.contains("Authorization") || urlAuthorization != nil }

    /// Sets a header field that contains a credential. It is not sent to another origin, whatever its name.
    package mutating func setCredential(_ name: String, _ value: String) {
        headers.set(name, value)
        recordCredential(in: name)
    }

    /// Returns whether an interceptor may add credentials for these origins to the request. TRACE has none, because its
    /// response repeats them ([RFC 9110 §9.3.8](https://www.rfc-editor.org/rfc/rfc9110#section-9.3.8)).
    package func acceptsCredentials(for origins: CredentialOrigins) -> Bool {
        options.authentication != .none && method != .trace && origins.allow(self)
    }

    /// Returns whether an interceptor may add credentials that identify the user.
    package func acceptsSignIn(for origins: CredentialOrigins) -> Bool {
        options.authentication != .anonymous && acceptsCredentials(for: origins)
    }

    /// Records that the request has passed an interceptor for sign-ins. Its response may then belong to a user.
    package mutating func recordSignIn() { self[SignInRecord.self] = true }

    /// Whether the request has passed an interceptor for sign-ins, with or without a credential.
    package var isSignInRecorded: Bool { self[SignInRecord.self] }

    /// Throws before a request that requires a sign-in is sent without one. Secret fields that the app set itself count
    /// as a sign-in, but not the app's key. Other origins require no sign-in.
    func checkRequiredSignIn() throws(NetworkError) {
        // The requests of a refresh or a provider obtain the credential.
        guard options.authentication == .required, !EnclosingOperations.obtainCredential, !isSignInRecorded,
            !hasAuthorization,
            !hasLeftOrigin,
            !headers.contains(where: {
                Redaction.standard.isSecret(header: $0.name) && !carriesCredentials(in: $0.name)
            })
        else { return }
        let cause =
            method == .trace
            ? "a TRACE request carries no credentials (RFC 9110 §9.3.8)"
            : "no interceptor signs in to its origin: add one, such as AuthenticationInterceptor or BearerAuth"
        throw NetworkError(.cannotAuthenticate, reason: "the request requires a sign-in, and \(cause)")
    }

    /// Throws if the request requires a sign-in. Called when the provider returned no credential.
    package func requireNoSignIn() throws(NetworkError) {
        guard options.authentication == .required, !EnclosingOperations.obtainCredential else { return }
        throw NetworkError(
            .cannotAuthenticate, reason: "the request requires a sign-in, and the credential provider returned nil")
    }
}

private enum SignInRecord: RequestOption { static let defaultValue = false }

/// The origins that credentials may be sent to.
///
/// ```swift
/// BearerAuth(
///     "token",
///     origins: [
///         "https://api.example.com",
///         "https://cdn.example.com:8443",
///     ])
/// ```
public struct CredentialOrigins: Sendable, ExpressibleByArrayLiteral {
    private struct Origin: Sendable {
        let url: URL
        /// Whether the app gave only the host, with or without a port.
        let isHostOnly: Bool

        /// Returns whether the app gave only the host, and a URL of the app has it.
        func isHost(of other: URL) -> Bool {
            guard isHostOnly, let host = url.host, let otherHost = other.host else { return false }
            return host.equalsIgnoringCase(otherHost) && (url.port == nil || url.port == other.effectivePort)
        }
    }

    /// The only allowed origins, or nil for those of the app's own endpoints.
    private let listed: [Origin]?

    private init(listed: [Origin]?) {
        self.listed = listed
    }

    /// The origins of the app's own endpoints. The default. Credentials are never sent to an origin that only a server
    /// chose: by a redirect, a link to the next page, or the location of an upload. They are not sent again when such a
    /// request returns to the first origin.
    public static let endPoints = CredentialOrigins(listed: nil)

    /// Creates a list of the only allowed origins, as texts such as `https://api.example.com`: scheme, host and port.
    /// They apply even if a server chose the URL. An array literal does the same.
    ///
    /// A host such as `api.example.com` means https on its default port. If the app itself requests that host, every
    /// scheme and port is allowed, unless the text names a port. A text that is neither an http or https URL nor a host
    /// allows nothing.
    public init(_ texts: [String]) {
        listed = texts.compactMap { text in
            let isHost = text.schemeMark == nil
            guard let url = URL(string: isHost ? "https://" + text : text), URLFault.of(url) == nil else { return nil }
            return Origin(url: url, isHostOnly: isHost)
        }
    }

    /// Creates a list of the only allowed origins, as texts.
    public init(arrayLiteral elements: String...) {
        self.init(elements)
    }

    package func allow(_ request: NetworkRequest) -> Bool {
        // A later interceptor of the app may add the URL.
        guard let listed else { return !request.hasLeftOrigin }
        guard let url = request.url else { return false }
        return listed.contains { url.hasSameOrigin(as: $0.url) || !request.hasLeftOrigin && $0.isHost(of: url) }
    }
}
