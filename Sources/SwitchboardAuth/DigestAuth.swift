import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardText

/// Answers `Digest` challenges ([RFC 7616](https://www.rfc-editor.org/rfc/rfc7616)): MD5, SHA-256 and, if the system
/// has it, SHA-512/256, each also as `-sess`, with or without `qop=auth`.
///
/// ```swift
/// DigestAuth(user: "anna", password: password)
/// ```
///
/// The first request to an origin receives a 401 and is sent again. Later requests carry a response to the same
/// challenge, with an increasing count, until the server declares the nonce stale. Of several challenges, the one with
/// the strongest hash is answered. If each needs `auth-int` or a hash that the system lacks, the request fails. A 401
/// without a known challenge is the result, and so is a 401 after a response. A body that cannot be sent again needs an
/// earlier request to the origin.
///
/// List it after interceptors that change the URL, such as an `APIKeyAuth` in the query, because a response is only
/// valid for its path and query. Of the exchange interceptors, list a `CookieInterceptor` after it, so that the second
/// request has the cookies of the first response.
///
/// A request that has an `Authorization` field, or a user in its URL, keeps it. `RequestOptions.credentials` replaces
/// the credentials for one request.
public final class DigestAuth: Interceptor, ExchangeInterceptor {
    private let source: CredentialSource<BasicCredentials>
    private let origins: CredentialOrigins
    private let nonces: DigestNonces

    /// Creates an interceptor with a fixed user and password.
    public convenience init(user: String, password: String, origins: CredentialOrigins = .endPoints) {
        self.init(CredentialSource(BasicCredentials(user: user, password: password)), origins)
    }

    /// Creates an interceptor that requests the credentials from a provider; see `BasicAuth.init(origins:provider:)`.
    public convenience init(
        origins: CredentialOrigins = .endPoints, provider: @escaping @Sendable () async throws -> BasicCredentials?
    ) {
        self.init(CredentialSource(provider), origins)
    }

    init(
        _ source: CredentialSource<BasicCredentials>, _ origins: CredentialOrigins,
        makeNonce: @escaping @Sendable () -> String = { Data.random(24).base64EncodedString() }
    ) {
        self.source = source
        self.origins = origins
        nonces = DigestNonces(makeNonce)
    }

    /// Sends the request, and again with the response to a challenge.
    ///
    /// - Throws: `NetworkError.Code.cannotAuthenticate` when the server requires `auth-int`, or the request requires a
    ///   sign-in and the provider returns nil. `NetworkError.Code.unsupported` when the system lacks the hash function.
    ///   `NetworkError.Code.invalidRequest` for a control character in the user or the password.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        guard request.acceptsSignIn(for: origins), !request.hasAuthorization, let key = OriginKey(request) else {
            return try await next(request)
        }
        var request = request
        request.recordSignIn()
        var digest = nonces.next(for: key)
        var credentials: BasicCredentials?
        if digest != nil { credentials = try await self.credentials(for: request) }
        if credentials == nil { digest = nil }
        var answeredCount = 0
        // Once for the challenge, once for a stale nonce, and once more for the target of each redirect, up to 20 times.
        var limit = 2
        while true {
            let response = try await next(authorized(digest, credentials, request))
            // After a redirect to another origin, the response is not about these credentials.
            guard response.isFromOrigin(of: request), response.request.map({ OriginKey($0) == key }) ?? true else {
                return response
            }
            guard response.statusCode == 401 else {
                if let digest { storeNextNonce(in: response, after: digest, key) }
                return response
            }
            guard let challenge = try challenge(in: response) else { return response }
            // Within the origin the challenge is for the target of the redirect, because a response is bound to its
            // URL.
            let isRedirected = followRedirect(response, &request)
            if isRedirected { limit = min(limit + 1, 20) }
            if let digest, !isRedirected, answeredCount > 0 || digest.challenge.isRepeated(by: challenge),
                !challenge.isStale
            {
                nonces.remove(digest, for: key)
                return response
            }
            guard answeredCount < limit, request.body.isReplayable else {
                nonces.store(challenge, for: key)
                return response
            }
            if credentials == nil { credentials = try await self.credentials(for: request) }
            guard credentials != nil else { return response }
            digest = nonces.next(after: challenge, for: key)
            guard digest != nil else { return response }
            answeredCount += 1
            request.report(.authentication(challenge.isStale ? "digest: the nonce was stale" : "digest: challenged"))
        }
    }

    /// Replaces the request with the redirected one. Returns false without a redirect.
    private func followRedirect(_ response: NetworkResponse, _ request: inout NetworkRequest) -> Bool {
        guard let sent = response.request, sent.id == request.id,
            sent.url != request.url || request.isMadeGET(in: sent), sent.acceptsSignIn(for: origins)
        else { return false }
        request = request.redirected(sentAs: sent)
        return true
    }

    private func credentials(for request: NetworkRequest) async throws -> BasicCredentials? {
        var credentials = request.options.credentials
        if credentials == nil { credentials = try await source.value(request) }
        if credentials == nil { try request.requireNoSignIn() }
        return credentials
    }

    private func authorized(
        _ digest: DigestResponse?, _ credentials: BasicCredentials?, _ request: NetworkRequest
    ) throws -> NetworkRequest {
        guard let digest, let credentials else { return request }
        var authorized = request
        let target = request.path + (request.query.map { "?" + $0 } ?? "")
        authorized.setCredential("Authorization", try digest.value(for: credentials, request.method, target))
        return authorized
    }

    private func challenge(in response: NetworkResponse) throws -> DigestChallenge? {
        do throws(NetworkError) {
            return try DigestChallenge.strongest(of: response.challenges)
        } catch {
            throw error.with(response)
        }
    }

    private func storeNextNonce(in response: NetworkResponse, after digest: DigestResponse, _ key: OriginKey) {
        // A session algorithm keeps the key that its first nonce made (RFC 7616 §3.4.2).
        guard !digest.challenge.isSession, let field = response.headers["Authentication-Info"],
            let nonce = AuthenticationChallenge.parse("Digest " + field).first?["nextnonce"],
            !nonce.isEmpty, nonce.utf8.count < 4_096, !nonce.utf8.contains(where: \.breaksFieldValue)
        else { return }
        nonces.replaceNonce(with: nonce, after: digest, for: key)
    }
}

extension NetworkRequest {
    /// Returns this request after a redirect within its origin. `sent` is the request that the session received.
    func redirected(sentAs sent: NetworkRequest) -> NetworkRequest {
        var redirected = withURLAndHops(of: sent)
        if isMadeGET(in: sent) { (redirected.method, redirected.body) = (.get, sent.body) }
        // Later interceptors add theirs again, such as cookies that the response has replaced.
        for field in headers where !sent.headers.contains(field.name) { redirected.headers.remove(field.name) }
        return redirected
    }
}

extension DigestAuth: Resettable {
    /// Removes the stored challenges.
    public func reset() async {
        nonces.removeAll()
    }
}

extension DigestAuth: DumpedAsDescription {
    /// The name of the type, without the credentials.
    public var description: String { "DigestAuth" }
}

/// The answered challenges, one for each origin and partition, so that later requests carry a response without a
/// challenge.
final class DigestNonces: Sendable {
    private struct Entry {
        var challenge: DigestChallenge
        var clientNonce: String
        var count: UInt32 = 0
    }

    /// The largest number of challenges, so that servers cannot fill the memory.
    private static let limit = 256
    private let nonces = Protected<[OriginKey: Entry]>([:])
    private let makeNonce: @Sendable () -> String

    init(_ makeNonce: @escaping @Sendable () -> String) {
        self.makeNonce = makeNonce
    }

    /// Stores a challenge. A new nonce starts with the first count. A known nonce keeps its count, because a server may
    /// accept each count only once (RFC 7616 §3.4).
    func store(_ challenge: DigestChallenge, for key: OriginKey) {
        let entry = Entry(challenge: challenge, clientNonce: makeNonce())
        nonces.withLock { Self.store(entry, for: key, in: &$0) }
    }

    /// Returns the next response for an origin, or nil without a challenge. Stores the given challenge first, in one step,
    /// because a server may accept a nonce only once: a concurrent request gets no response to the same challenge.
    func next(after challenge: DigestChallenge? = nil, for key: OriginKey) -> DigestResponse? {
        let entry = challenge.map { Entry(challenge: $0, clientNonce: makeNonce()) }
        return nonces.withLock { nonces in
            if let entry { Self.store(entry, for: key, in: &nonces) }
            guard var entry = nonces[key], entry.count < .max else { return nil }
            entry.count += 1
            nonces[key] = entry
            return DigestResponse(challenge: entry.challenge, clientNonce: entry.clientNonce, count: entry.count)
        }
    }

    private static func store(_ entry: Entry, for key: OriginKey, in nonces: inout [OriginKey: Entry]) {
        if nonces[key]?.challenge.nonce == entry.challenge.nonce {
            nonces[key]?.challenge = entry.challenge
            return
        }
        if nonces.count >= limit, nonces[key] == nil { nonces.removeAll() }
        nonces[key] = entry
    }

    /// Stores the nonce that the server named for later requests (RFC 7616 §3.5).
    func replaceNonce(with nonce: String, after digest: DigestResponse, for key: OriginKey) {
        let clientNonce = makeNonce()
        nonces.withLock { nonces in
            guard var entry = nonces[key], entry.challenge.nonce == digest.challenge.nonce,
                nonce != entry.challenge.nonce
            else { return }
            entry.challenge.nonce = nonce
            (entry.clientNonce, entry.count) = (clientNonce, 0)
            nonces[key] = entry
        }
    }

    /// Removes a challenge whose response was rejected.
    func remove(_ digest: DigestResponse, for key: OriginKey) {
        nonces.withLock { if $0[key]?.challenge.nonce == digest.challenge.nonce { $0[key] = nil } }
    }

    func removeAll() {
        nonces.withLock { $0 = [:] }
    }
}

/// The key for a server's challenges: an origin within a partition.
struct OriginKey: Hashable, Sendable {
    private let partition: String?
    private let origin: String

    /// Creates the key, or nil for a request without a host.
    init?(_ request: NetworkRequest) {
        guard let url = request.url, let host = url.host else { return nil }
        partition = request.options.partition
        origin = "\(url.isHTTPS ? "https" : "http")://\(host.lowercased()):\(url.effectivePort)"
    }
}
