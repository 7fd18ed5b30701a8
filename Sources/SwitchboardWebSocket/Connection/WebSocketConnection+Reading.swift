import Foundation
import Switchboard
import SwitchboardPlatform

extension WebSocketConnection {
    /// The reason to stop reading: a full inbox, or the server's Close frame.
    enum Stop { case full, closed }

    /// Sends and receives messages until the connection ends.
    func read(_ socket: FoundationSocket) async {
        // The reader throws the error of a lost connection.
        let sending = Task { [queue] in
            do {
                while let event = await queue.next() {
                    try await socket.send(event) { queue.completeInFlight() }
                }
            } catch {
                socket.sendFailed(error)
            }
        }
        defer {
            sending.cancel()
            socket.cancel()
        }
        do {
            while let event = try await socket.next() {
                state.withLock { $0.isSilent = false }
                switch handle(event) {
                case .closed?: return await finishClosing { try await socket.next() != nil }
                case .full?: await inbox.waitForSpace()
                case nil: break
                }
            }
            endWithoutClose()
        } catch {
            await end(after: error) { try await socket.next() != nil }
        }
    }

    /// Reads bytes in the connection's task, until the connection ends.
    func read(_ bytes: ResponseBytes, _ frames: FrameCoding) async {
        do {
            while var chunk = try await bytes.next() {
                var stop = try frames.takeStop()
                repeat {
                    if stop == .closed {
                        frames.ignoresBytes = true
                        return await finishClosing { try await bytes.next() != nil }
                    }
                    if stop == .full {
                        endSendingIfHidden()
                        await inbox.waitForSpace()
                    }
                    stop = try handle(&chunk, &frames.reader)
                } while stop != nil
            }
            endWithoutClose()
        } catch {
            // After a cancellation, the thread may still read.
            if error is WebSocketViolation { frames.ignoresBytes = true }
            await end(after: error) { try await bytes.next() != nil }
        }
    }

    private func endWithoutClose() {
        endLost(NetworkError(.connectionLost, reason: NetworkError.noCloseFrame))
    }

    /// Ends a lost connection. After a Close frame of this side, the loss is no error, because some servers send no
    /// Close frame in response.
    private func endLost(_ loss: NetworkError) {
        end(closure == nil ? loss : nil)
    }

    private func end(after error: any Error, next: @escaping @Sendable () async throws -> Bool) async {
        if let violation = error as? WebSocketViolation { return await fail(violation, next) }
        guard let error = (error as? NetworkError)?.asWebSocketError else { return end(error) }
        if error.code == .connectionLost { endLost(error) } else { end(error) }
    }

    /// Reads bytes on the thread that drives libcurl, while the connection's task waits for them. Returns nil when all
    /// bytes were read. Otherwise returns the number of bytes that were read, and the task continues after them.
    func receive(_ bytes: UnsafeRawBufferPointer, _ frames: FrameCoding) -> Int? {
        guard !frames.ignoresBytes else { return nil }
        var rest = bytes
        do throws(WebSocketViolation) {
            guard let stop = try handle(&rest, &frames.reader) else { return nil }
            (frames.stop, frames.ignoresBytes) = (.success(stop), stop == .closed)
        } catch {
            (frames.stop, frames.ignoresBytes) = (.failure(error), true)
        }
        return bytes.count - rest.count
    }

    /// Handles the events of a chunk. Returns a reason to stop, or nil at the end of the chunk.
    private func handle(_ chunk: inout Data, _ reader: inout MessageReader) throws(WebSocketViolation) -> Stop? {
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
    ) throws(WebSocketViolation) -> Stop? {
        state.withLock { $0.isSilent = false }
        while let event = try reader.next(&bytes) {
            if let stop = handle(event) { return stop }
        }
        return nil
    }

    private func handle(_ event: WebSocketEvent) -> Stop? {
        if let recorder, let message = event.recorded(isSent: false) { recorder(message) }
        switch event {
        case .message(let message): return inbox.add(message) ? nil : .full
        case .ping(let payload):
            state.withLock { $0.hasPinged = true }
            queue.sendControl(.pong(payload))
        case .pong(let payload): didReceivePong(payload)
        case .close(let code, let reason):
            didReceiveClose(code, reason)
            return .closed
        }
        return nil
    }

    private func didReceiveClose(_ code: WebSocketCloseCode, _ reason: String) {
        let isFirst = recordClosure(WebSocketClosure(code: code, reason: reason, isFromServer: true))
        // RFC 6455 §5.5.1: the Close frame in response has the same code. The connection may end soon, so the frame is
        // sent directly.
        if isFirst { sendClose(code) }
        endMessages(.success(()))
    }

    /// Waits until the server closes the connection. The server closes first ([RFC 6455
    /// §7.1.1](https://www.rfc-editor.org/rfc/rfc6455#section-7.1.1)).
    private func finishClosing(_ next: @escaping @Sendable () async throws -> Bool) async {
        _ = try? await withTimeout(options.closeTimeout, by: clock, error: CancellationError()) {
            while try await next() {}
        }
        end(nil)
    }

    /// Ends a connection whose server violated the protocol ([RFC 6455
    /// §7.1.7](https://www.rfc-editor.org/rfc/rfc6455#section-7.1.7)).
    private func fail(
        _ violation: WebSocketViolation, _ next: @escaping @Sendable () async throws -> Bool
    ) async {
        let isFirst = recordClosure(WebSocketClosure(sending: violation.code, violation.reason))
        if isFirst { queue.sendControl(.close(violation.code, reason: violation.reason)) }
        endMessages(.failure(attributed(violation.error)))
        await finishClosing(next)
    }

    /// Resumes the ping with the payload of a pong, and all earlier pings ([RFC 6455
    /// §5.5.3](https://www.rfc-editor.org/rfc/rfc6455#section-5.5.3)).
    private func didReceivePong(_ payload: Data) {
        guard payload.count == 8 else { return }
        let number = payload.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let answered = state.withLock { state -> [CheckedContinuation<Void, any Error>] in
            state.hasPinged = true
            guard state.pings[number] != nil else { return [] }
            let numbers = state.firstPing...number
            state.firstPing = number + 1
            return numbers.compactMap { state.pings.removeValue(forKey: $0) }
        }
        for ping in answered { ping.resume() }
    }
}

/// The frames of a connection that carries bytes. The connection's task reads them. While the task waits for bytes, the
/// thread that drives libcurl reads them.
final class FrameCoding: @unchecked Sendable {  // the lock of the response's bytes orders the task and the thread
    typealias Stop = WebSocketConnection.Stop

    let framer: MessageFramer
    @exclusivity(unchecked) var reader: MessageReader
    /// The stop or the violation that the thread found, for the task to handle.
    @exclusivity(unchecked) var stop: Result<Stop, WebSocketViolation>?
    /// Whether later bytes are ignored, after a Close frame or a violation.
    @exclusivity(unchecked) var ignoresBytes = false

    init(_ framer: MessageFramer, _ reader: sending MessageReader) { (self.framer, self.reader) = (framer, reader) }

    func takeStop() throws(WebSocketViolation) -> Stop? {
        defer { stop = nil }
        return try stop?.get()
    }
}

extension NetworkError {
    static let noCloseFrame = "the server closed the connection without a Close frame"

    /// The error of a lost connection, with a text about a WebSocket instead of a response.
    var asWebSocketError: NetworkError {
        guard code == .connectionLost || code == .truncatedBody else { return self }
        let cause = reason?.lowercased() ?? ""
        func contains(_ texts: String...) -> Bool { texts.contains(where: cause.contains) }
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
