import Switchboard
import SwitchboardPlatform

#if canImport(Darwin)
import Darwin

private let streamSocket = SOCK_STREAM
private let sendFlags: Int32 = 0
private let hangUp: Int16 = 0
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
/// `POLLRDHUP`, which the C library's module does not export.
private let hangUp: Int16 = 0x2000
/// `accept4`, which the C library's module does not export. Nil in a static executable.
private let acceptAtomically = dlsym(nil, "accept4").map { unsafeBitCast($0, to: AcceptWithFlags.self) }
#endif

private typealias AcceptWithFlags =
    @convention(c) (
        Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?, Int32
    ) -> Int32

// The functions whose names are those of methods of a socket.
private func systemAccept(_ listener: Int32) -> Int32 { accept(listener, nil, nil) }
private func systemSend(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    send(descriptor, bytes.baseAddress, bytes.count, sendFlags)
}
private func systemClose(_ descriptor: Int32) { _ = close(descriptor) }

/// A TCP socket of 127.0.0.1: one end of a connection, or a listener. Its calls do not block. Only one thread uses and
/// closes it.
package final class Socket: Sendable {
    /// A failed call and its cause.
    package struct Failure: Error {
        let call: String
        var code = errno

        package var text: String { "\(call): \(String(cString: strerror(code)))" }
    }

    package enum Event {
        case readable, writable
        /// A connection that is broken or that the peer has ended. Darwin's `poll` reports neither without a request for
        /// bytes, so the wait lasts until its end there.
        case broken
    }

    package enum Wait {
        case ready, stopped, timedOut
    }

    /// The result of a call that receives or sends.
    package enum Transfer {
        /// The number of bytes. 0 after the last byte of the peer.
        case bytes(Int)
        case nothingYet, broken
    }

    let descriptor: Int32
    private let isClosed = Protected(false)

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
        // A test may start processes. A connection that a child inherited would stay open after it is closed here.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        #if canImport(Darwin)
        setOption(SOL_SOCKET, SO_NOSIGPIPE, Int32(1))
        #endif
    }

    deinit {
        close()
    }

    static func make() throws(Failure) -> Socket {
        let descriptor = socket(AF_INET, streamSocket, 0)
        guard descriptor >= 0 else { throw Failure(call: "socket") }
        return Socket(descriptor)
    }

    /// Creates a socket that listens on a free port.
    package static func listening() throws(Failure) -> (socket: Socket, port: Int) {
        let socket = try make()
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(socket.descriptor, address, length) == 0 && listen(socket.descriptor, SOMAXCONN) == 0
                    && getsockname(socket.descriptor, address, &length) == 0
            }
        }
        guard isListening else { throw Failure(call: "listen on 127.0.0.1") }
        return (socket, Int(UInt16(bigEndian: address.sin_port)))
    }

    /// Accepts the next connection, or returns nil when there is none or the system refuses it.
    private func accept() -> Socket? {
        let accepted = acceptAtomically?(descriptor, nil, nil, atomicFlags) ?? systemAccept(descriptor)
        guard accepted >= 0 else { return nil }
        let socket = Socket(accepted)
        // Small pieces are sent at once, so that a scripted chunk arrives as one.
        socket.setOption(Int32(IPPROTO_TCP), TCP_NODELAY, Int32(1))
        return socket
    }

    /// Accepts connections until the signal, and closes this listener.
    package func acceptAll(stop: StopSignal, _ start: (Socket) -> Void) {
        while wait(for: .readable, stop: stop) == .ready {
            if let socket = accept() {
                start(socket)
            } else {
                // No descriptor is left until a connection closes. Or iOS has reclaimed the socket of a suspended app, and
                // all its calls fail (https://developer.apple.com/library/archive/technotes/tn2277/_index.html).
                _ = wait(for: .broken, stop: stop, until: .now + .milliseconds(10))
            }
        }
        close()
    }

    package func setOption<Value>(_ level: Int32, _ name: Int32, _ value: Value) {
        withUnsafeBytes(of: value) { bytes in
            _ = setsockopt(descriptor, level, name, bytes.baseAddress, socklen_t(bytes.count))
        }
    }

    // MARK: Bytes

    /// Waits for an event, the signal or the deadline. Nil waits without limit.
    package func wait(for event: Event, stop: StopSignal, until deadline: ContinuousClock.Instant? = nil) -> Wait {
        let mask: Int16 =
            switch event {
            case .readable: Int16(POLLIN)
            case .writable: Int16(POLLOUT)
            case .broken: hangUp
            }
        while true {
            let rest = deadline.map { ContinuousClock.now.duration(to: $0) }
            if let rest, rest <= .zero { return .timedOut }
            var entries = [
                pollfd(fd: descriptor, events: mask, revents: 0),
                pollfd(fd: stop.readEnd, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&entries, 2, rest?.wholeMillisecondsRoundedUp ?? -1) > 0 else { continue }
            return entries[1].revents != 0 ? .stopped : .ready
        }
    }

    /// Reads the available bytes, at most as many as fit.
    package func receive(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        // The system may have given the number to another descriptor.
        guard !isClosed.value else { return .broken }
        return transfer { recv(descriptor, buffer.baseAddress, buffer.count, 0) }
    }

    /// Writes as many bytes as the system accepts now.
    package func send(_ bytes: UnsafeRawBufferPointer) -> Transfer {
        transfer { systemSend(descriptor, bytes) }
    }

    private func transfer(_ call: () -> Int) -> Transfer {
        while true {
            let count = call()
            if count >= 0 { return .bytes(count) }
            if errno != EINTR { return errno == EAGAIN || errno == EWOULDBLOCK ? .nothingYet : .broken }
        }
    }

    // MARK: Ending

    /// Ends this side of the connection. The peer's bytes still arrive.
    package func endSending() {
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    package func reset() {
        closeOnce { setOption(SOL_SOCKET, SO_LINGER, linger(l_onoff: 1, l_linger: 0)) }
    }

    /// Ends the connection or the listener, even if a child process inherited it.
    package func close() {
        closeOnce { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
    }

    private func closeOnce(_ prepare: () -> Void) {
        isClosed.withLock { isClosed in
            guard !isClosed else { return }
            prepare()
            systemClose(descriptor)
            isClosed = true
        }
    }
}

/// Wakes every thread that waits for a socket, once and permanently.
///
/// All threads poll a pipe; the byte written to it is never read.
package final class StopSignal: Sendable {
    fileprivate let readEnd: Int32
    private let writeEnd: Int32
    private let isFired = Protected(false)

    package init() throws(Socket.Failure) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Socket.Failure(call: "pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }

    package func fire() {
        isFired.withLock { isFired in
            if !isFired { _ = write(writeEnd, [1], 1) }
            isFired = true
        }
    }

    deinit {
        systemClose(readEnd)
        systemClose(writeEnd)
    }
}

extension Duration {
    fileprivate var wholeMillisecondsRoundedUp: Int32 {
        // The wait is at most an hour; the caller repeats it.
        guard self < .seconds(3_600) else { return 3_600_000 }
        let (seconds, attoseconds) = components
        return Int32(seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
