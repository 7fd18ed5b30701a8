import SwitchboardPlatform
import Foundation
import Switchboard

/// Sends each request with a credential that is renewed as needed, once for all requests that need it.
///
/// ```swift
/// let login = AuthenticationInterceptor(OAuth2Authenticator(client, store: FileTokenStore(file)))
/// let manager = NetworkManager(interceptors: [RetryPolicy(), login])
/// ```
///
/// - However many requests meet a refused or an expired credential, it is refreshed once; the others wait and are sent
///   with the new one. A request that was sent with an older credential than the one there is now is sent again without a
///   refresh.
/// - A refresh that fails fails every request that waits for it, each with the same error: the code of the transport's
///   failure, or `NetworkError.Code.cannotAuthenticate`. The next request tries anew.
/// - A request is sent again once. A 401 after that is the result, and so is one to a body that cannot be sent again: the
///   next request refreshes then.
/// - A refresh runs in a task of its own, to its end, also when all who wait were cancelled: it may have used up the
///   credential before. It has ``refreshTimeout`` at most.
/// - Where nobody has signed in, a request fails, unless its `RequestOptions.authentication` is `AuthenticationChoice.optional`: then
///   it is sent without a credential.
/// - A request that has an `Authorization` of its own, or `RequestOptions.authentication` set to
///   `AuthenticationChoice.none`, passes as it is.
/// - Each `RequestOptions.partition` has a credential of its own.
public final class AuthenticationInterceptor<A: Authenticator>: Interceptor, RequestAdapter {
    typealias Held = HeldCredential<A.Credential>
    typealias Space = CredentialSpace<A.Credential>

    struct State {
        var spaces: [String?: Space] = [:]
        var generation = 0
    }

    /// What knows the credentials.
    public let authenticator: A
    /// How long before its end a credential is refreshed. Default 30 seconds.
    public let leeway: Duration
    /// How long a refresh may take; more is `NetworkError.Code.timedOut` for those who wait. Default a minute.
    public let refreshTimeout: Duration
    /// How often a credential may be refreshed. Beyond it a 401 is the result, and a request with an expired credential
    /// fails with `NetworkError.Code.cannotAuthenticate`.
    public let refreshLimit: RefreshLimit
    let origins: CredentialOrigins
    let now: @Sendable () -> Date
    let clock: any Clock<Duration>
    let state = Protected(State())
    let saving = SerialTasks()

    /// Makes an interceptor.
    ///
    /// - Parameters:
    ///   - authenticator: What knows the credentials. One that holds this interceptor's router refers to it weakly.
    ///   - leeway: How long before its end a credential is refreshed.
    ///   - refreshTimeout: How long a refresh may take.
    ///   - refreshLimit: How often there may be one.
    ///   - origins: Where credentials may be sent.
    ///   - clock: What the timeout is measured by.
    ///   - now: The date, for the ends of credentials.
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

    /// Sends the request with the credential, and once more with a new one when that is refused.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        guard takes(request) else { return try await next(request) }
        var request = request
        request.noteSignIn()
        let failures = space(of: request).failures
        guard let held = try await credential(for: request) else { return try await next(request) }
        let response = try await next(applying(held, to: request))
        // Behind a redirect to another origin the credential was not sent: its refusal says nothing about it.
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
            // The server has ended the sign-in: the request does without one, if it can.
            guard goesWithoutCredential(request, after: error) else { throw error }
            return try await next(request)
        }
        guard let renewed else { return response }
        return try await next(applying(renewed, to: request))
    }

    /// Adds the credential that is held. It is neither loaded nor refreshed.
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

    /// Whether it is time to refresh it.
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
    /// Without credentials.
    public var description: String { "AuthenticationInterceptor<\(A.self)>" }
    /// Shows the redacted line only, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
