import SwitchboardPlatform
import Foundation
import Switchboard

/// Adds a credential to each request, and refreshes it once for all requests that need a new one.
///
/// ```swift
/// let login = AuthenticationInterceptor(
///     OAuth2Authenticator(client, store: FileTokenStore(file)))
/// let manager = NetworkManager(interceptors: [RetryPolicy(), login])
/// ```
///
/// - A refused or expired credential is refreshed once, however many requests need it. The others wait and are sent
///   with the new one. A request that was sent with an older credential than the current one is sent again without a
///   refresh.
/// - A failed refresh fails every request that waits for it, with the same error: the code of the transport's failure,
///   or `NetworkError.Code.cannotAuthenticate`. The next request tries again.
/// - A request is sent again once. A 401 after that is the result. A 401 for a body that cannot be sent again is the
///   result too, and the next request refreshes the credential.
/// - A refresh runs in a separate task and finishes even if all waiting requests were canceled, because it may already
///   have used up the old credential. ``refreshTimeout`` limits its time.
/// - Without a sign-in a request fails, unless its `RequestOptions.authentication` is `AuthenticationChoice.optional`.
///   Then it is sent without a credential.
/// - A request with an `Authorization` field or a user in its URL passes unchanged, and so does one whose
///   `RequestOptions.authentication` is `AuthenticationChoice.none` or `AuthenticationChoice.anonymous`.
/// - Each `RequestOptions.partition` has a separate credential.
public final class AuthenticationInterceptor<A: Authenticator>: Interceptor, RequestAdapter {
    typealias Held = HeldCredential<A.Credential>
    typealias Space = CredentialSpace<A.Credential>

    struct State {
        var spaces: [String?: Space] = [:]
        var generation = 0
    }

    /// The authenticator that applies and refreshes credentials.
    public let authenticator: A
    /// The time before its expiry at which a credential is refreshed. Default 30 seconds. A credential that arrives with
    /// less time left is used until it expires.
    public let leeway: Duration
    /// The longest time for a refresh. After it, waiting requests fail with `NetworkError.Code.timedOut`. Default 60
    /// seconds.
    public let refreshTimeout: Duration
    /// The limit for refreshes. Beyond it a 401 is the result, and a request with an expired credential fails with
    /// `NetworkError.Code.cannotAuthenticate`.
    public let refreshLimit: RefreshLimit
    let origins: CredentialOrigins
    let now: @Sendable () -> Date
    let clock: any Clock<Duration>
    let state = Protected(State())
    let saving = SerialTasks()

    /// Creates an interceptor.
    ///
    /// - Parameters:
    ///   - authenticator: Applies and refreshes credentials. It must reference a router with this interceptor weakly.
    ///   - leeway: The time before its expiry at which a credential is refreshed.
    ///   - refreshTimeout: The longest time for a refresh.
    ///   - refreshLimit: The limit for refreshes.
    ///   - origins: The origins that credentials may be sent to.
    ///   - clock: The clock that measures the timeout of a refresh.
    ///   - now: Returns the date that expiry dates are compared with.
    public init(
        _ authenticator: A, leeway: Duration = .seconds(30), refreshTimeout: Duration = .seconds(60),
        refreshLimit: RefreshLimit = RefreshLimit(), origins: CredentialOrigins = .asked,
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.authenticator = authenticator
        self.leeway = leeway.clamped
        self.refreshTimeout = refreshTimeout.clamped
        self.refreshLimit = refreshLimit
        self.origins = origins
        self.clock = clock
        self.now = now
    }

    /// Sends the request with the credential, and once more with a new one if the server refuses it. Without a
    /// credential, `RequestOptions.authentication` decides whether the request is sent or fails with
    /// `NetworkError.Code.cannotAuthenticate`.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        guard takes(request) else { return try await next(request) }
        var request = request
        request.noteSignIn()
        let failures = space(of: request).failures
        guard let held = try await credential(for: request) else { return try await next(request) }
        let response = try await next(applying(held, to: request))
        // A redirect to another origin does not carry the credential, so a refusal there proves nothing about it.
        guard authenticator.isAuthenticationFailure(response), response.isFromOrigin(of: request) else {
            return response
        }
        guard request.body.isReplayable else {
            request.report(.authentication("rejected; the body cannot be sent again"))
            noteRefusal(of: held, in: request.options.partition)
            return response
        }
        let renewed: Held?
        do {
            renewed = try await self.renewed(after: held, failures, for: request)
        } catch {
            // The server has ended the sign-in. The request is sent without a credential if it requires none.
            guard goesWithoutCredential(request, after: error) else { throw error }
            return try await next(request)
        }
        guard let renewed else { return response }
        return try await next(applying(renewed, to: request))
    }

    /// Adds the current credential. Does not load or refresh it.
    public func adapt(_ request: inout NetworkRequest) async throws {
        guard takes(request) else { return }
        request.noteSignIn()
        guard let held = space(of: request).held else { return }
        request = try applying(held, to: request)
    }

    private func takes(_ request: NetworkRequest) -> Bool {
        request.takesSignIn(for: origins) && !request.hasAuthorization && !CredentialRefresh.isRunning(of: self)
    }

    private func applying(_ held: Held, to request: NetworkRequest) throws -> NetworkRequest {
        var applied = request
        try authenticator.apply(held.credential, to: &applied)
        for field in applied.headers where !request.headers.values(for: field.name).contains(field.value) {
            applied.noteCredential(in: field.name)
        }
        return applied
    }

    func space(of request: NetworkRequest) -> Space {
        state.withLock { $0.spaces[request.options.partition] ?? Space() }
    }

    /// Returns whether the credential must be refreshed now.
    func isDue(_ held: Held) -> Bool {
        guard let leeway = held.leeway else { return false }
        return authenticator.needsRefresh(held.credential, at: now().addingTimeInterval(leeway.seconds))
    }

    private func noteRefusal(of held: Held, in partition: String?) {
        state.withLock { state in
            guard state.spaces[partition]?.held?.generation == held.generation else { return }
            state.spaces[partition]?.isRefused = true
        }
    }
}

extension AuthenticationInterceptor: CustomStringConvertible, CustomReflectable {
    /// The name of the type, without credentials.
    public var description: String { "AuthenticationInterceptor<\(A.self)>" }
    /// A mirror with only the redacted line, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
