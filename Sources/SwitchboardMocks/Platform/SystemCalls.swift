import Switchboard
import SwitchboardPlatform

#if canImport(Darwin)
import Darwin

private let streamSocket = SOCK_STREAM
private let sendFlags: Int32 = 0
/// Nil, because Darwin's Process closes the descriptors that its child should not have. A descriptor need not be made
/// close-on-exec atomically.
private let acceptAtomically: AcceptWithFlags? = nil
private let atomicFlags: Int32 = 0
#else
#if canImport(Glibc)
import Glibc

private let atomicFlags = Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
private let streamSocket = Int32(SOCK_STREAM.rawValue) | atomicFlags
#else
#if canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

private let atomicFlags = SOCK_CLOEXEC | SOCK_NONBLOCK
private let streamSocket = SOCK_STREAM | atomicFlags
#endif
private let sendFlags = Int32(MSG_NOSIGNAL)
/// `accept4`, which the C library's module does not export. Nil in a static executable.
private let acceptAtomically = dlsym(nil, "accept4").map { unsafeBitCast($0, to: AcceptWithFlags.self) }
#endif

private typealias AcceptWithFlags =
    @convention(c) (
        Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?, Int32
    ) -> Int32

/// The system calls of the sockets. This file contains all their differences between the platforms.
enum SystemCalls {
    /// A failed call and its cause.
    struct Failure: Error {
        let call: String
        let code = errno

        var text: String { "\(call): \(String(cString: strerror(code)))" }
        /// Whether no descriptor or memory is left. The call may work a little later.
        var isExhaustion: Bool { code == EMFILE || code == ENFILE || code == ENOBUFS || code == ENOMEM }
        /// Whether the call would have had to wait, which is no error.
        var isWait: Bool { code == EAGAIN || code == EWOULDBLOCK }
        var isInterruption: Bool { code == EINTR }
    }

    /// An event to wait for.
    enum Event {
        case readable, writable
        /// A broken connection, and nothing else.
        case broken

        fileprivate var mask: Int16 {
            switch self {
            case .readable: Int16(POLLIN)
            case .writable: Int16(POLLOUT)
            case .broken: 0
            }
        }
    }
}

// MARK: - Descriptors

extension SystemCalls {
    /// Creates a TCP socket that neither blocks, nor survives in child processes, nor raises SIGPIPE.
    static func makeSocket() throws(Failure) -> Int32 {
        let descriptor = socket(AF_INET, streamSocket, 0)
        guard descriptor >= 0 else { throw Failure(call: "socket") }
        prepare(descriptor)
        return descriptor
    }

    /// Accepts a connection, with the properties of ``makeSocket()``.
    static func takeConnection(from listener: Int32) throws(Failure) -> Int32 {
        // A test may start processes. A connection that a child inherited would stay open after it is closed here.
        let descriptor = acceptAtomically?(listener, nil, nil, atomicFlags) ?? accept(listener, nil, nil)
        guard descriptor >= 0 else { throw Failure(call: "accept") }
        prepare(descriptor)
        // Small pieces are sent at once, so that a scripted chunk arrives as one.
        setOption(descriptor, level: Int32(IPPROTO_TCP), name: TCP_NODELAY, value: Int32(1))
        return descriptor
    }

    /// Creates a pipe, closed in child processes.
    static func makePipe() throws(Failure) -> (readEnd: Int32, writeEnd: Int32) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failure(call: "pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    private static func prepare(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        #if canImport(Darwin)
        setOption(descriptor, level: SOL_SOCKET, name: SO_NOSIGPIPE, value: Int32(1))
        #endif
    }

    /// Ends a connection or a listener, even if a child process inherited it.
    static func closeSocket(_ descriptor: Int32) {
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
        _ = close(descriptor)
    }

    /// Closes with a RST instead of a FIN.
    static func resetSocket(_ descriptor: Int32) {
        setOption(descriptor, level: SOL_SOCKET, name: SO_LINGER, value: linger(l_onoff: 1, l_linger: 0))
        _ = close(descriptor)
    }

    static func closeDescriptor(_ descriptor: Int32) {
        _ = close(descriptor)
    }
}

// MARK: - Sockets

extension SystemCalls {
    /// Binds to a free port of 127.0.0.1, listens there, and returns the port.
    static func listenOnLoopback(_ descriptor: Int32) throws(Failure) -> Int {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && listen(descriptor, SOMAXCONN) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        guard isListening else { throw Failure(call: "listen on 127.0.0.1") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Reads the available bytes, at most as many as fit. Returns 0 when the peer sends no more.
    static func receive(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(Failure) -> Int {
        let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
        guard count >= 0 else { throw Failure(call: "recv") }
        return count
    }

    /// Writes as many bytes as the system accepts now, and returns their number.
    static func transmit(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(Failure) -> Int {
        let count = send(descriptor, bytes.baseAddress, bytes.count, sendFlags)
        guard count >= 0 else { throw Failure(call: "send") }
        return count
    }

    /// Writes one byte to a pipe.
    static func signal(_ writeEnd: Int32) {
        _ = write(writeEnd, [1], 1)
    }

    /// Ends this side of the connection.
    static func endWriting(_ descriptor: Int32) {
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Waits for an event on one descriptor or for a byte in the pipe `stop`. Nil milliseconds wait without limit.
    ///
    /// Returns false twice when the time has passed, or when a signal interrupted the wait.
    static func wait(
        _ descriptor: Int32, for event: Event, stop: Int32, milliseconds: Int32?
    ) -> (isReady: Bool, isStopped: Bool) {
        var entries = [
            pollfd(fd: descriptor, events: event.mask, revents: 0), pollfd(fd: stop, events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&entries, 2, milliseconds ?? -1) > 0 else { return (false, false) }
        return (entries[0].revents != 0, entries[1].revents != 0)
    }

    private static func setOption<Value>(_ descriptor: Int32, level: Int32, name: Int32, value: Value) {
        withUnsafeBytes(of: value) { bytes in
            _ = setsockopt(descriptor, level, name, bytes.baseAddress, socklen_t(bytes.count))
        }
    }
}

// MARK: - OpenSSL

#if canImport(Darwin)
/// None: loading the system's libssl ends the process, and other processes of the user can write the folders of
/// Homebrew.
private let openSSLNames: [String] = []
#else
private let openSSLNames = ["libssl.so.3", "libssl.so.1.1"]
#endif

extension DynamicLibrary {
    /// The candidates for OpenSSL's libssl, best first. Loading it loads libcrypto too. Empty on Apple's
    /// systems.
    static var namesOfOpenSSL: [String] { openSSLNames }
}
