import Foundation
import Switchboard

/// Which requests a ``Deduplicator`` takes for equal.
public struct Deduplication: Sendable {
    enum Kind: Sendable {
        case automatic, never
        case id(String)
    }

    let kind: Kind

    /// GETs and HEADs with the same URL, header fields and options.
    public static let automatic = Deduplication(kind: .automatic)
    /// None: the request is sent by itself.
    public static let never = Deduplication(kind: .never)

    /// Those with the same id, the same credentials in header fields and query, and the same partition, whatever their
    /// methods, URLs and bodies: the first one is sent.
    public static func id(_ id: String) -> Deduplication { Deduplication(kind: .id(id)) }
}
