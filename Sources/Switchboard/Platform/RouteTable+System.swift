#if os(Linux)
import Foundation

extension RouteTable {
    /// The routes as they are now. Everywhere, when the system does not tell.
    package static func current() -> RouteTable {
        guard let ipv4 = try? String(contentsOfFile: "/proc/net/route", encoding: .utf8) else { return .everywhere }
        let ipv6 = (try? String(contentsOfFile: "/proc/net/ipv6_route", encoding: .utf8)) ?? ""
        let running = runningInterfaces()
        return RouteTable(ipv4: ipv4, ipv6: ipv6) { running?.contains($0) ?? true }
    }

    /// The names of the interfaces that are up and have a link; nil when the system does not tell.
    private static func runningInterfaces() -> Set<String>? {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return nil }
        defer { freeifaddrs(first) }
        var names: Set<String> = []
        var next = first
        let upAndRunning: UInt32 = 0x1 | 0x40  // IFF_UP and IFF_RUNNING
        while let entry = next?.pointee {
            if UInt32(entry.ifa_flags) & upAndRunning == upAndRunning { names.insert(String(cString: entry.ifa_name)) }
            next = entry.ifa_next
        }
        return names
    }
}
#else
import Dispatch
import Network

extension RouteTable {
    /// What the system's path monitor said last; everywhere before it did.
    private static let last: Protected<RouteTable> = {
        let last = Protected(RouteTable.everywhere)
        let monitor = NWPathMonitor()
        monitor.pathUpdateHandler = { path in
            _ = last.exchange(path.status == .unsatisfied ? .nowhere : .everywhere)
        }
        monitor.start(queue: DispatchQueue(label: "Switchboard.RouteTable"))
        return last
    }()

    /// Everywhere or nowhere, as the system has it now.
    package static func current() -> RouteTable { last.value }
}
#endif
