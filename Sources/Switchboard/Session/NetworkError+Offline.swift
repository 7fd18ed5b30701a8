import Foundation
import SwitchboardPlatform

extension NetworkError {
    /// Returns ``NetworkError/Code/noInternetConnection`` if the connection failed while this device has no network, or
    /// else the error itself.
    func asOfflineError(to url: URL?) -> NetworkError {
        guard code == .cannotConnect || code == .cannotFindHost, let url = url ?? self.url,
            !url.isLikelyLoopback, !NetworkPath.exists
        else { return self }
        let reason = url.host.map { "no route to \($0)" } ?? reason
        var offline = NetworkError(.noInternetConnection, reason: reason, underlying: underlying)
        offline.url = self.url
        offline.method = method
        offline.endPoint = endPoint
        offline.attempts = attempts
        offline.request = request
        return offline
    }
}
