import Foundation
import Switchboard

/// The key for a server's challenges: an origin within a partition.
struct OriginKey: Hashable, Sendable {
    private let partition: String?
    private let origin: String

    /// Creates the key, or nil for a request without a host.
    init?(_ request: NetworkRequest) {
        guard let url = request.url, let host = url.host else { return nil }
        partition = request.options.partition
        origin = "\(url.isHTTPS ? "https" : "http")://\(host.lowercased()):\(url.effectivePort)"
    }
}
