import SwitchboardPlatform
import Foundation

/// A key by which a server recognizes the attempts of one request, set by ``RequestOptions/idempotencyKey``
/// ([draft-ietf-httpapi-idempotency-key-header](https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/)).
///
/// It is sent without the quotation marks of the draft, as most servers expect.
public struct IdempotencyKey: Sendable, Hashable, ExpressibleByStringLiteral {
    package static let field = "Idempotency-Key"

    private let key: String?

    /// A new UUID for each call, shared by the attempts of its ``RetryPolicy``. List the policy before interceptors
    /// that send a request again, such as a login: a later policy makes a new key for each of their requests.
    public static let unique = IdempotencyKey(key: nil)

    private init(key: String?) {
        self.key = key
    }

    /// Creates a custom key, such as the number of an order. Set it for one request, not for a router.
    public init(_ key: String) {
        self.key = key
    }

    /// Creates a custom key, like ``init(_:)``.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    var text: String { key ?? UUID.randomText() }
}
