import Foundation

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
