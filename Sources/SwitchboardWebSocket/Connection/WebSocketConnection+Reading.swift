import Foundation
import Switchboard
import SwitchboardPlatform

/// The part of a connection that reads the server's frames.
extension WebSocketConnection {
    /// Reads the bytes that the task waits for.
    func read(_ bytes: ResponseBytes, _ reading: Reading) async {
        do {
            while var chunk = try await bytes.next() {
                var stop = try reading.takeStop()
                repeat {
                    if stop == .closed {
                        reading.isOver = true
                        return await finishClosing(bytes)
                    }
                    if stop == .full { await inbox.waitForRoom() }
                    stop = try handle(&chunk, &reading.reader)
                } while stop != nil
            }
            end(NetworkError(.connectionLost, reason: NetworkError.noCloseFrame))
        } catch let violation as WebSocketViolation {
            reading.isOver = true
            await refuse(violation, bytes)
        } catch let error as NetworkError {
            end(error.ofWebSocket)
        } catch {
            end(error)
        }
    }

    /// Reads bytes while the task waits for them. Returns nil after all of them. At a stop it returns the number of bytes
    /// before it, and the task continues there.
    func receive(_ bytes: UnsafeRawBufferPointer, _ reading: Reading) -> Int? {
        guard !reading.isOver else { return nil }
        var rest = bytes
        do throws(WebSocketViolation) {
            guard let stop = try handle(&rest, &reading.reader) else { return nil }
            (reading.stop, reading.isOver) = (.success(stop), stop == .closed)
        } catch {
            (reading.stop, reading.isOver) = (.failure(error), true)
        }
        return bytes.count - rest.count
    }

    /// Handles the events of a chunk up to a stop. Returns nil at its end.
    private func handle(_ chunk: inout Data, _ reader: inout MessageReader) throws(WebSocketViolation) -> Reading.Stop?
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
    ) throws(WebSocketViolation) -> Reading.Stop? {
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
        // RFC 6455 §5.5.1: the answer has the same code.
        // At once, because the end of the connection may follow.
        if isFirst { sendClose(code == .noStatusReceived ? Data() : code.payload("")) }
        inbox.end(.success(()))
    }

    /// Waits until the server closes the connection, which it does first ([RFC 6455
    /// §7.1.1](https://www.rfc-editor.org/rfc/rfc6455#section-7.1.1)).
    private func finishClosing(_ bytes: ResponseBytes) async {
        _ = try? await withTimeout(options.closeTimeout, by: clock, error: CancellationError()) {
            while try await bytes.next() != nil {}
        }
        end(nil)
    }

    /// Ends a connection whose server violated the protocol ([RFC 6455
    /// §7.1.7](https://www.rfc-editor.org/rfc/rfc6455#section-7.1.7)).
    private func refuse(_ violation: WebSocketViolation, _ bytes: ResponseBytes) async {
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

    /// Answers the ping of a pong, and those before it ([RFC 6455
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
