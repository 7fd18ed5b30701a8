import Foundation
import Switchboard
import SwitchboardPlatform

/// Adds a credential to each request, and refreshes it once for all requests that need a new one.
///
/// ```swift
/// let login = AuthenticationInterceptor(
///     client, store: FileTokenStore(file))
/// let manager = NetworkManager(interceptors: [RetryPolicy(), login])
/// ```
///
/// - A rejected or expired credential is refreshed once for all requests. They wait and are sent with the new one. A
///   request that was sent with an older credential is sent again without a refresh.
/// - A failed refresh fails the requests that wait for it, with the same error: the code of the transport's failure, or
///   `NetworkError.Code.cannotAuthenticate`. A request whose credential is still valid is sent instead. The next
///   request tries again.
/// - A request is sent again once. A 401 after that is the result. A 401 for a body that cannot be sent again is the
///   result too, and the next request refreshes the credential. If a redirect turned a POST into a GET that gets a 401,
///   only the GET is sent again.
/// - If a sign-out and a new sign-in follow a request, its 401 is the result: the new user may be another one.
/// - A refresh runs in a separate task and finishes even if all waiting requests were canceled, because it may already
///   have used up the old credential. ``refreshTimeout`` limits its time.
/// - Without a sign-in a request fails, unless its `RequestOptions.authentication` is
///   `RequestOptions.Authentication.optional`. Then it is sent without a credential. It also waits for a refresh in
///   flight.
/// - A request with an `Authorization` field or a user in its URL passes unchanged, and so does one whose
///   `RequestOptions.authentication` is `RequestOptions.Authentication.none` or
///   `RequestOptions.Authentication.anonymous`.
/// - Each `RequestOptions.partition` has a separate credential.
public final class AuthenticationInterceptor<A: Authenticator>: Interceptor, RequestAdapter {
    typealias Stored = StoredCredential<A.Credential>
    typealias Partition = PartitionState<A.Credential>

    struct State {
        var partitions: [String?: Partition] = [:]
        var generation = 0
        /// The number of resets that are removing saved credentials.
        var resets = 0
        /// The removal of saved credentials by the last reset.
        var removal: Task<Void, any Error>?
    }

    /// The authenticator that applies and refreshes credentials.
    public let authenticator: A
    /// The time before its expiry at which a credential is refreshed. Default 30 seconds. A credential that arrives
    /// with less time left is used until it expires.
    public let leeway: Duration
    /// The longest time for a refresh. After it, waiting requests fail with `NetworkError.Code.timedOut`. Loading the saved
    /// credential before and saving the new one may each take as long again. After a slow save, requests are sent with
    /// the new credential. The wait for another process does not count. Default 60 seconds.
    public let refreshTimeout: Duration
    let refreshLimit: RefreshLimit
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
    ///   - refreshes: The largest number of refreshes within `window`, at least 1. Beyond it a 401 is the result, and a
    ///     request with an expired credential fails with `NetworkError.Code.cannotAuthenticate`.
    ///   - window: The period in which refreshes are counted. Zero or less sets no limit.
    ///   - origins: The origins that credentials may be sent to.
    ///   - clock: The clock that measures the timeout of a refresh. The default one stops while the device sleeps, so
    ///     that the answer to a refresh is not dropped afterward. For the same reason, a timeout that passed while the
    ///     process was suspended ends up to 10 seconds later. A `TestClock` that advances by more than a second beyond
    ///     the timeout counts as suspended: advance it by the timeout.
    ///   - now: Returns the date that expiry dates are compared with.
    public init(
        _ authenticator: A, leeway: Duration = .seconds(30), refreshTimeout: Duration = .seconds(60),
        refreshes: Int = 5, within window: Duration = .seconds(30), origins: CredentialOrigins = .endPoints,
        clock: any Clock<Duration> = SuspendingClock(), now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.authenticator = authenticator
        self.leeway = leeway.clamped
        self.refreshTimeout = refreshTimeout.clamped
        self.refreshLimit = RefreshLimit(count: max(1, refreshes), window: window)
        self.origins = origins
        self.clock = clock
        self.now = now
    }

    /// Sends the request with the credential, and once more with a new one if the server rejects it. Without a
    /// credential, `RequestOptions.authentication` decides whether the request is sent or fails with
    /// `NetworkError.Code.cannotAuthenticate`.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        guard addsCredential(to: request) else { return try await next(request) }
        var request = request
        request.recordSignIn()
        let initial = partitionState(of: request)
        var failures = initial.failures
        guard let stored = try await credential(for: request, &failures) else { return try await next(request) }
        var response = try await next(applying(stored, to: request))
        // A redirect to another origin does not carry the credential, so a rejection there is not about it.
        guard authenticator.isAuthenticationFailure(response), response.isFromOrigin(of: request) else {
            return response
        }
        // The server has processed a POST that a redirect turned into a GET. It rejected only the GET.
        if let sent = response.request, sent.id == request.id, request.isMadeGET(in: sent) {
            request = request.redirected(sentAs: sent)
        }
        guard request.body.isReplayable else {
            request.report(.authentication("rejected; the body cannot be sent again"))
            recordRejection(of: stored, in: request.options.partition)
            return response
        }
        let replacement: Stored?
        do {
            replacement = try await credentialAfterRejection(of: stored, failures, for: request)
        } catch {
            // The server has ended the sign-in. The request is sent without a credential if it requires none.
            guard proceedsWithoutCredential(request, after: error) else { throw error }
            response.stream = nil
            return try await next(request)
        }
        guard let replacement else { return response }
        guard partitionState(of: request).removals == initial.removals else {
            request.report(.authentication("rejected; not sent again after a sign-out"))
            return response
        }
        // The body of the rejection may occupy the slot of a limiter.
        response.stream = nil
        return try await next(applying(replacement, to: request))
    }

    /// Adds the current credential. Does not load or refresh it.
    public func adapt(_ request: inout NetworkRequest) async throws {
        guard addsCredential(to: request) else { return }
        request.recordSignIn()
        guard let stored = partitionState(of: request).stored else { return }
        request = try applying(stored, to: request)
    }

    private func addsCredential(to request: NetworkRequest) -> Bool {
        request.acceptsSignIn(for: origins) && !request.hasAuthorization && !EnclosingOperations.contain(self)
    }

    private func applying(_ stored: Stored, to request: NetworkRequest) throws -> NetworkRequest {
        var applied = request
        try authenticator.apply(stored.credential, to: &applied)
        applied.recordCredentials(addedTo: request)
        return applied
    }

    func partitionState(of request: NetworkRequest) -> Partition {
        state.withLock { $0.partitions[request.options.partition] ?? Partition() }
    }

    /// Returns whether the credential must be refreshed now.
    func isDue(_ stored: Stored) -> Bool {
        guard let leeway = stored.leeway else { return false }
        return authenticator.needsRefresh(stored.credential, at: now().addingTimeInterval(leeway.seconds))
    }

    private func recordRejection(of stored: Stored, in partition: String?) {
        state.withLock { state in
            guard state.partitions[partition]?.stored?.generation == stored.generation else { return }
            state.partitions[partition]?.isRejected = true
        }
    }
}

extension AuthenticationInterceptor: DumpedAsDescription {
    /// The name of the type, without credentials.
    public var description: String { "AuthenticationInterceptor<\(A.self)>" }
}

/// The state of the credential of one partition.
struct PartitionState<Credential: Sendable>: Sendable {
    var stored: StoredCredential<Credential>?
    var isLoaded = false
    /// Whether a server rejected the credential of a request that could not be sent again.
    var isRejected = false
    var pendingRefresh: SharedOperation<StoredCredential<Credential>>?
    var refreshes: [Date] = []
    /// The number of failed refreshes. `failure` is the error of the last one.
    var failures = 0
    var failure: NetworkError?
    /// The number of sign-outs and resets. A later sign-in may be that of another user.
    var removals = 0
    /// The removal of the saved credential by the sign-out. Nil after a later sign-in.
    var removal: Task<Void, any Error>?

    /// Whether no user is signed in, and no credential was saved.
    var isSignedOut: Bool { isLoaded && stored == nil }

    func isLimitReached(at date: Date, _ limit: RefreshLimit) -> Bool {
        recent(date, limit).count >= limit.count
    }

    mutating func recordRefresh(at date: Date, _ limit: RefreshLimit) {
        refreshes = recent(date, limit).suffix(max(0, limit.count)) + [date]
    }

    private func recent(_ date: Date, _ limit: RefreshLimit) -> [Date] {
        let window = limit.window.seconds
        return refreshes.filter { (0..<window).contains(date.timeIntervalSince($0)) }
    }
}

/// The credential of a partition.
struct StoredCredential<Credential: Sendable>: Sendable {
    let credential: Credential
    /// A number that increases with each credential of an interceptor, from 1.
    let generation: Int
    /// The time before its expiry at which it is refreshed. Nil for a credential that was already expired when it was
    /// stored. It is refreshed only after a server rejects it.
    let leeway: Duration?
    /// Whether it comes from a refresh, instead of a store or a sign-in.
    var isRefreshed = false
}

/// The largest number of refreshes in a period. It protects a server that rejects every new credential.
struct RefreshLimit: Sendable {
    let count: Int
    let window: Duration
}

/// Runs operations one after the other, in the order of the calls. A cancellation of the caller or its call does not
/// cancel its operation.
final class SerialTasks: Sendable {
    private let last = Protected<Task<Void, any Error>?>(nil)

    func run(_ operation: @escaping @Sendable () async throws -> Void) async throws {
        try await wait(for: start(operation))
    }

    /// Waits until an operation has ended. An operation does not wait for a later one, which waits for it.
    func wait(for task: Task<Void, any Error>) async throws {
        if !EnclosingOperations.contain(self) { try await task.value }
    }

    /// Starts an operation after the earlier ones.
    func start(_ operation: @escaping @Sendable () async throws -> Void) -> Task<Void, any Error> {
        last.withLock { last in
            let previous = last
            let task = Call.$current.withValue(nil) {
                Task {
                    _ = await previous?.result
                    try await EnclosingOperations.run(of: self, operation)
                }
            }
            last = task
            return task
        }
    }
}
