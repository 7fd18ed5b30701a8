import Foundation
import SwitchboardPlatform

extension NetworkError {
    /// Returns ``NetworkError/Code/noInternetConnection`` if the connection failed while this device has no network, or
    /// else the error itself.
    func asOfflineError(to url: URL?) -> NetworkError {
        guard code == .cannotConnect || code == .cannotFindHost, let url = url ?? self.url,
            !url.isLikelyLoopback, !NetworkPath.exists
        else { return self }
        var offline = self
        offline.code = .noInternetConnection
        offline.reason = url.host.map { "no route to \($0)" } ?? reason
        return offline
    }
}
