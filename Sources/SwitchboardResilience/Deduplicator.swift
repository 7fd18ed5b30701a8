import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardText

/// Sends equal concurrent requests once. Ten views that load the same user cause one request.
///
/// ```swift
/// let manager = NetworkManager(interceptors: [login, Deduplicator()])
/// ```
///
/// GET and HEAD requests are equal when their URL, options and header fields, including credentials and `Range`, are
/// the same. Downloads into a file and streamed responses are never shared. `RequestOptions.deduplication` replaces the
/// rule by an id, or turns it off for a request. Options of a type that is not `Hashable` are not compared, so list the
/// deduplicator after interceptors that turn options into header fields, such as credentials. `==` and `hash(into:)` of
/// an option must not use the deduplicator. List it before limiters and a ``CircuitBreaker``: otherwise each caller takes
/// a slot and a token, and a shared failure counts once for each. List it before a ``HedgingPolicy`` too, whose second
/// request would otherwise wait for the first.
///
/// Each caller receives the response with its own request. A canceled caller leaves, and the others continue to wait.
/// When the last one leaves, the shared request is canceled. A reset waits until the shared requests have ended. A
/// shared request has the timeouts of the first caller, but each caller keeps its separate `Timeouts.total`. Only the
/// first caller's history contains the exchange.
public final class Deduplicator: Interceptor {
    /// The rule by which a deduplicator treats requests as equal.
    public struct Rule: Sendable {
        enum Kind: Sendable {
            case automatic, never
            case id(String)
        }

        let kind: Kind

        /// GET and HEAD requests are equal when their URL, header fields and options are the same.
        public static let automatic = Rule(kind: .automatic)
        /// The request is never shared.
        public static let never = Rule(kind: .never)

        /// Returns a rule by which requests are equal when they have this id, byte by byte, the same credentials in header
        /// fields, URL, query and options, and the same partition and environment. Methods, URLs and bodies may differ: the
        /// first request is sent.
        public static func id(_ id: String) -> Rule { Rule(kind: .id(id)) }
    }

    private let ignored: Set<String>
    private let operations = SharedOperations<DeduplicationKey, NetworkResponse, SharedContext>()

    /// Creates a deduplicator.
    ///
    /// - Parameter fields: Names of header fields, in any case, that may differ between equal requests. By default the
    ///   fields that trace requests.
    public init(
        ignoring fields: Set<String> = ["X-Request-ID", "X-Correlation-ID", "traceparent", "tracestate"]
    ) {
        ignored = Set(fields.map { $0.lowercased() })
    }

    /// The number of shared requests in flight.
    public var inFlight: Int { operations.count }

    /// Sends the request, or waits for the response to an equal one in flight.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        guard let key = DeduplicationKey(request, ignoring: ignored) else { return try await next(request) }
        let own = SharedContext(of: request)
        var joined: SharedContext?
        do {
            let response = try await operations.value(for: key, context: own) { context in
                joined = context
                context.join(request)
                request.report(.cache("shared with \(context.leader)"))
            } _: { context in
                try await next(context.sharing(request))
            }
            // A later interceptor created the response.
            guard let sent = response.request else { return response }
            var adapted = response.adapted(to: request)
            if sent.id != request.id {
                adapted.request?.report(.shared, "shared response", with: adapted)
                adapted.request?.cacheRecord = sent.cacheRecord
                if response.cacheAge == nil { request.call?.recordShared(response.statusCode) }
            }
            return adapted
        } catch let error as NetworkError {
            throw error.adapted(to: request, withoutAttempts: joined?.earlierAttempts ?? 0)
        } catch {
            if let call = joined?.call { request.call?.recordThrower(of: error, from: call) }
            throw error
        }
    }
}

extension Deduplicator: Resettable {
    /// Waits until the shared requests have ended, which the reset has canceled with their callers.
    public func reset() async { await operations.cancelAll() }
}

extension NetworkResponse {
    /// Returns the response for the caller of an equal request.
    fileprivate func adapted(to request: NetworkRequest) -> NetworkResponse {
        var response = self
        response.isShared = isShared || self.request?.id != request.id
        response.request = self.request.map(request.sent(like:)) ?? request
        return response
    }
}

extension NetworkError {
    /// Returns the error for the caller of an equal request, without the attempts that the first caller made before.
    fileprivate func adapted(to request: NetworkRequest, withoutAttempts earlier: Int) -> NetworkError {
        guard let other = self.request else { return self }
        var error = self
        error.attempts = max(1, attempts - earlier)
        let own = request.sent(like: other)
        error.request = own
        error.endPointName = own.endPointName
        return error
    }
}

extension NetworkRequest {
    /// Returns this request as it was sent. The request of the first caller gets its total timeout back. Another
    /// request gets the URL and the cross-origin hops of the shared one, and becomes a GET if that one was sent as a
    /// GET.
    fileprivate func sent(like other: NetworkRequest) -> NetworkRequest {
        guard other.id == id else {
            var sent = withURLAndHops(of: other)
            // A redirect to another origin has removed them.
            if other.crossOriginHops.count > crossOriginHops.count {
                for field in headers where !other.headers.contains(field.name) { sent.headers.remove(field.name) }
            }
            if isMadeGET(in: other) {
                (sent.method, sent.body) = (.get, other.body)
                for field in headers where field.isDroppedForGET { sent.headers.remove(field.name) }
            }
            return sent
        }
        var sent = other
        (sent.timeouts.total, sent.sharedTimeLeft) = (timeouts.total, nil)
        return sent
    }
}

struct DeduplicationKey: Hashable {
    private struct Field: Hashable {
        let name: String
        let value: ExactText

        init(name: String, value: String) {
            self.name = name
            self.value = ExactText(value)
        }
    }

    private let name: ExactText
    private let fields: [Field]
    /// Redirected and direct requests do not share responses.
    private let crossOriginHops: CrossOriginHops
    private let options: [ObjectIdentifier: AnyHashable]
    /// Later interceptors and the app's closures may read it.
    private let environment = NetworkEnvironment.current
    /// A request of a refresh must not wait for a request that waits for the refresh.
    private let isOfRefresh = EnclosingOperations.obtainCredential

    /// Creates the key of a request. Nil for a request that is never shared.
    init?(_ request: NetworkRequest, ignoring ignored: Set<String>) {
        var options = request.options
        guard !options.streamsResponse else { return nil }
        crossOriginHops = request.crossOriginHops
        let fields = request.headers.map { Field(name: $0.name.lowercased(), value: $0.value) }
        switch options.deduplication.kind {
        case .never: return nil
        case .id(let id):
            name = ExactText("id \(id)")
            // The user's identity: all credentials, in header fields, query and URL.
            let secrets = request.redaction(extending: .standard)
            let items = FormBody.decode(request.query ?? "").filter { secrets.isSecret(parameter: $0.name) }
            let owner = [Field(name: "user", value: request.url?.withoutUserInfo.authorization ?? "")]
            let partition = options.partition.map { [Field(name: "partition", value: $0)] } ?? []
            self.fields =
                fields.filter { secrets.isSecret(header: $0.name) }
                + items.map { Field(name: "?" + $0.name, value: $0.value ?? "") } + owner + partition
            // A later interceptor may sign in by these options.
            var user = RequestOptions()
            (user.credentials, user.authentication) = (options.credentials, options.authentication)
            self.options = user.comparable
        case .automatic:
            // A later interceptor may add any host.
            guard request.method == .get || request.method == .head, request.body.isEmpty,
                request.urlText?.hasOrigin == true, let url = request.url
            else { return nil }
            name = ExactText("\(request.method) \(url.absoluteString)")
            // Fields of the same name keep their order.
            self.fields = fields.filter { !ignored.contains($0.name) }.enumerated()
                .sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }.map(\.element)
            // Each caller has a separate total timeout. An option that is set to its default equals one that is not
            // set.
            options.timeouts.total = nil
            options.limits = options.limits
            self.options = options.comparable
        }
    }
}

// The values of options are Sendable, but AnyHashable does not declare it.
extension DeduplicationKey: @unchecked Sendable {}

extension RequestOptions {
    /// The rule by which a ``Deduplicator`` treats other requests as equal to this one. Default
    /// ``Deduplicator/Rule/automatic``.
    public var deduplication: Deduplicator.Rule {
        get { self[DeduplicationOption.self] }
        set { self[DeduplicationOption.self] = newValue }
    }
}

private enum DeduplicationOption: RequestOption { static let defaultValue = Deduplicator.Rule.automatic }

/// The first caller of a shared request, and the time that remains for retries: the longest of all callers. A caller's
/// total timeout ends only the wait of that caller.
private final class SharedContext: Sendable {
    let leader: NetworkRequest.ID
    let call: Call?
    /// The number of attempts of the call before this one.
    let earlierAttempts: Int
    private let remaining: Protected<[RetryPolicy.TimeLeft]>

    init(of request: NetworkRequest) {
        leader = request.id
        call = request.call
        earlierAttempts = (request.call?.totalAttempts ?? 1) - 1
        remaining = Protected([request.timeLeft ?? { .century }])
    }

    func join(_ request: NetworkRequest) {
        remaining.withLock { $0.append(request.timeLeft ?? { .century }) }
    }

    /// Returns the request with the shared time in place of its total timeout.
    func sharing(_ request: NetworkRequest) -> NetworkRequest {
        var request = request
        request.timeouts.total = nil
        request.sharedTimeLeft = { [remaining] in remaining.value.map { $0() }.max() ?? .century }
        return request
    }
}
