import Glibc

/// Blocking sockets on loopback.
enum Socket {
    /// Opens a listening socket on a free port. Returns nil if that fails.
    static func listen(backlog: Int32) -> (descriptor: Int32, port: UInt16)? {
        let descriptor = make()
        guard descriptor >= 0 else { return nil }
        var address = loopback(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && Glibc.listen(descriptor, backlog) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        return isListening ? (descriptor, UInt16(bigEndian: address.sin_port)) : nil
    }

    /// Starts to connect without waiting.
    static func connect(port: UInt16) {
        let descriptor = make(flags: Int32(SOCK_NONBLOCK.rawValue))
        var address = loopback(port: port)
        _ = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// Sends all bytes. Returns false if the peer has closed the connection.
    static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = sendSome(descriptor, UnsafeRawBufferPointer(rebasing: rest))
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Sends some bytes, and waits until the socket accepts any.
    static func sendSome(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Waits. Returns true after the time has passed, or false if the peer closes the connection first.
    static func wait(_ descriptor: Int32, milliseconds: Int32) -> Bool {
        // 0x2000 is POLLRDHUP. Without POLLIN, bytes that arrive early stay for a later read.
        var event = pollfd(fd: descriptor, events: 0x2000, revents: 0)
        return poll(&event, 1, milliseconds) == 0
    }

    private static func make(flags: Int32 = 0) -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | flags, 0)
        var yes: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        return descriptor
    }

    private static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        return address
    }
}
