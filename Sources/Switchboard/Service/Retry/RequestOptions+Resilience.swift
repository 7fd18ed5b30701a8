import Foundation

extension RequestOptions {
    /// How the request is sent again, in place of what the ``RetryPolicy`` of its router says: `.never`, or a policy of
    /// its own. That one's clock, and its budget unless this has one, stay. Nil, the default, for the router's; without
    /// a ``RetryPolicy`` there it does nothing.
    public var retry: RetryPolicy? {
        get { self[RetryOption.self] }
        set { self[RetryOption.self] = newValue }
    }

    /// What the `Idempotency-Key` of the request is: a ``RetryPolicy`` adds it, the same to all attempts, and then
    /// sends again what it would send only once otherwise, a POST for instance. For servers that know the field.
    /// An empty one is ``NetworkError/Code/invalidRequest``. Default nil.
    public var idempotencyKey: IdempotencyKey? {
        get { self[IdempotencyKeyOption.self] }
        set { self[IdempotencyKeyOption.self] = newValue }
    }
}

/// Tells a server which requests are the same one, sent again
/// ([draft-ietf-httpapi-idempotency-key-header](https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/)).
///
/// It is sent as it is, without the quotation marks of the draft, as the servers in use want it.
public struct IdempotencyKey: Sendable, Hashable, ExpressibleByStringLiteral {
    static let field = "Idempotency-Key"

    private let key: String?

    /// A new UUID for each call, the same for its attempts.
    public static let unique = IdempotencyKey(key: nil)

    private init(key: String?) {
        self.key = key
    }

    /// A key of your own: the number of an order for instance. Set it for one request, not for a router.
    public init(_ key: String) {
        self.key = key
    }

    /// A key of your own, like ``init(_:)``.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    var text: String { key ?? UUID().uuidString }
}

private enum RetryOption: RequestOption { static let defaultValue: RetryPolicy? = nil }
private enum IdempotencyKeyOption: RequestOption { static let defaultValue: IdempotencyKey? = nil }
private enum AttemptsOption: RequestOption { static let defaultValue = 1 }

extension NetworkResponse {
    /// How often a ``RetryPolicy`` sent the request until this response came. 1 without one.
    public var attempts: Int { request?[AttemptsOption.self] ?? 1 }

    mutating func noteAttempts(_ count: Int, for request: NetworkRequest) {
        guard count > 1, count > attempts else { return }
        if self.request == nil { self.request = request }
        self.request?[AttemptsOption.self] = count
    }
}
