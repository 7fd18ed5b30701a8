#if os(Linux)
import SwitchboardCurlC
import SwitchboardPlatform
import Foundation
import Synchronization

/// Exchanges, under the poller's lock.
extension CurlLoop {
    func perform(_ command: Command) {
        switch command {
        case .start(let exchange): start(exchange)
        case .stop(let exchange):
            remove(exchange)
            exchange.releaseAfterCancel()
        case .resume(let exchange):
            guard exchange.activeIndex >= 0, exchange.isHandedOver else { return }
            if exchange.ownsSocket { return exchange.resumeSocket() }
            // libcurl delivers its buffered bytes within this call. Only the result reports an error of that delivery.
            let code = exchange.resume()
            if code != 0, code != CurlCode.badArgument, code != CurlCode.again { return end(exchange, code) }
            if exchange.isUpgraded { resumed.append(exchange) }
            updateDeadline(of: exchange)  // a paused exchange has no idle deadline, a resumed one does
        case .finish(let exchange):
            if exchange.activeIndex >= 0 { end(exchange, 0) }
        }
    }

    private func start(_ exchange: CurlExchange) {
        // The exchange was canceled. The stop command follows, or preceded the start of the upload.
        guard !exchange.isFinished else { return exchange.releaseAfterCancel() }
        exchange.activeIndex = active.count
        active.append(exchange)
        guard exchange.handle == nil else { return handOver(exchange) }
        let queue = queue(for: exchange.request)
        exchange.queue = queue
        queue.append(exchange)
        waitingCount.add(1, ordering: .relaxed)
        updateDeadline(of: exchange)
        free(queue)
        startWaiting()
    }

    private func handOver(_ exchange: CurlExchange) {
        exchange.isHandedOver = true
        countPausing(exchange, 1)
        countUpgrade(exchange, 1)
        countWatcher(exchange, 1)
        guard !exchange.isFinished else {
            removeFromActive(exchange)
            return exchange.releaseAfterCancel()
        }
        do throws(CurlFailure) {
            try exchange.takeHandle()
            exchange.handle.longestIdleTime = longestIdleTime
            if !onDeadConnections.isEmpty, isConnectionDead(for: exchange.request) {
                exchange.handle.requiresNewConnection = true
            }
            exchange.handle.setExchange(exchange)
            if exchange.request.isUpgrade { swcurl_poller_forget(poller, exchange.handle.easy) }
            let code = swcurl_multi_add(multi, exchange.handle.easy)
            guard code == 0 else { throw .system("libcurl refuses a transfer (\(code))") }
        } catch {
            removeFromActive(exchange)
            return exchange.fail(error)
        }
        updateDeadline(of: exchange)
    }

    private func remove(_ exchange: CurlExchange) {
        guard exchange.activeIndex >= 0 else { return }
        if exchange.isHandedOver {
            if exchange.head.size > 0 { startDraining(exchange) }
            disconnect(exchange)
        }
        removeFromActive(exchange)
    }

    private func removeFromActive(_ exchange: CurlExchange) {
        let last = active.count - 1
        if exchange.activeIndex != last {
            active[last].activeIndex = exchange.activeIndex
            active.swapAt(exchange.activeIndex, last)
        }
        active.removeLast()
        exchange.activeIndex = -1
        if exchange.deadSince > 0 { unmark(exchange) }
        guard exchange.isHandedOver else {
            waitingCount.subtract(1, ordering: .relaxed)
            exchange.queue?.remove(exchange)
            return
        }
        exchange.uncount()
        countPausing(exchange, -1)
        countWatcher(exchange, -1)
        removeFromUnwatched(exchange)
        if !exchange.ownsSocket { removeFromUpgraded(exchange) }
        guard let queue = exchange.queue else { return }
        queue.count -= 1
        free(queue)
    }

    // MARK: Draining

    /// Reads the connection of an exchange again each time the exchange has received bytes, from now on until it ends.
    func startDraining(_ exchange: CurlExchange) {
        guard CurlLibrary.leavesBytesUnread, exchange.drainedCount == nil, mayBeHTTP2(exchange.request) else { return }
        exchange.drainedCount = -1
        draining.append(exchange)
    }

    private func drain() {
        draining.removeAll { $0.activeIndex < 0 }
        for exchange in draining {
            var rounds = 0
            while rounds < 8, exchange.hasUnread {  // the next pass continues
                rounds += 1
                exchange.drainedCount = swcurl_easy_downloaded(exchange.handle.easy)
                swcurl_poller_read(poller, exchange.handle.easy)
            }
        }
    }

    // MARK: Waiting

    /// Returns whether a new exchange must wait, or take its turn after those that do. libcurl serves no more at once,
    /// because each has a connection or one of 100 streams of it. Any thread may call it.
    func isCrowded(for request: CurlRequest) -> Bool {
        guard !request.isUpgrade else { return false }
        return waitingCount.load(ordering: .relaxed) > 0
            || handleCount.load(ordering: .relaxed) >= max(64, limit(for: request))
    }

    private func queue(for request: CurlRequest) -> CurlQueue {
        let server = request.server
        if let queue = queues[server] { return queue }
        let queue = CurlQueue(server, limit: limit(for: request))
        queues[server] = queue
        return queue
    }

    private func free(_ queue: CurlQueue) {
        guard !queue.isFreed else { return }
        queue.isFreed = true
        freed.append(queue)
    }

    /// Gives libcurl the exchanges that wait, as far as it can serve them. Must not run within a callback of libcurl.
    func startWaiting() {
        while let queue = freed.popLast() {
            queue.isFreed = false
            while let exchange = queue.next() {
                waitingCount.subtract(1, ordering: .relaxed)
                handOver(exchange)
            }
            if queue.count == 0, queue.isEmpty { queues[queue.server] = nil }
        }
    }

    private func countPausing(_ exchange: CurlExchange, _ difference: Int) {
        guard CurlLibrary.stallsSharedConnections, exchange.request.isStreamed else { return }
        pausing += difference
        // CURLPIPE_NOTHING and CURLPIPE_MULTIPLEX.
        swcurl_multi_set_long(multi, CurlMultiOption.pipelining, pausing > 0 ? 0 : 2)
    }

    private func countWatcher(_ exchange: CurlExchange, _ difference: Int) {
        let request = exchange.request
        guard request.mayBeReplayedUnprocessed, !request.mayBeReplayed, mayBeHTTP2(request) else { return }
        watchers += difference
        guard watchers == 1, difference == 1 else { return }
        for other in unwatched {
            other.unwatchedIndex = -1
            other.handle.watchesStreams = true
        }
        unwatched.removeAll(keepingCapacity: true)
    }

    /// Watches the stream of an exchange that was sent: now, or when the next watcher starts.
    func watchStreams(of exchange: CurlExchange) {
        guard watchers == 0 else { return exchange.handle.watchesStreams = true }
        exchange.unwatchedIndex = unwatched.count
        unwatched.append(exchange)
    }

    private func removeFromUnwatched(_ exchange: CurlExchange) {
        guard exchange.unwatchedIndex >= 0, let last = unwatched.popLast() else { return }
        if last !== exchange {
            unwatched[exchange.unwatchedIndex] = last
            last.unwatchedIndex = exchange.unwatchedIndex
        }
        exchange.unwatchedIndex = -1
    }

    /// Marks the exchanges of a connection that a GOAWAY excludes.
    func didGoAway(after last: Int64, from exchange: CurlExchange) {
        for other in active where other.stream > last && !other.isExcluded {
            other.isExcluded = swcurl_easy_share_connection(other.handle.easy, exchange.handle.easy)
        }
    }

    /// Ends the exchanges that libcurl has finished. Resumes their callers last and together, because waking a thread for
    /// each caller costs more than waking a thread for several callers.
    func endFinished() {
        if !closing.isEmpty { readClosing() }
        if !draining.isEmpty { drain() }
        // libcurl has registered their sockets by now.
        while let exchange = waitingUploads.popLast() {
            if exchange.activeIndex >= 0, exchange.deadlines.isSendingPaused { observeEnd(of: exchange) }
        }
        var code: Int32 = 0
        while let context = swcurl_multi_next_ended(multi, &code) {
            end(Unmanaged<CurlExchange>.fromOpaque(context).takeUnretainedValue(), code)
        }
        // `removeAll(keepingCapacity:)` takes hundreds of instructions.
        finished.reverse()
        while let (exchange, code, message) = finished.popLast() { exchange.end(code, message) }
        takeOver()
        if !deliveries.isEmpty {
            for exchange in deliveries { exchange.deliver() }
            deliveries.removeAll(keepingCapacity: true)
        }
        if !upgraded.isEmpty { endHalfClosed() }
        if !freed.isEmpty { startWaiting() }
    }

    /// Removes an exchange from libcurl. ``endFinished()`` resumes its caller.
    func end(_ exchange: CurlExchange, _ code: Int32) {
        let message = code == 0 ? "" : exchange.handle.message(for: code)
        recordMeasurements(of: exchange)
        disconnect(exchange)
        removeFromActive(exchange)
        if code == 0, !exchange.ownsSocket {
            handles.withLock { if $0.count < Self.handleLimit { $0.append(exchange.handle) } }
        }
        finished.append((exchange, code, message))
    }

    func recordMeasurements(of exchange: CurlExchange) {
        guard !exchange.ownsSocket else { return exchange.recordSocketEnd() }
        let info = swcurl_easy_info(exchange.handle.easy)
        exchange.record(info, remoteAddress: address(info))
    }

    /// Returns the remote address as text, and formats it only when it differs from the last one.
    private func address(_ info: swcurl_info) -> String? {
        guard let text = info.remote_address, text[0] != 0 else { return nil }
        if info.remote_port != remotePort || strcmp(text, remoteHost) != 0 {
            remotePort = info.remote_port
            remoteHost = Array(UnsafeBufferPointer(start: text, count: strlen(text) + 1))
            let host = String(cString: text)
            remoteAddress = (host.utf8.contains(0x3A) ? "[\(host)]" : host) + ":\(remotePort)"
        }
        return remoteAddress
    }

    // MARK: Dead connections

    /// A connection of libcurl. Connections to different servers may have the same local port.
    struct Connection: Hashable {
        let server: Substring
        let localPort: Int

        init(of exchange: CurlExchange) {
            server = exchange.request.server
            localPort = swcurl_easy_local_port(exchange.handle.easy)
        }
    }

    /// The time in seconds after which no idle connection is reused. A change of the network may have ended those that were
    /// idle when a connection was found dead.
    private var longestIdleTime: Int {
        guard foundDeadAt > 0 else { return CurlHandle.usualIdleTime }
        let seconds = (max(now(), foundDeadAt) - foundDeadAt) / 1_000_000_000
        // Up to 8.16, libcurl compares whole seconds.
        return min(Int(seconds) + 1, CurlHandle.usualIdleTime)
    }

    /// Returns whether the server has acknowledged nothing on a connection since a time, although it was asked again.
    private func isDead(_ exchange: CurlExchange, since start: UInt64) -> Bool {
        let silence = swcurl_poller_silence(poller, exchange.handle.easy)
        let now = DispatchTime.now().uptimeNanoseconds
        return silence >= 0 && silence + 10 >= Int64((now - min(start, now)) / 1_000_000)  // measured in coarse steps
    }

    /// Keeps later exchanges from connections, given with the time of their last sign of life, or 0 for one that is
    /// not dead. The other exchanges on them continue, and the last one closes its connection.
    private func leave(_ dead: [Connection: UInt64]) {
        guard dead.values.contains(where: { $0 > 0 }) else { return }
        for other in active where other.sendTime > 0 && !other.ownsSocket {
            guard let start = dead[Connection(of: other)], start > 0 else { continue }
            other.handle.forbidsReuse = true
            if other.deadSince == 0 { onDeadConnections[other.request.server, default: []].append(other) }
            other.deadSince = start
        }
    }

    /// Returns whether an exchange could share a connection that is still dead.
    private func isConnectionDead(for request: CurlRequest) -> Bool {
        guard opensSeveralConnections else { return false }
        while let other = onDeadConnections[request.server]?.last {
            if isDead(other, since: other.deadSince) { return true }
            unmark(other)
        }
        return false
    }

    private func unmark(_ exchange: CurlExchange) {
        exchange.deadSince = 0
        let server = exchange.request.server
        onDeadConnections[server]?.removeAll { $0 === exchange }
        if onDeadConnections[server]?.isEmpty == true { onDeadConnections[server] = nil }
    }

    // MARK: Deadlines

    /// Updates the next deadline. Callbacks of libcurl call it too.
    func updateDeadline(of exchange: CurlExchange) {
        nextDeadline = min(nextDeadline, exchange.deadline)
    }

    func sweep() {
        guard nextDeadline != .max else { return }
        let now = DispatchTime.now().uptimeNanoseconds
        guard now >= nextDeadline else { return }
        nextDeadline = .max
        var dead: [Connection: UInt64] = [:]
        for exchange in active {
            if exchange.deadline <= now, let failure = exchange.timeout(now: now) {
                if exchange.sendTime > 0, !exchange.ownsSocket, case .timedOut = failure {
                    let connection = Connection(of: exchange)
                    let start = max(exchange.sendTime, exchange.deadlines.lastActivity)
                    // The server may have acknowledged an earlier request before the connection died.
                    if (dead[connection] ?? 0) == 0 { dead[connection] = isDead(exchange, since: start) ? start : 0 }
                    // An exchange that was marked says nothing new.
                    if dead[connection] != 0, exchange.deadSince == 0 { foundDeadAt = now }
                    // Otherwise, libcurl would keep a connection that could be shared.
                    exchange.handle.forbidsReuse = true
                }
                remove(exchange)
                exchange.fail(failure)
            } else {
                updateDeadline(of: exchange)
            }
        }
        leave(dead)
        endFinished()  // a removal may read the responses of other exchanges
    }

    func endAll() {
        for exchange in active {
            remove(exchange)
            exchange.fail(.closed)
        }
    }
}
#endif
