/// Where this machine can send packets to, by its routes.
package struct RouteTable: Sendable, Equatable {
    struct Route: Sendable, Equatable {
        let network: IPAddress
        /// In bits.
        let prefix: Int
    }

    private var routes: [Route]

    /// Routes to any address, of both families.
    package static let everywhere = RouteTable(routes: [
        Route(network: IPAddress(bytes: Array(repeating: 0, count: 4)), prefix: 0),
        Route(network: IPAddress(bytes: Array(repeating: 0, count: 16)), prefix: 0),
    ])
    /// No route off this machine.
    package static let nowhere = RouteTable(routes: [])

    private init(routes: [Route]) {
        self.routes = routes
    }

    /// Reads Linux's `/proc/net/route` and `/proc/net/ipv6_route`. Lines that are none are skipped, and so are routes that
    /// are down, reject, lead to this machine, or lie on an interface that does not run.
    package init(ipv4: String, ipv6: String, isRunning: (String) -> Bool) {
        routes = []
        for line in ipv4.split(separator: "\n") {
            let fields = line.split(whereSeparator: \.isWhitespace)
            guard fields.count >= 8, let flags = UInt32(fields[3], radix: 16), Self.leadsAway(flags),
                let network = UInt32(fields[1], radix: 16), let mask = UInt32(fields[7], radix: 16),
                fields[0] != "lo", isRunning(String(fields[0]))
            else { continue }
            // The bytes as they lie in memory, written as a number of this machine.
            let bytes = withUnsafeBytes(of: network) { Array($0) }
            routes.append(Route(network: IPAddress(bytes: bytes), prefix: mask.nonzeroBitCount))
        }
        for line in ipv6.split(separator: "\n") {
            let fields = line.split(whereSeparator: \.isWhitespace)
            guard fields.count >= 10, let flags = UInt32(fields[8], radix: 16), Self.leadsAway(flags),
                let bytes = Self.bytes(fields[0]), bytes.first != 0xFF, let prefix = Int(fields[1], radix: 16),
                (0...128).contains(prefix), fields[9] != "lo", isRunning(String(fields[9]))
            else { continue }
            routes.append(Route(network: IPAddress(bytes: bytes), prefix: prefix))
        }
    }

    /// RTF_UP, and neither RTF_REJECT nor RTF_LOCAL nor RTF_ANYCAST.
    private static func leadsAway(_ flags: UInt32) -> Bool {
        flags & 0x1 != 0 && flags & 0x8010_0200 == 0
    }

    private static func bytes(_ text: Substring) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count == 32 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: 32, by: 2) {
            guard let byte = UInt8(String(decoding: digits[index...(index + 1)], as: UTF8.self), radix: 16) else {
                return nil
            }
            bytes.append(byte)
        }
        return bytes
    }

    /// Whether there is a route off this machine, to more than its own links.
    package var leadsAnywhere: Bool {
        routes.contains { !$0.isOfLink }
    }

    /// Whether packets to a URL's host have a way. This machine itself always has; a name has when there is a route at all,
    /// one of the link alone for a name under `.local`.
    package func reaches(host: String) -> Bool {
        guard let address = IPAddress(host: host)?.unmapped else {
            let name = host.lowercased()
            if name == "localhost" || name.hasSuffix(".localhost") { return true }
            return name.hasSuffix(".local") ? !routes.isEmpty : leadsAnywhere
        }
        if address.isLoopback || address.bytes.allSatisfy({ $0 == 0 }) { return true }
        return routes.contains { address.isWithin($0.network, prefix: $0.prefix) }
    }
}

extension RouteTable.Route {
    /// fe80::/10 and 169.254.0.0/16, which go no further than the next cable.
    fileprivate var isOfLink: Bool {
        if network.bytes.count == 4 { return prefix >= 16 && network.bytes[0] == 169 && network.bytes[1] == 254 }
        return prefix >= 10 && network.bytes[0] == 0xFE && network.bytes[1] & 0xC0 == 0x80
    }
}
