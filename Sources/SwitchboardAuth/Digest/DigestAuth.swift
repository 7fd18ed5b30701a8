import Foundation
import Switchboard
import SwitchboardPlatform

/// Answers `Digest` challenges ([RFC 7616](https://www.rfc-editor.org/rfc/rfc7616)): MD5, SHA-256 and, if the system
/// has it, SHA-512/256, each also as `-sess`, with or without `qop=auth`.
///
/// ```swift
/// DigestAuth(user: "anna", password: password)
/// ```
///
/// The first request to an origin receives a 401 and is sent again. Later requests carry the answer at once, with an
/// increasing count, until the server calls the nonce stale. Of several challenges, the one with the strongest hash is
/// answered. A 401 that cannot be answered is the result, and so is a 401 after an answer. A body that cannot be sent
/// again needs an earlier request to the origin.
///
/// A request that has an `Authorization` field, or a user in its URL, keeps it. `RequestOptions.credentials` replaces
/// the credentials for one request.
public final class DigestAuth: Interceptor, ExchangeInterceptor {
    private let source: CredentialSource<BasicCredentials>
    private let origins: CredentialOrigins
    private let spaces: DigestSpaces

    /// Creates an interceptor with a fixed user and password.
    public convenience init(user: String, password: String, origins: CredentialOrigins = .asked) {
        self.init(CredentialSource(BasicCredentials(user: user, password: password)), origins)
    }

    /// Creates an interceptor that requests the credentials from a provider; see `BasicAuth.init(origins:provider:)`.
    public convenience init(
        origins: CredentialOrigins = .asked, provider: @escaping @Sendable () async throws -> BasicCredentials?
    ) {
        self.init(CredentialSource(provider), origins)
    }

    init(
        _ source: CredentialSource<BasicCredentials>, _ origins: CredentialOrigins,
        makeNonce: @escaping @Sendable () -> String = { Data.random(24).base64EncodedString() }
    ) {
        self.source = source
        self.origins = origins
        spaces = DigestSpaces(makeNonce)
    }

    /// Sends the request, and again with the answer to a challenge.
    ///
    /// - Throws: `NetworkError.Code.cannotAuthenticate` when the server requires `auth-int`,
    ///   `NetworkError.Code.unsupported` when the system lacks the hash function.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        guard request.takesSignIn(for: origins), !request.hasAuthorization, let key = OriginKey(request) else {
            return try await next(request)
        }
        var request = request
        request.noteSignIn()
        var answer = spaces.next(for: key)
        var credentials: BasicCredentials?
        if answer != nil { credentials = try await self.credentials(for: request) }
        if credentials == nil { answer = nil }
        var answeredCount = 0
        // Once for the challenge, once for a nonce that became stale meanwhile, and once more for the target of a
        // redirect.
        var limit = 2
        while true {
            let response = try await next(answering(answer, credentials, request))
            // After a redirect to another origin, the response neither requests these credentials nor names their
            // nonce.
            guard response.isFromOrigin(of: request), response.request.map({ OriginKey($0) == key }) ?? true else {
                return response
            }
            guard response.statusCode == 401 else {
                if let answer { noteNextNonce(in: response, after: answer, key) }
                return response
            }
            guard let challenge = try challenge(in: response) else { return response }
            // Within the origin the challenge is for the target of the redirect, because an answer is bound to its URL.
            let isMoved = follow(response, &request)
            if isMoved { limit = 3 }
            if let answer, !isMoved, answeredCount > 0 || answer.challenge.nonce == challenge.nonce, !challenge.isStale
            {
                spaces.forget(answer, for: key)
                return response
            }
            spaces.note(challenge, for: key)
            guard answeredCount < limit, request.body.isReplayable else { return response }
            if credentials == nil { credentials = try await self.credentials(for: request) }
            answer = spaces.next(for: key)
            guard credentials != nil, answer != nil else { return response }
            answeredCount += 1
            request.report(.authentication(challenge.isStale ? "digest: the nonce was stale" : "digest: challenged"))
        }
    }

    /// Replaces the request with the redirected one. Returns false without a redirect.
    private func follow(_ response: NetworkResponse, _ request: inout NetworkRequest) -> Bool {
        guard var moved = response.request, moved.id == request.id, moved.url != request.url,
            moved.takesSignIn(for: origins)
        else { return false }
        moved.headers.remove("Authorization")
        request = moved
        return true
    }

    private func credentials(for request: NetworkRequest) async throws -> BasicCredentials? {
        let credentials = try await request.options.credentials.orElse { try await source.value(for: request) }
        if credentials == nil { try request.checkSignIn() }
        return credentials
    }

    private func answering(
        _ answer: DigestAnswer?, _ credentials: BasicCredentials?, _ request: NetworkRequest
    ) throws -> NetworkRequest {
        guard let answer, let credentials else { return request }
        var answering = request
        let target = request.path + (request.query.map { "?" + $0 } ?? "")
        answering.setCredential("Authorization", try answer.value(for: credentials, request.method, target))
        return answering
    }

    private func challenge(in response: NetworkResponse) throws -> DigestChallenge? {
        do throws(NetworkError) {
            return try DigestChallenge.strongest(of: response.challenges)
        } catch {
            throw error.with(response)
        }
    }

    private func noteNextNonce(in response: NetworkResponse, after answer: DigestAnswer, _ key: OriginKey) {
        guard let field = response.headers["Authentication-Info"],
            let nonce = AuthenticationChallenge.parse("Digest " + field).first?["nextnonce"],
            !nonce.isEmpty, nonce.utf8.count < 4_096
        else { return }
        spaces.goOn(with: nonce, after: answer, for: key)
    }
}

extension DigestAuth: Resettable {
    /// Removes the stored challenges.
    public func reset() async {
        spaces.removeAll()
    }
}

extension DigestAuth: CustomStringConvertible, CustomReflectable {
    /// The name of the type, without the credentials.
    public var description: String { "DigestAuth" }
    /// A mirror with only the redacted line, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
