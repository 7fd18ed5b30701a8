import Foundation

extension RequestOptions {
    /// How the request is sent again, in place of what the ``RetryPolicy`` of its router says: `.never`, or a policy of
    /// its own. That one's clock, and its budget unless this has one, stay. Nil, the default, for the router's. Without
    /// a ``RetryPolicy`` there, it is for downloads, uploads in pieces, and streams that connect again.
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

private enum RetryOption: RequestOption { static let defaultValue: RetryPolicy? = nil }

private enum IdempotencyKeyOption: RequestOption { static let defaultValue: IdempotencyKey? = nil }

extension NetworkResponse {
    /// How often the call was sent until this response came, without getting on meanwhile. 1 when nothing was sent again.
    public var attempts: Int { request?.call?.attempts ?? 1 }
}
