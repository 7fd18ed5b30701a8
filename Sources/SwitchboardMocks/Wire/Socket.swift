import SwitchboardPlatform
import Switchboard

/// A descriptor of this end of a connection, or of the listener. Only one thread uses and closes it.
final class Socket: Sendable {
    enum Wait {
        case ready, stopped, timedOut
    }

    enum Received {
        case bytes(Int), nothingYet, end, broken
    }

    enum Sent {
        case bytes(Int), nothingYet, broken
    }

    private let descriptor: Int32
    private let isClosed = Protected(false)

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close()
    }

    /// Creates a socket that listens on a free port of 127.0.0.1.
    static func listening() throws(SystemCalls.Failure) -> (socket: Socket, port: Int) {
        let socket = Socket(try SystemCalls.makeSocket())
        return (socket, try SystemCalls.listenOnLoopback(socket.descriptor))
    }

    /// Accepts the next connection, or returns nil when it has already ended.
    ///
    /// - Throws: The failure when the process has no descriptor left.
    func accept() throws(SystemCalls.Failure) -> Socket? {
        do throws(SystemCalls.Failure) {
            return Socket(try SystemCalls.takeConnection(from: descriptor))
        } catch {
            guard !error.isExhaustion else { throw error }
            return nil
        }
    }

    /// Waits for an event, the signal or the deadline. Nil waits without limit.
    func wait(for event: SystemCalls.Event, stop: StopSignal, until deadline: ContinuousClock.Instant? = nil) -> Wait {
        while true {
            let rest = deadline.map { ContinuousClock.now.duration(to: $0) }
            if let rest, rest <= .zero { return .timedOut }
            let state = SystemCalls.wait(
                descriptor, for: event, stop: stop.descriptor, milliseconds: rest.map(\.wholeMillisecondsRoundedUp))
            if state.isStopped { return .stopped }
            if state.isReady { return .ready }
        }
    }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Received {
        while true {
            do throws(SystemCalls.Failure) {
                let count = try SystemCalls.receive(descriptor, into: buffer)
                return count == 0 ? .end : .bytes(count)
            } catch {
                if error.isInterruption { continue }
                return error.isWait ? .nothingYet : .broken
            }
        }
    }

    func send(_ bytes: UnsafeRawBufferPointer) -> Sent {
        while true {
            do throws(SystemCalls.Failure) {
                return .bytes(try SystemCalls.transmit(descriptor, bytes))
            } catch {
                if error.isInterruption { continue }
                return error.isWait ? .nothingYet : .broken
            }
        }
    }

    /// Ends this side of the connection. The peer's bytes still arrive.
    func endSending() {
        SystemCalls.endWriting(descriptor)
    }

    /// Closes with a RST instead of a FIN.
    func reset() {
        closeOnce(SystemCalls.resetSocket)
    }

    func close() {
        closeOnce(SystemCalls.closeSocket)
    }

    private func closeOnce(_ close: (Int32) -> Void) {
        isClosed.withLock { isClosed in
            if !isClosed { close(descriptor) }
            isClosed = true
        }
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
