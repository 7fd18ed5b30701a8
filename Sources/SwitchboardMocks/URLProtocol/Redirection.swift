import Foundation
import Switchboard

/// Who sends the request that a redirect leads to.
enum Redirection {
    case byStub(NetworkRequest)
    case bySystem
    /// Nobody: the redirect itself is the answer.
    case declined
}
