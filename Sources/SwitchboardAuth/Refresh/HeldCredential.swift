import Foundation
import Switchboard

/// A credential in use.
struct HeldCredential<Credential: Sendable>: Sendable {
    let credential: Credential
    /// Counts the credentials of an interceptor, from 1.
    let generation: Int
    /// How long before its end it is refreshed; nil for not before a server refuses it, because it came with its end
    /// in sight.
    let leeway: Duration?
    /// Whether it is new, and not one that was saved or given.
    var isRefreshed = false
}
