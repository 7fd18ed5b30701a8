import Foundation
import Switchboard
import SwitchboardPlatform

/// Reading the server's frames.
extension WebSocketConnection {
    /// Reads bytes in the connection's task, until the connection ends.
    func read(_ bytes: ResponseBytes, _ readState: ReadState) async {
        do {
            while var chunk = try await bytes.next() {
                var stop = try readState.takeStop()
                repeat {
                    if stop == .closed {
                        readState.isOver = true
                        return await finishClosing(bytes)
                    }
                    if stop == .full { await inbox.waitForRoom() }
                    stop = try handle(&chunk, &readState.reader)
                } while stop != nil
            }
            end(NetworkError(.connectionLost, reason: NetworkError.noCloseFrame))
        } catch let violation as WebSocketViolation {
            readState.isOver = true
            await fail(violation, bytes)
        } catch let error as NetworkError {
            end(error.asWebSocketError)
        } catch {
            end(error)
        }
    }

    /// Reads bytes on the session's thread, while the task waits for them. Returns nil when all were read. Otherwise it
    /// returns the number of bytes that were read, and the task continues there.
    func receive(_ bytes: UnsafeRawBufferPointer, _ readState: ReadState) -> Int? {
        guard !readState.isOver else { return nil }
        var rest = bytes
        do throws(WebSocketViolation) {
            guard let stop = try handle(&rest, &readState.reader) else { return nil }
            (readState.stop, readState.isOver) = (.success(stop), stop == .closed)
        } catch {
            (readState.stop, readState.isOver) = (.failure(error), true)
        }
        return bytes.count - rest.count
    }

    /// Handles the events of a chunk. Returns a reason to stop, or nil at the end of the chunk.
    private func handle(_ chunk: inout Data, _ reader: inout MessageReader) throws(WebSocketViolation) -> ReadState
        .Stop?
    {
        let (stop, left) = chunk.withUnsafeBytes { bytes in
            var rest = bytes
            let stop = Result { () throws(WebSocketViolation) in try handle(&rest, &reader) }
            return (stop, rest.count)
        }
        chunk = chunk.suffix(left)
        return try stop.get()
    }

    private func handle(
        _ bytes: inout UnsafeRawBufferPointer, _ reader: inout MessageReader
    ) throws(WebSocketViolation) -> ReadState.Stop? {
        while let event = try reader.next(&bytes) {
            switch event {
            case .message(let message): if !inbox.add(message) { return .full }
            case .ping(let payload):
                state.withLock { $0.hasPinged = true }
                queue.sendControl(.pong, payload)
            case .pong(let payload): didReceivePong(payload)
            case .close(let code, let reason):
                didReceiveClose(code, reason)
                return .closed
            }
        }
        return nil
    }

    private func didReceiveClose(_ code: WebSocketCloseCode, _ reason: String) {
        let isFirst = state.withLock { state in
            if state.closure == nil {
                state.closure = WebSocketClosure(code: code, reason: reason, isByServer: true)
            }
            defer { state.isClosing = true }
            return !state.isClosing
        }
        // RFC 6455 §5.5.1: the answer has the same code. The connection may end soon, so it is sent directly.
        if isFirst { sendClose(code == .noStatusReceived ? Data() : code.payload("")) }
        inbox.end(.success(()))
    }

    /// Waits until the server closes the connection. The server closes first ([RFC 6455
    /// §7.1.1](https://www.rfc-editor.org/rfc/rfc6455#section-7.1.1)).
    private func finishClosing(_ bytes: ResponseBytes) async {
        _ = try? await withTimeout(options.closeTimeout, by: clock, error: CancellationError()) {
            while try await bytes.next() != nil {}
        }
        end(nil)
    }

    /// Ends a connection whose server violated the protocol ([RFC 6455
    /// §7.1.7](https://www.rfc-editor.org/rfc/rfc6455#section-7.1.7)).
    private func fail(_ violation: WebSocketViolation, _ bytes: ResponseBytes) async {
        let isFirst = state.withLock { state in
            if state.closure == nil {
                state.closure = WebSocketClosure(sending: violation.code, violation.reason)
            }
            defer { state.isClosing = true }
            return !state.isClosing
        }
        if isFirst { queue.sendControl(.close, violation.code.payload(violation.reason)) }
        inbox.end(.failure(attributed(violation.error)))
        await finishClosing(bytes)
    }

    /// Resumes the ping with the payload of a pong, and all earlier pings ([RFC 6455
    /// §5.5.3](https://www.rfc-editor.org/rfc/rfc6455#section-5.5.3)).
    private func didReceivePong(_ payload: Data) {
        guard payload.count == 8 else { return }
        let number = payload.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let answered = state.withLock { state -> [CheckedContinuation<Void, any Error>] in
            state.hasPinged = true
            guard state.pings[number] != nil else { return [] }
            let numbers = state.pings.keys.filter { $0 <= number }
            return numbers.compactMap { state.pings.removeValue(forKey: $0) }
        }
        for ping in answered { ping.resume() }
    }
}

/// The state of a connection's reading. Its task uses it, or the session's thread while the task waits for bytes.
final class ReadState: @unchecked Sendable {  // the lock of the response's bytes orders the two
    /// The reason to stop within a chunk: a full inbox or the server's Close frame.
    enum Stop { case full, closed }

    @exclusivity(unchecked) var reader: MessageReader
    /// The stop or the violation that the session's thread found and the task handles.
    @exclusivity(unchecked) var stop: Result<Stop, WebSocketViolation>?
    /// Whether later bytes are ignored.
    @exclusivity(unchecked) var isOver = false

    init(_ reader: sending MessageReader) { self.reader = reader }

    func takeStop() throws(WebSocketViolation) -> Stop? {
        defer { stop = nil }
        return try stop?.get()
    }
}

extension NetworkError {
    static let noCloseFrame = "the server closed the connection without a Close frame"

    /// The error of a lost connection, in words of a WebSocket instead of an HTTP response.
    var asWebSocketError: NetworkError {
        guard code == .connectionLost || code == .truncatedBody else { return self }
        let cause = reason?.lowercased() ?? ""
        func contains(_ words: String...) -> Bool { words.contains(where: cause.contains) }
        let text: String?
        if contains("reset", "broken pipe", "failure when receiving") {
            text = "the server reset the WebSocket connection"
        } else if code == .truncatedBody || contains("clos") {
            text = Self.noCloseFrame
        } else {
            text = reason?.components(separatedBy: ", while ").first
        }
        return NetworkError(.connectionLost, reason: text, underlying: underlying ?? self)
    }
}
