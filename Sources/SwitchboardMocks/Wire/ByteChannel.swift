import Foundation
import Switchboard
import SwitchboardText

/// The bytes of one connection, both ways, in waits that end when the client leaves or the server stops.
final class ByteChannel {
    /// Why the conversation cannot go on.
    enum Interruption: Error {
        case clientLeft, serverStopped
        /// No TLS could be agreed on, or the client broke its rules.
        case tlsFailed
    }

    private let socket: Socket
    private let stop: StopSignal
    /// What stands between the socket and all of this. Nil: nothing.
    private var tls: TLSConversation?
    private var buffer: [UInt8] = []
    private var position = 0
    private let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    /// What a client may send ahead while its answer is held back.
    private let readAheadLimit = 1 << 20

    init(socket: Socket, stop: StopSignal) {
        self.socket = socket
        self.stop = stop
    }

    deinit {
        piece.deallocate()
    }

    // MARK: TLS

    /// Does the handshake, also with what was peeked at. From here on everything goes through `conversation`.
    ///
    /// - Throws: ``Interruption``. After ``Interruption/tlsFailed`` the channel is plain again, for its end.
    func secure(with conversation: TLSConversation) throws {
        let early = buffer[position...]
        (buffer, position) = ([], 0)
        tls = conversation
        do {
            _ = try early.withUnsafeBytes { try decrypt($0, conversation) }
            while !conversation.isEstablished {
                guard try fill() || conversation.isEstablished else { throw Interruption.clientLeft }
            }
        } catch Interruption.tlsFailed {
            tls = nil
            throw Interruption.tlsFailed
        }
    }

    /// Takes bytes of the client's through TLS. True when something to read came out of them.
    private func decrypt(_ bytes: UnsafeRawBufferPointer, _ tls: TLSConversation) throws -> Bool {
        let count = buffer.count
        do throws(TLSConversation.Failure) {
            try tls.take(bytes, into: &buffer)
        } catch {
            try transmit(tls.output())
            throw error == .refusedByClient ? Interruption.clientLeft : .tlsFailed
        }
        try transmit(tls.output())
        return buffer.count > count
    }

    // MARK: Reading

    /// The next byte, which stays to be read; nil when the client ended before it.
    func peek() throws -> UInt8? {
        if position == buffer.count, try !fill() { return nil }
        return buffer[position]
    }

    /// The next line with its LF; nil when the client ended before it began. `fault` is thrown when the line is longer
    /// than `limit`.
    func line(limit: Int, orElse fault: RequestFault) throws -> ArraySlice<UInt8>? {
        var searched = position
        while true {
            if let end = buffer[searched...].firstIndex(of: .lineFeed) {
                guard end - position < limit else { throw fault }
                defer { position = end + 1 }
                return buffer[position...end]
            }
            let length = buffer.count - position
            guard length < limit else { throw fault }
            guard try fill() else {
                guard length == 0 else { throw Interruption.clientLeft }
                return nil
            }
            searched = position + length
        }
    }

    /// Appends exactly that many bytes to `data`.
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

    /// Waits for bytes and takes them into the buffer; false when the client sends no more.
    private func fill() throws -> Bool {
        while true {
            switch wait(for: .readable) {
            case .stopped, .timedOut: throw Interruption.serverStopped
            case .ready: if let isOpen = try takeIn() { return isOpen }
            }
        }
    }

    /// Nil when nothing was there after all.
    private func takeIn() throws -> Bool? {
        if tls?.isEnded == true { return false }
        switch socket.receive(into: piece) {
        case .bytes(let count):
            buffer.removeFirst(position)
            position = 0
            let bytes = UnsafeRawBufferPointer(rebasing: piece[..<count])
            if let tls { return try decrypt(bytes, tls) ? true : nil }
            buffer.append(contentsOf: bytes)
            return true
        case .nothingYet: return nil
        case .end: return false
        case .broken: throw Interruption.clientLeft
        }
    }

    // MARK: Writing

    /// Sends bytes. Before each attempt that may send the last of them `isDone` is called with true, and with false when
    /// it did not: whoever has them all came after a true.
    func send(_ data: Data, isDone: ((Bool) -> Void)? = nil) throws {
        guard let tls else { return try transmit(data, isDone) }
        var rest = data
        while !rest.isEmpty {
            do throws(TLSConversation.Failure) {
                try tls.put(rest.prefix(1 << 16))
            } catch {
                throw Interruption.tlsFailed
            }
            rest = rest.dropFirst(1 << 16)
            try transmit(tls.output(), rest.isEmpty ? isDone : nil)
        }
    }

    /// Sends bytes as they are.
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
                    guard socket.wait(for: .writable, stop: stop) == .ready else { throw Interruption.serverStopped }
                }
            }
        }
    }

    // MARK: Waiting

    /// Lets time pass, for ever when `deadline` is nil.
    ///
    /// - Throws: ``Interruption`` as soon as the client ends its side or the server stops.
    func pause(until deadline: ContinuousClock.Instant?) throws {
        while true {
            // What a client sends ahead must be taken, because the end of its bytes shows only behind them.
            let hasRoom = buffer.count - position < readAheadLimit
            switch wait(for: hasRoom ? .readable : .broken, until: deadline) {
            case .timedOut: return
            case .stopped: throw Interruption.serverStopped
            case .ready: guard hasRoom, try takeIn() != false else { throw Interruption.clientLeft }
            }
        }
    }

    private func wait(
        for event: SystemCalls.Event, until deadline: ContinuousClock.Instant? = nil
    ) -> Socket.Wait {
        // An end that TLS has announced may come without that of the connection.
        if tls?.isEnded == true { return .ready }
        return socket.wait(for: event, stop: stop, until: deadline)
    }

    // MARK: Ending

    /// Closes so that everything sent arrives. Bytes that are unread at a close make it a reset, which would take the
    /// answer back, so those that come within `time` are read and dropped.
    ///
    /// With `isWhole` false TLS does not say that this is the end, as if the connection were lost.
    func close(isWhole: Bool = true, waitingForRest time: Duration = .zero) {
        if isWhole, let tls {
            tls.putEnd()
            try? transmit(tls.output())
        }
        tls = nil
        socket.endSending()
        let deadline = ContinuousClock.now + time
        var isOpen = true
        repeat {
            isOpen = (try? takeIn() != false) ?? false
            position = buffer.count
        } while isOpen && socket.wait(for: .readable, stop: stop, until: deadline) == .ready
        socket.close()
    }

    /// Closes with a RST.
    func reset() {
        socket.reset()
    }
}
