import Foundation
import Switchboard

extension NetworkRequest {
    /// Host and port, as they tell servers apart: `api.example.com:443`.
    var authority: String {
        guard let url else { return "" }
        return "\(url.host?.lowercased() ?? ""):\(url.effectivePort)"
    }
}
