import Foundation
import SwitchboardPlatform

extension NetworkError {
    /// Returns ``NetworkError/Code/noInternetConnection`` if the connection failed while this device has no network. A
    /// lost connection, a cut body and a timeout are only marked as offline. Returns any other error itself.
    func asOfflineError(to url: URL?, isOnline: @autoclosure () -> Bool = NetworkPath.exists) -> NetworkError {
        let isUnconnected = code == .cannotConnect || code == .cannotFindHost
        guard isUnconnected || [.connectionLost, .timedOut, .truncatedBody].contains(code),
            let url = url ?? self.url, !url.isLikelyLoopback, !isOnline()
        else { return self }
        var offline = self
        offline.isOffline = true
        guard isUnconnected else { return offline }
        offline.code = .noInternetConnection
        offline.reason = url.host.map { "no route to \($0)" } ?? reason
        return offline
    }
}
