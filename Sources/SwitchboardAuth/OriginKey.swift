import Foundation
import Switchboard

/// An origin within a partition: what a server says is kept by it.
struct OriginKey: Hashable, Sendable {
    private let partition: String?
    private let origin: String

    /// Nil for a request that goes nowhere.
    init?(_ request: NetworkRequest) {
        guard let url = request.url, let host = url.host else { return nil }
        partition = request.options.partition
        origin = "\(url.isHTTPS ? "https" : "http")://\(host.lowercased()):\(url.effectivePort)"
    }
}
