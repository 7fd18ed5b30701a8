import Foundation

/// An address of IPv4 or IPv6, as bytes in the order of the network.
struct IPAddress: Hashable, Sendable {
    /// Four or sixteen.
    let bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The address that a URL's host is, IPv6 with or without brackets and zone; nil for a name. What resolvers take for an
    /// IPv4 address is one: `127.1` and `0x7F000001` too.
    init?(host: String) {
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

    /// Whether it is this machine itself: 127.0.0.0/8 or ::1, also as IPv4 within IPv6.
    var isLoopback: Bool {
        guard bytes.count == 16 else { return bytes.first == 127 }
        if isMapped { return bytes[12] == 127 }
        return bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }

    /// The IPv4 address within `::ffff:0:0/96`; otherwise the address itself.
    var unmapped: IPAddress {
        isMapped ? IPAddress(bytes: Array(bytes[12...])) : self
    }

    private var isMapped: Bool {
        bytes.count == 16 && bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
    }

    /// Whether the first bits are those of a network.
    func isWithin(_ network: IPAddress, prefix: Int) -> Bool {
        guard bytes.count == network.bytes.count, prefix <= bytes.count * 8 else { return false }
        let whole = prefix / 8
        guard bytes[..<whole] == network.bytes[..<whole] else { return false }
        guard prefix % 8 != 0 else { return true }
        let mask = UInt8.max << UInt8(8 - prefix % 8)
        return bytes[whole] & mask == network.bytes[whole] & mask
    }
}
