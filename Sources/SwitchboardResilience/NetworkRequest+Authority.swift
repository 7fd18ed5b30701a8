import Foundation
import Switchboard

extension NetworkRequest {
    /// The host and port that identify a server: `api.example.com:443`.
    var authority: String {
        guard let url else { return "" }
        return "\(url.host?.lowercased() ?? ""):\(url.effectivePort)"
    }
}
