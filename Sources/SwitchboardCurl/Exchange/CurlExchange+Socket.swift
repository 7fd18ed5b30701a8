#if os(Linux)
import SwitchboardCurlC
import SwitchboardPlatform
import Foundation

/// The part of an exchange that owns its connection, because another protocol uses it without TLS. The loop receives,
/// under the poller's lock. Senders send on their own threads.
extension CurlExchange {
    /// Receives and sends what the socket has and takes.
    func isReady(toRead: Bool, toWrite: Bool, isOver: Bool) {
        // The end is read after the bytes that the system has buffered, which are few.
        if isOver { pipe?.takeAll() }
        guard ownsSocket else { return loop.perform(.resume(self)) }
        if isOver { isFull = false }
        if toWrite { flush() }
        if toRead { receive() }
        watch()
    }

    /// Continues after a pause of the reader, or waits for the socket to take more.
    func resumeSocket() {
        flush()
        if isFull {
            pipe?.didResume()
            pauseIfFull()
            receive()
        }
        watch()
    }

    private func watch() {
        guard activeIndex >= 0 else { return }
        swcurl_poller_watch(loop.poller, socket, !isFull, flow == .blocked)
        // The reader is far from the error, and the sender must not wait for it.
        if isFull, flow == .broken { upload?.stop() }
    }

    private func flush() {
        if let upload { flow = upload.flush() }
    }

    /// Stops the receiving when the reader has enough bytes.
    func pauseIfFull() { isFull = pipe?.pauseIfFull() == true }

    /// Receives until the socket is empty or the pipe is full, or until it is another connection's turn. Ends the
    /// exchange at the end of the connection.
    private func receive() {
        let buffer = loop.buffer
        for _ in 0..<16 {
            guard let pipe, let start = buffer.baseAddress, !isFull else { return }
            let count = swcurl_socket_receive(socket, start, buffer.count)
            guard count > 0 else {
                if count != -Int(EAGAIN) { loop.end(self, count == 0 ? 0 : CurlCode.receiveError) }
                return
            }
            received += Int64(count)
            pass(UnsafeRawBufferPointer(rebasing: buffer[..<count]), to: pipe)
            // The poller reports what arrives from now on.
            guard count == buffer.count else { return }
        }
    }

    /// Passes bytes to the receiver, and the rest to the reader.
    private func pass(_ bytes: UnsafeRawBufferPointer, to pipe: BytePipe) {
        guard let rest = pipe.pass(bytes) else { return }
        if case .awaited = pipe.offer(rest) { loop.deliverLater(self) }
        pauseIfFull()
    }

    // MARK: For the other protocol

    /// Sends bytes on the caller's thread. Returns false, and sends nothing, when libcurl has the connection or when
    /// other bytes wait.
    package func sendAtOnce(_ bytes: UnsafeRawBufferPointer) -> Bool {
        upload?.sendAtOnce(bytes) == true
    }

    /// Sets a function that receives bytes under the poller's lock, while a reader waits.
    package func setReceiver(_ receiver: @escaping @Sendable (UnsafeRawBufferPointer) -> Int?) {
        pipe?.setReceiver(receiver)
    }
}
#endif
