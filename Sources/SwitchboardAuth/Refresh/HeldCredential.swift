import Foundation
import Switchboard

/// A credential in use.
struct HeldCredential<Credential: Sendable>: Sendable {
    let credential: Credential
    /// The number of the credential among those of an interceptor, from 1.
    let generation: Int
    /// The time before its expiry at which it is refreshed. Nil for a credential that came expired: it is refreshed
    /// only after a server refuses it.
    let leeway: Duration?
    /// Whether it comes from a refresh, and not from a store or a sign-in.
    var isRefreshed = false
}
