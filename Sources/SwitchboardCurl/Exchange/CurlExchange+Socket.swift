#if os(Linux)
import SwitchboardCurlC
import SwitchboardPlatform
import Foundation

/// The socket of an upgraded connection without TLS, which the exchange owns. The loop receives under the poller's
/// lock. Senders send on their own threads.
extension CurlExchange {
    /// Receives and sends without blocking.
    func didBecomeReady(toRead: Bool, toWrite: Bool, isClosed: Bool) {
        // libcurl has read to the end. Before 8.3, and in 8.6 and 8.7, it then waits for the rest of the upload ([curl
        // 13260](https://github.com/curl/curl/issues/13260)). It does not tell whether the last chunk arrived.
        if isClosed, deadlines.isSendingPaused, pipe?.isPaused != true {
            return loop.end(self, head.size == 0 ? CurlCode.gotNothing : head.isChunked ? CurlCode.partialFile : 0)
        }
        // The system has buffered few bytes before the end.
        if isClosed { pipe?.removeLimit() }
        guard ownsSocket else { return loop.perform(.resume(self)) }
        if isClosed { isFull = false }
        if toWrite { flush() }
        if toRead { receive() }
        watch()
    }

    /// Continues after a pause of the reader, and sends the buffered bytes.
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
        // The reader gets the error after the buffered bytes. The sender must not wait for the reader.
        if isFull, flow == .broken { upload?.stop() }
    }

    private func flush() {
        if let upload { flow = upload.flush() }
    }

    /// Stops receiving while the pipe is full.
    func pauseIfFull() { isFull = pipe?.pauseIfFull() == true }

    /// Receives until the socket is empty or the pipe is full, at most 16 buffers, so that other connections are served
    /// too. Ends the exchange at the end of the connection.
    private func receive() {
        let buffer = loop.buffer
        for _ in 0..<16 {
            guard let pipe, let start = buffer.baseAddress, !isFull else { return }
            let count = swcurl_socket_receive(socket, start, buffer.count)
            guard count > 0 else {
                if count != -Int(EAGAIN) { loop.end(self, count == 0 ? 0 : CurlCode.receiveError) }
                return
            }
            deliver(UnsafeRawBufferPointer(rebasing: buffer[..<count]), to: pipe)
            // The poller reports later bytes.
            guard count == buffer.count else { return }
        }
    }

    /// Passes bytes to the receiver, and offers the rest to the reader.
    private func deliver(_ bytes: UnsafeRawBufferPointer, to pipe: BytePipe) {
        guard let rest = pipe.passToReceiver(bytes) else { return }
        if case .awaited = pipe.offer(rest) { loop.deliveries.append(self) }
        pauseIfFull()
    }

    // MARK: For the other protocol

    /// Tries to send bytes on the caller's thread. Returns false and sends nothing if libcurl owns the connection or
    /// earlier bytes are buffered.
    package func trySend(_ bytes: UnsafeRawBufferPointer) -> Bool {
        upload?.trySend(bytes) == true
    }

    /// Sets a function that receives bytes under the poller's lock, while a reader waits.
    package func setReceiver(_ receiver: @escaping @Sendable (UnsafeRawBufferPointer) -> Int?) {
        pipe?.setReceiver(receiver)
    }
}
#endif
