import SwitchboardPlatform
import Dispatch
import Foundation
import Switchboard
import SwitchboardMocks

/// A server whose script writes every byte, on a free port of loopback. It can break HTTP's rules, which ``MockServer``
/// follows.
package final class RawServer: Sendable {
    /// Talks with one client, on a separate thread. The connection is closed afterwards, even if the script throws.
    package typealias Script = @Sendable (RawConnection) throws -> Void

    package let port: Int
    private let stop: StopSignal
    private let threads = DispatchGroup()
    private let count = Protected(0)

    package var url: URL { URL(string: "http://127.0.0.1:\(port)/")! }
    /// The number of connections accepted so far.
    package var connectionCount: Int { count.withLock { $0 } }

    private init(hasSmallBuffer: Bool, _ script: @escaping Script) throws {
        stop = try StopSignal()
        let (listener, port) = try Socket.listening()
        if hasSmallBuffer {
            listener.setOption(SOL_SOCKET, SO_RCVBUF, Int32(2_048))
            // Otherwise the client's system takes megabytes.
            listener.setOption(Int32(IPPROTO_TCP), TCP_MAXSEG, Int32(536))
        }
        self.port = port
        try threads.startThread("RawServer") { [self] in
            listener.acceptAll(stop: stop) { socket in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                do {
                    try threads.startThread("RawServer") { [self] in
                        try? script(RawConnection(number, socket, stop))
                        socket.close()
                    }
                } catch {
                    socket.close()
                }
            }
        }
    }

    /// Runs a server while `body` runs. With a small buffer, a client's upload waits for the reads of the script.
    package static func run<Output>(
        hasSmallBuffer: Bool = false, isolation: isolated (any Actor)? = #isolation, _ script: @escaping Script,
        body: (RawServer) async throws -> Output
    ) async throws -> Output {
        let server = try RawServer(hasSmallBuffer: hasSmallBuffer, script)
        defer {
            server.stop.fire()
            _ = server.threads.wait(timeout: .now() + .seconds(2))
        }
        return try await body(server)
    }
}

/// One connection of a ``RawServer``, used by the thread of its script.
package final class RawConnection {
    /// The client has left, or the server is stopping.
    package struct Over: Error {}

    /// The connection's number, from 1, in the order of acceptance.
    package let number: Int
    private let socket: Socket
    private let stop: StopSignal
    private var buffer: [UInt8] = []
    private let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)

    fileprivate init(_ number: Int, _ socket: Socket, _ stop: StopSignal) {
        self.number = number
        self.socket = socket
        self.stop = stop
    }

    deinit {
        piece.deallocate()
    }

    /// Reads the next request's line and header fields, including the empty line behind them.
    package func readHead() throws -> String {
        String(decoding: try readHeadBytes(), as: UTF8.self)
    }

    private func readHeadBytes() throws -> [UInt8] {
        while true {
            // A plain loop, because the tests are built without optimization and send a hundred thousand requests.
            let end = buffer.withUnsafeBytes { bytes -> Int? in
                var index = 3
                while index < bytes.count {
                    if bytes[index] == 0x0A, bytes[index - 1] == 0x0D, bytes[index - 2] == 0x0A { return index + 1 }
                    index += 1
                }
                return nil
            }
            if let end { return take(end) }
            try fill()
        }
    }

    /// Answers every request with the same bytes. The requests must have no bodies.
    package func answerAll(_ answer: String) throws {
        let bytes = Data(answer.utf8)
        while true {
            _ = try readHeadBytes()
            try send(bytes)
        }
    }

    /// Reads exactly that many bytes.
    @discardableResult
    package func read(_ count: Int) throws -> Data {
        while buffer.count < count { try fill() }
        return Data(take(count))
    }

    /// Returns whether the client sends anything, or leaves, within that time.
    package func hears(within time: Duration) throws -> Bool {
        if !buffer.isEmpty { return true }
        switch socket.wait(for: .readable, stop: stop, until: .now + time) {
        case .ready: return true
        case .timedOut: return false
        case .stopped: throw Over()
        }
    }

    /// Reads and drops bytes until the client has left.
    package func waitForEnd() throws {
        while true {
            buffer = []
            do { try fill() } catch { return }
        }
    }

    package func send(_ text: String) throws {
        try send(Data(text.utf8))
    }

    package func send(_ data: Data) throws {
        _ = try send(data, givingUpAfter: nil)
    }

    /// Sends the head of a response whose body has `length` bytes, and the first `count` of them.
    package func sendPart(of length: Int, _ count: Int) throws {
        try send("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n")
        try send(Data(count: count))
    }

    /// Sends until the client has accepted nothing for that time. Returns the number of bytes sent.
    package func send(_ data: Data, givingUpAfter time: Duration?) throws -> Int {
        try data.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                switch socket.send(UnsafeRawBufferPointer(rebasing: bytes[sent...])) {
                case .bytes(let count): sent += count
                case .broken: throw Over()
                case .nothingYet:
                    switch socket.wait(for: .writable, stop: stop, until: time.map { .now + $0 }) {
                    case .ready: break
                    case .timedOut: return sent
                    case .stopped: throw Over()
                    }
                }
            }
            return sent
        }
    }

    /// Waits for that time, as a slow server.
    package func pause(_ time: Duration) throws {
        if socket.wait(for: .broken, stop: stop, until: .now + time) == .stopped { throw Over() }
    }

    /// Stays silent until the test is over.
    package func stall() throws {
        _ = socket.wait(for: .broken, stop: stop)
        throw Over()
    }

    package func reset() {
        socket.reset()
    }

    /// Ends the sending, and keeps the connection open for reading.
    package func endSending() {
        socket.endSending()
    }

    private func fill() throws {
        while true {
            guard socket.wait(for: .readable, stop: stop) == .ready else { throw Over() }
            switch socket.receive(into: piece) {
            case .bytes(0), .broken: throw Over()
            case .bytes(let count): return buffer.append(contentsOf: piece[..<count])
            case .nothingYet: continue
            }
        }
    }

    private func take(_ count: Int) -> [UInt8] {
        if count == buffer.count {
            defer { buffer.removeAll(keepingCapacity: true) }
            return buffer
        }
        defer { buffer.removeFirst(count) }
        return Array(buffer[..<count])
    }
}
