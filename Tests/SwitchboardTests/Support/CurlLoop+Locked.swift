#if os(Linux)
import Foundation
import SwitchboardCurlC

import SwitchboardTestSupport
@testable import SwitchboardCurl

extension CurlLoop {
    /// Runs a closure on a separate thread that holds the lock of the loop.
    func locked<Value: Sendable>(_ body: @escaping @Sendable (CurlLoop) -> Value) async throws -> Value {
        let result = await onThread {
            swcurl_poller_lock(self.poller)
            defer { swcurl_poller_unlock(self.poller) }
            return body(self)
        }
        return try result.get()
    }

    /// The time of the last activity before a timeout.
    static let longAgo: UInt64 = 1

    /// Ends exchanges by a timeout. The caller holds the lock.
    func timeOut(_ exchanges: [CurlExchange]) {
        for exchange in exchanges {
            exchange.deadlines = CurlDeadlines(exchange.request, start: Self.longAgo)
            updateDeadline(of: exchange)
        }
        sweep()
    }
}

/// Returns the port of one side of a connection, or 0 if the descriptor is no connection over IPv4. `read` is
/// `getsockname` or `getpeername`.
func port(
    of descriptor: Int32, _ read: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
) -> Int {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { read(descriptor, $0, &size) }
    }
    return result == 0 && Int32(address.sin_family) == AF_INET ? Int(UInt16(bigEndian: address.sin_port)) : 0
}
#endif
