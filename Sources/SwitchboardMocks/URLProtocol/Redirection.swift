import Foundation
import Switchboard

/// The sender of the request that follows a redirect.
enum Redirection {
    case byStub(NetworkRequest)
    case bySystem
    /// No request follows: the redirect itself is the answer.
    case declined
}
