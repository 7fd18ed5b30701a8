import Foundation
import Switchboard
import SwitchboardText

/// Reads and writes the bytes of one connection. Its waits end when the client leaves or the server stops.
package final class ByteChannel {
    /// The reason why the connection ends.
    package enum Interruption: Error {
        case clientLeft, serverStopped, timedOut
        /// The TLS handshake failed, or the client broke the protocol.
        case tlsFailed
    }

    private let socket: Socket
    private let stop: StopSignal
    /// The time at which reading and sending end. Nil, the default, for no limit.
    package var deadline: ContinuousClock.Instant?
    /// The TLS layer above the socket. Nil for plain bytes.
    private var tls: TLSConnection?
    private var buffer: [UInt8] = []
    private var position = 0
    private let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    /// The number of bytes that a client may send ahead while its answer is delayed.
    private let readAheadLimit = 1 << 20

    package init(socket: Socket, stop: StopSignal) {
        self.socket = socket
        self.stop = stop
    }

    deinit {
        piece.deallocate()
    }

    // MARK: TLS

    /// Performs the handshake, including the bytes that were peeked at. Afterwards all bytes pass through
    /// `connection`.
    ///
    /// - Throws: ``Interruption``. After ``Interruption/tlsFailed`` the channel is plain again, so that it can be
    ///   closed.
    func secure(with connection: TLSConnection) throws {
        let early = buffer[position...]
        (buffer, position) = ([], 0)
        tls = connection
        do {
            _ = try early.withUnsafeBytes { try decrypt($0, connection) }
            while !connection.isEstablished {
                guard try fill() || connection.isEstablished else { throw Interruption.clientLeft }
            }
        } catch Interruption.tlsFailed {
            tls = nil
            throw Interruption.tlsFailed
        }
    }

    /// Decrypts bytes of the client. Returns true when they contain data to read.
    private func decrypt(_ bytes: UnsafeRawBufferPointer, _ tls: TLSConnection) throws -> Bool {
        let count = buffer.count
        do throws(TLSConnection.Failure) {
            try tls.take(bytes, into: &buffer)
        } catch {
            try transmit(tls.output())
            throw error == .refusedByClient ? Interruption.clientLeft : .tlsFailed
        }
        try transmit(tls.output())
        return buffer.count > count
    }

    // MARK: Reading

    /// Returns the next byte without consuming it, or nil when the client ended before it.
    func peek() throws -> UInt8? {
        if position == buffer.count, try !fill() { return nil }
        return buffer[position]
    }

    /// Reads the next line with its LF. Returns nil when the client ended before the line began. Throws `error` when
    /// the line is longer than `limit`.
    func line(limit: Int, orElse error: RequestError) throws -> ArraySlice<UInt8>? {
        var searched = position
        while true {
            if let end = buffer[searched...].firstIndex(of: .lineFeed) {
                guard end - position < limit else { throw error }
                defer { position = end + 1 }
                return buffer[position...end]
            }
            let length = buffer.count - position
            guard length < limit else { throw error }
            guard try fill() else {
                guard length == 0 else { throw Interruption.clientLeft }
                return nil
            }
            searched = position + length
        }
    }

    /// Waits for bytes and returns those that are there. Returns nil when the client ended.
    func available() throws -> Data? {
        try peek() == nil ? nil : arrived()
    }

    /// Returns the bytes that have arrived, without waiting, or nil when there are none.
    func arrived() throws -> Data? {
        if position == buffer.count { _ = try receiveBytes() }
        guard position < buffer.count else { return nil }
        defer { position = buffer.count }
        return Data(buffer[position...])
    }

    func read(_ count: Int, into data: inout Data) throws {
        var missing = count
        while missing > 0 {
            if position == buffer.count, try !fill() { throw Interruption.clientLeft }
            let some = buffer[position...].prefix(missing)
            data.append(contentsOf: some)
            position += some.count
            missing -= some.count
        }
    }

    /// Waits for bytes and moves them into the buffer. Returns false when the client sends no more.
    private func fill() throws -> Bool {
        while true {
            guard try wait(for: .readable, until: deadline) else { throw Interruption.timedOut }
            if let isOpen = try receiveBytes() { return isOpen }
        }
    }

    /// Receives the available bytes. Returns nil when none were there, and false at the end.
    private func receiveBytes() throws -> Bool? {
        if tls?.isEnded == true { return false }
        switch socket.receive(into: piece) {
        case .bytes(0): return false
        case .bytes(let count):
            buffer.removeFirst(position)
            position = 0
            let bytes = UnsafeRawBufferPointer(rebasing: piece[..<count])
            if let tls { return try decrypt(bytes, tls) ? true : nil }
            buffer.append(contentsOf: bytes)
            return true
        case .nothingYet: return nil
        case .broken: throw Interruption.clientLeft
        }
    }

    // MARK: Writing

    /// Sends bytes. Calls `isDone` with true before each attempt that may send the last byte, and with false when
    /// the attempt did not. So the call with true precedes the client's receipt of all bytes.
    package func send(_ data: Data, isDone: ((Bool) -> Void)? = nil) throws {
        guard let tls else { return try transmit(data, isDone) }
        var rest = data
        while !rest.isEmpty {
            do throws(TLSConnection.Failure) {
                try tls.put(rest.prefix(1 << 16))
            } catch {
                throw Interruption.tlsFailed
            }
            rest = rest.dropFirst(1 << 16)
            try transmit(tls.output(), rest.isEmpty ? isDone : nil)
        }
    }

    private func transmit(_ data: Data, _ isDone: ((Bool) -> Void)? = nil) throws {
        try data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                isDone?(true)
                switch socket.send(UnsafeRawBufferPointer(rebasing: rest)) {
                case .bytes(let count): rest = rest.dropFirst(count)
                case .broken: throw Interruption.clientLeft
                case .nothingYet:
                    isDone?(false)
                    guard try wait(for: .writable, until: deadline) else { throw Interruption.timedOut }
                }
            }
        }
    }

    // MARK: Waiting

    /// Waits until `deadline`, or without limit when it is nil.
    ///
    /// - Throws: ``Interruption`` as soon as the client ends its side or the server stops.
    func pause(until deadline: ContinuousClock.Instant?) throws {
        while true {
            // Receives bytes sent ahead, because the end of the client's bytes is visible only after them.
            let hasRoom = buffer.count - position < readAheadLimit
            guard try wait(for: hasRoom ? .readable : .broken, until: deadline) else { return }
            guard hasRoom, try receiveBytes() != false else { throw Interruption.clientLeft }
        }
    }

    /// Drops the bytes of the client until one side ends.
    ///
    /// - Throws: ``Interruption``, always.
    func waitForEnd() throws -> Never {
        while true {
            position = buffer.count
            guard try fill() else { throw Interruption.clientLeft }
        }
    }

    /// Waits for an event. Returns false at the deadline.
    private func wait(for event: Socket.Event, until deadline: ContinuousClock.Instant?) throws -> Bool {
        // TLS may announce the end of the client's bytes before the connection ends.
        if event != .writable, tls?.isEnded == true { return true }
        switch socket.wait(for: event, stop: stop, until: deadline) {
        case .ready: return true
        case .timedOut: return false
        case .stopped: throw Interruption.serverStopped
        }
    }

    // MARK: Ending

    /// Closes the connection so that everything sent arrives. Unread bytes would turn the close into a reset, which
    /// discards the answer. The channel therefore reads and drops bytes that arrive within `time`.
    ///
    /// If `isWhole` is false, TLS does not announce the end, as for a lost connection.
    package func close(isWhole: Bool = true, waitingForRest time: Duration = .zero) {
        if isWhole, let tls {
            tls.putEnd()
            try? transmit(tls.output())
        }
        tls = nil
        socket.endSending()
        let deadline = ContinuousClock.now + time
        var isOpen = true
        repeat {
            isOpen = (try? receiveBytes() != false) ?? false
            position = buffer.count
        } while isOpen && socket.wait(for: .readable, stop: stop, until: deadline) == .ready
        socket.close()
    }

    func reset() {
        socket.reset()
    }
}
