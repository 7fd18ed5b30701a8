#if os(Linux)
import SwitchboardCurlC
import SwitchboardPlatform

/// The part of the loop that handles connections which another protocol has taken over, under the poller's lock.
extension CurlLoop {
    /// Takes a connection from libcurl at the end of this pass. libcurl has passed on all bytes that it received then.
    func takeOverLater(_ exchange: CurlExchange) {
        arrived.append(exchange)
    }

    /// Takes the connections without TLS from libcurl. The others, and those for which the system has no descriptor
    /// left, stay with libcurl.
    func takeOver() {
        while let exchange = arrived.popLast() {
            guard exchange.activeIndex >= 0 else { continue }
            let isWhole = isPlain(exchange.request) && !exchange.head.describesBody && exchange.pipe?.isPaused == false
            let socket =
                isWhole
                ? swcurl_poller_take(
                    poller, exchange.handle.easy, Unmanaged.passUnretained(exchange).toOpaque(), Self.onReady) : -1
            if socket >= 0 {
                recordMeasurements(of: exchange)
                swcurl_multi_remove(multi, exchange.handle.easy)
                leaveUpgraded(exchange)
                exchange.socket = socket
                exchange.pauseIfFull()
            }
            exchange.upload?.release(to: socket)
        }
    }

    /// Continues an exchange whose reader has enough if its connection ends, because the end would not be noticed.
    func awaitEnd(of exchange: CurlExchange) {
        let owner = Unmanaged.passUnretained(exchange).toOpaque()
        exchange.awaited = swcurl_poller_await_end(poller, exchange.handle.easy, owner, Self.onReady)
    }

    private static let onReady: swcurl_ready_callback = { owner, canRead, canWrite, isOver in
        Unmanaged<CurlExchange>.fromOpaque(owner)._withUnsafeGuaranteedRef {
            $0.isReady(toRead: canRead, toWrite: canWrite, isOver: isOver)
        }
    }

    /// Ends the connection of an exchange, on libcurl's side or its own.
    func disconnect(_ exchange: CurlExchange) {
        guard exchange.ownsSocket else {
            swcurl_multi_remove(multi, exchange.handle.easy)
            if exchange.awaited >= 0 {
                swcurl_poller_ignore_end(poller, exchange.awaited, Unmanaged.passUnretained(exchange).toOpaque())
            }
            return
        }
        exchange.upload?.stop()  // ends the use of the socket on other threads
        swcurl_poller_close(poller, exchange.socket)
    }

    /// Stops counting an exchange as one that libcurl upgrades.
    func leaveUpgraded(_ exchange: CurlExchange) {
        countUpgrade(exchange, -1)
        guard exchange.isUpgraded else { return }
        upgraded -= 1
        resumed.removeAll { $0 === exchange }
        closing.removeAll { $0 === exchange }
    }

    /// Reads again from connections that are closing. libcurl 8.6 forgets the end of a TLS connection if it reads the
    /// last bytes at the same time.
    func readAgain() {
        for _ in 0..<64 {  // a server that continues to send must not stop the others
            guard let exchange = closing.popLast() else { return }
            if exchange.activeIndex >= 0, !exchange.ownsSocket { swcurl_poller_read(poller, exchange.handle.easy) }
        }
    }

    /// Ends the sending of upgraded exchanges whose server has closed the connection. libcurl then stops reading, but
    /// waits for the end of the upload.
    func endHalfClosed() {
        // A resumed exchange may read to the end before its socket is watched again.
        for exchange in resumed { endIfHalfClosed(exchange) }
        resumed.removeAll(keepingCapacity: true)
        guard swcurl_poller_take_dropped(poller) else { return }
        for exchange in active where exchange.isUpgraded { endIfHalfClosed(exchange) }
    }

    private func endIfHalfClosed(_ exchange: CurlExchange) {
        guard exchange.activeIndex >= 0, !exchange.ownsSocket, exchange.pipe?.isPaused == false else { return }
        guard !swcurl_poller_reads(poller, exchange.handle.easy) else { return }
        exchange.upload?.finish(nil)
        // A server that does not read either would block the upload for ever.
        exchange.deadlines.limitRest(now: now())
        updateDeadline(of: exchange)
    }
}
#endif
