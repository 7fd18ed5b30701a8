import Foundation

extension RequestOptions {
    /// The retry policy for the request, in place of the ``RetryPolicy`` of its router. `.never` disables retries. The
    /// clock of the router's policy is kept, and so is its retry budget, unless this policy has one. Without a
    /// ``RetryPolicy`` in the chain, this policy runs before all interceptors. Nil, the default, for the router's policy.
    public var retry: RetryPolicy? {
        get { self[RetryOption.self] }
        set { self[RetryOption.self] = newValue }
    }

    /// The `Idempotency-Key` of the request, for servers that support the field. A ``RetryPolicy`` adds it, the same
    /// for all attempts, and then also retries methods that it would send only once, such as POST. An empty key fails
    /// with ``NetworkError/Code/invalidRequest``. Default nil.
    public var idempotencyKey: IdempotencyKey? {
        get { self[IdempotencyKeyOption.self] }
        set { self[IdempotencyKeyOption.self] = newValue }
    }
}

private enum RetryOption: RequestOption { static let defaultValue: RetryPolicy? = nil }

private enum IdempotencyKeyOption: RequestOption { static let defaultValue: IdempotencyKey? = nil }

extension NetworkResponse {
    /// The number of times the request was sent until this response arrived. 1 without a retry.
    public var attempts: Int { request?.call?.totalAttempts ?? 1 }
}
