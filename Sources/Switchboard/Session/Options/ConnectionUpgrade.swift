import Foundation

/// Another protocol that takes over the connection of an exchange after a 101 ([RFC 9110
/// §7.8](https://www.rfc-editor.org/rfc/rfc9110#section-7.8)). The response's ``NetworkResponse/bytes`` are then the
/// bytes that the server sends in that protocol.
package struct ConnectionUpgrade: Sendable {
    /// Returns the header fields of one exchange.
    package let headers: @Sendable () -> HTTPHeaders
    /// Returns the bytes to send. They must wait for the 101.
    package let outgoing: @Sendable () -> HTTPBodyStream

    /// Creates an upgrade.
    package init(
        headers: @escaping @Sendable () -> HTTPHeaders, outgoing: @escaping @Sendable () -> HTTPBodyStream
    ) {
        self.headers = headers
        self.outgoing = outgoing
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
