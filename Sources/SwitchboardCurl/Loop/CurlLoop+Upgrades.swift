#if os(Linux)
import SwitchboardCurlC
import SwitchboardPlatform

/// Upgraded connections, under the poller's lock.
extension CurlLoop {
    /// Takes the newly upgraded connections without TLS from libcurl, at the end of a pass, when libcurl has delivered all
    /// bytes that it received. libcurl keeps connections with TLS, and all connections when the system has no descriptor
    /// left.
    func takeOver() {
        while let exchange = newlyUpgraded.popLast() {
            guard exchange.activeIndex >= 0 else { continue }
            let isWhole = isPlain(exchange.request) && !exchange.head.describesBody && exchange.pipe?.isPaused == false
            let socket =
                isWhole
                ? swcurl_poller_take(
                    poller, exchange.handle.easy, Unmanaged.passUnretained(exchange).toOpaque(), Self.onReady) : -1
            if socket >= 0 {
                recordMeasurements(of: exchange)
                swcurl_multi_remove(multi, exchange.handle.easy)
                removeFromUpgraded(exchange)
                exchange.socket = socket
                exchange.pauseIfFull()
            } else {
                resumed.append(exchange)
            }
            exchange.upload?.startSending(to: socket)
        }
    }

    /// Resumes a paused exchange when its connection ends, or ends one whose upload waits. libcurl does not read from a
    /// paused connection, so it would not detect the end.
    func observeEnd(of exchange: CurlExchange) {
        let owner = Unmanaged.passUnretained(exchange).toOpaque()
        let socket = swcurl_poller_observe_end(poller, exchange.handle.easy, owner, Self.onReady)
        if socket >= 0 { exchange.observedSocket = socket }  // or else the earlier observation continues
    }

    private static let onReady: swcurl_ready_callback = { owner, canRead, canWrite, isClosed in
        // Retained meanwhile, because the loop may have the last reference, and the end of the exchange releases it.
        Unmanaged<CurlExchange>.fromOpaque(owner).takeUnretainedValue()
            .didBecomeReady(toRead: canRead, toWrite: canWrite, isClosed: isClosed)
    }

    /// Ends the connection of an exchange, on libcurl's side or its own.
    func disconnect(_ exchange: CurlExchange) {
        guard exchange.ownsSocket else {
            swcurl_multi_remove(multi, exchange.handle.easy)
            if exchange.drainedCount != nil { swcurl_poller_read(poller, exchange.handle.easy) }
            if exchange.observedSocket >= 0 {
                swcurl_poller_unobserve_end(
                    poller, exchange.observedSocket, Unmanaged.passUnretained(exchange).toOpaque())
            }
            return
        }
        exchange.upload?.stop()  // ends the use of the socket on other threads
        swcurl_poller_close(poller, exchange.socket)
    }

    /// Removes an exchange from the upgraded ones whose bytes pass through libcurl.
    func removeFromUpgraded(_ exchange: CurlExchange) {
        countUpgrade(exchange, -1)
        guard exchange.isUpgraded else { return }
        stopObserving(exchange)
        resumed.removeAll { $0 === exchange }
        closing.removeAll { $0 === exchange }
    }

    private func stopObserving(_ exchange: CurlExchange) {
        guard exchange.upgradedIndex >= 0, let last = upgraded.popLast() else { return }
        if last !== exchange {
            upgraded[exchange.upgradedIndex] = last
            last.upgradedIndex = exchange.upgradedIndex
        }
        exchange.upgradedIndex = -1
    }

    /// Reads again from connections that are closing. libcurl 8.6 forgets the end of a TLS connection if it reads the
    /// last bytes at the same time.
    func readClosing() {
        for _ in 0..<64 {  // a server that continues to send must not block the others
            guard let exchange = closing.popLast() else { return }
            if exchange.activeIndex >= 0, !exchange.ownsSocket { swcurl_poller_read(poller, exchange.handle.easy) }
        }
    }

    /// Ends the uploads of upgraded exchanges whose server has closed its side of the connection. libcurl then stops
    /// reading, but waits for the end of the upload.
    func endHalfClosed() {
        // A resumed exchange may read to the end before its socket is watched again.
        for exchange in resumed { endIfHalfClosed(exchange) }
        resumed.removeAll(keepingCapacity: true)
        guard swcurl_poller_take_stopped_reading(poller) else { return }
        for exchange in upgraded { endIfHalfClosed(exchange) }
    }

    private func endIfHalfClosed(_ exchange: CurlExchange) {
        guard exchange.activeIndex >= 0, !exchange.ownsSocket, exchange.pipe?.isPaused == false else { return }
        exchange.readSocket = swcurl_poller_upgraded(poller, exchange.handle.easy, exchange.readSocket)
        guard exchange.readSocket < 0 else { return }
        stopObserving(exchange)
        exchange.upload?.finish(nil)
        // A server that does not read either would block the upload for ever.
        exchange.deadlines.limitUpload(now: now())
        updateDeadline(of: exchange)
    }
}
#endif
