import Foundation

/// Another protocol that takes over the connection of an exchange after a 101 ([RFC 9110
/// §7.8](https://www.rfc-editor.org/rfc/rfc9110#section-7.8)). The response's ``NetworkResponse/bytes`` are then the
/// bytes that the server sends in that protocol.
package struct ConnectionUpgrade: Sendable {
    /// Returns the header fields of one exchange, to add to its request.
    package let headers: @Sendable (NetworkRequest) -> HTTPHeaders
    /// Returns the bytes to send. They must wait for the 101.
    package let outgoing: @Sendable () -> HTTPBodyStream
    /// Confirms that the bytes taken from ``outgoing`` are sent. Returns their sender, which the session resumes. A session
    /// that asks for the next ones need not call it, unless the reader may get the end of the connection before.
    package let confirm: @Sendable () -> CheckedContinuation<Void, any Error>?
    /// Receives the connection after a 101. Sessions that only use `outgoing` do not call it.
    package let connected: @Sendable (any UpgradedConnection) -> Void
    /// Opens the connection over a ``FoundationSession``, which carries messages instead of bytes. Only the head of its
    /// response is used.
    package let openByURLSession: URLSessionOpening

    package typealias URLSessionOpening =
        @Sendable (NetworkRequest, FoundationSession) async throws -> NetworkResponse

    package init(
        headers: @escaping @Sendable (NetworkRequest) -> HTTPHeaders,
        outgoing: @escaping @Sendable () -> HTTPBodyStream,
        confirm: @escaping @Sendable () -> CheckedContinuation<Void, any Error>? = { nil },
        connected: @escaping @Sendable (any UpgradedConnection) -> Void,
        byURLSession openByURLSession: @escaping URLSessionOpening
    ) {
        self.headers = headers
        self.outgoing = outgoing
        self.confirm = confirm
        self.connected = connected
        self.openByURLSession = openByURLSession
    }
}

extension RequestOptions {
    /// The protocol to switch to. A session that does not support it throws ``NetworkError/Code/unsupported``. Default
    /// nil.
    package var upgrade: ConnectionUpgrade? {
        get { self[UpgradeOption.self] }
        set { self[UpgradeOption.self] = newValue }
    }
}

private enum UpgradeOption: RequestOption { static let defaultValue: ConnectionUpgrade? = nil }

/// A connection that another protocol has taken over.
package protocol UpgradedConnection: Sendable {
    /// Tries to send bytes on the caller's thread. Returns false and sends nothing when the bytes must go through
    /// ``ConnectionUpgrade/outgoing``.
    func trySend(_ bytes: UnsafeRawBufferPointer) -> Bool
    /// Sets a closure that receives bytes on any thread, one call at a time, while a reader of the response's bytes
    /// waits. It returns nil when it consumed all bytes, or else the number that it consumed. The reader then gets the
    /// rest, which may be empty. It must return quickly.
    func setReceiver(_ receiver: @escaping @Sendable (UnsafeRawBufferPointer) -> Int?)
}
