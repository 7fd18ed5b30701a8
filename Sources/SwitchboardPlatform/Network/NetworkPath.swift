import Foundation

#if canImport(Darwin) && !os(watchOS)
import Network
#endif

/// Detects whether this machine is on a network.
package enum NetworkPath {
    #if os(watchOS)
    /// True, because watchOS shows its networks only to apps that stream audio or take calls. For others, the path monitor
    /// reports that there is none
    /// ([TN3135](https://developer.apple.com/documentation/technotes/tn3135-low-level-networking-on-watchos)).
    package static var exists: Bool { true }
    #elseif canImport(Darwin)
    /// Retains the monitor, because a released monitor reports nothing.
    private final class PathMonitor: @unchecked Sendable {  // the monitor is not used after `init`
        let last = Protected(true)
        private let monitor = NWPathMonitor()

        init() {
            monitor.pathUpdateHandler = { [last] path in _ = last.swap(path.status != .unsatisfied) }
            monitor.start(queue: DispatchQueue(label: "Switchboard.NetworkPath"))
        }
    }

    private static let monitor = PathMonitor()

    /// Whether the system's path monitor last reported a network. True before its first report.
    package static var exists: Bool { monitor.last.value }
    #else
    /// Whether an interface other than loopback is up, has a carrier, and has an address that is not link-local. True
    /// when the system does not list its interfaces.
    package static var exists: Bool {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return true }
        defer { freeifaddrs(first) }
        var next = first
        while let entry = next?.pointee {
            // IFF_UP and IFF_RUNNING, and not IFF_LOOPBACK.
            if entry.ifa_flags & 0x49 == 0x41, let address = entry.ifa_addr,
                isRoutable(address, mask: entry.ifa_netmask)
            {
                return true
            }
            next = entry.ifa_next
        }
        return false
    }

    /// Returns false for link-local addresses, 169.254.0.0/16 and fe80::/10, and for addresses other than IPv4 and
    /// IPv6. A longer mask shows that an address is not one of
    /// [RFC 3927](https://www.rfc-editor.org/rfc/rfc3927): AWS Lambda routes those that it assigns.
    private static func isRoutable(_ address: UnsafePointer<sockaddr>, mask: UnsafePointer<sockaddr>?) -> Bool {
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            guard ipv4(address) >> 16 == 0xA9FE else { return true }
            return mask.map { ipv4($0) > 0xFFFF_0000 } ?? false
        case AF_INET6:
            let address = UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in6.self)
            return withUnsafeBytes(of: address.sin6_addr) { $0[0] != 0xFE || $0[1] & 0xC0 != 0x80 }
        default: return false
        }
    }

    private static func ipv4(_ address: UnsafePointer<sockaddr>) -> UInt32 {
        UInt32(bigEndian: UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr)
    }
    #endif
}
