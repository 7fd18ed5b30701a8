import Foundation

/// A connection that another protocol has taken over.
package protocol UpgradedConnection: Sendable {
    /// Sends bytes on the caller's thread. Returns false, and sends nothing, when they must go through
    /// ``ConnectionUpgrade/outgoing``.
    func sendAtOnce(_ bytes: UnsafeRawBufferPointer) -> Bool
    /// Sets a function that receives bytes on the session's thread, while a reader of the response's bytes waits. It
    /// returns nil when it took all of them, and otherwise the number that it took. The reader then gets the rest, which
    /// may be empty. It must be short.
    func setReceiver(_ receiver: @escaping @Sendable (UnsafeRawBufferPointer) -> Int?)
}
