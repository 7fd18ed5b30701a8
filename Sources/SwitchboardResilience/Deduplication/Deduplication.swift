import Foundation
import Switchboard

/// The rule by which a ``Deduplicator`` treats requests as equal.
public struct Deduplication: Sendable {
    enum Kind: Sendable {
        case automatic, never
        case id(String)
    }

    let kind: Kind

    /// GET and HEAD requests are equal when their URL, header fields and options are the same.
    public static let automatic = Deduplication(kind: .automatic)
    /// The request is equal to no other and always sent.
    public static let never = Deduplication(kind: .never)

    /// Treats requests as equal when they have this id, the same credentials in header fields and query, and the same
    /// partition. Methods, URLs and bodies may differ: the first request is the one that is sent.
    public static func id(_ id: String) -> Deduplication { Deduplication(kind: .id(id)) }
}
