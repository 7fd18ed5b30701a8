import Foundation

/// Another protocol that takes over the connection of an exchange after a 101 ([RFC 9110
/// §7.8](https://www.rfc-editor.org/rfc/rfc9110#section-7.8)). The response's ``NetworkResponse/bytes`` are then the
/// bytes that the server sends in that protocol.
package struct ConnectionUpgrade: Sendable {
    /// Returns the header fields of one exchange.
    package let headers: @Sendable () -> HTTPHeaders
    /// Returns the bytes to send. They must wait for the 101.
    package let outgoing: @Sendable () -> HTTPBodyStream
    /// Receives the connection after a 101. Sessions that only use `outgoing` do not call it.
    package let connected: @Sendable (any UpgradedConnection) -> Void
    /// Converts between these bytes and messages, for a session whose platform has no bytes of a WebSocket. Nil for a
    /// protocol other than WebSocket.
    package let relay: MessageRelay?

    /// Creates an upgrade.
    package init(
        relay: MessageRelay? = nil, headers: @escaping @Sendable () -> HTTPHeaders,
        outgoing: @escaping @Sendable () -> HTTPBodyStream,
        connected: @escaping @Sendable (any UpgradedConnection) -> Void = { _ in }
    ) {
        self.relay = relay
        self.headers = headers
        self.outgoing = outgoing
        self.connected = connected
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
