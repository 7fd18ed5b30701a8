import Foundation

/// An IPv4 or IPv6 address, as bytes in network order.
package struct IPAddress: Sendable {
    /// Four or sixteen bytes.
    private let bytes: [UInt8]

    /// Parses the host of a URL. Nil for a name. An IPv6 address may have brackets and a zone. An IPv4 address may have
    /// any form that resolvers accept, such as `127.1` and `0x7F000001`.
    package init?(host: String) {
        var v4 = in_addr()
        if inet_aton(host, &v4) != 0 {
            bytes = withUnsafeBytes(of: v4.s_addr) { Array($0) }
            return
        }
        guard host.utf8.contains(UInt8(ascii: ":")) else { return nil }
        var text = host.hasPrefix("[") && host.hasSuffix("]") ? host.dropFirst().dropLast() : Substring(host)
        if let percent = text.firstIndex(of: "%") { text = text[..<percent] }
        var v6 = in6_addr()
        guard inet_pton(AF_INET6, String(text), &v6) == 1 else { return nil }
        bytes = withUnsafeBytes(of: v6) { Array($0) }
    }

    /// Whether connections to the address reach this machine: 127.0.0.0/8, ::1, and the unspecified addresses 0.0.0.0
    /// and ::. An IPv4-mapped IPv6 address counts as its IPv4 address.
    package var reachesThisMachine: Bool {
        let isMapped = bytes.count == 16 && bytes[..<10].allSatisfy { $0 == 0 } && bytes[10...11] == [0xFF, 0xFF]
        let bytes = isMapped ? bytes[12...] : bytes[...]
        if bytes.count == 4, bytes.first == 127 { return true }
        let isLoopbackOrZero = bytes.last == 0 || bytes.count == 16 && bytes.last == 1
        return isLoopbackOrZero && bytes.dropLast().allSatisfy { $0 == 0 }
    }
}
