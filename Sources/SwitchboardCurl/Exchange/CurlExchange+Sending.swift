#if os(Linux)
import SwitchboardCurlC
import Foundation

/// Connecting and sending, in libcurl's callbacks under the poller's lock.
extension CurlExchange {
    /// Runs before a name lookup and before a socket connects. Returns false to end the transfer.
    func willConnect() -> Bool {
        guard sendTime == 0 else { return refuseRepeat() }
        if deadlines.beginConnecting(now: DispatchTime.now().uptimeNanoseconds) { loop.updateDeadline(of: self) }
        return true
    }

    /// Runs when a connection exists, before the request is sent. Returns false to end the transfer.
    ///
    /// libcurl would resend a request as long as kept-alive connections turn out dead, and would repeat it without
    /// `Expect` after a 417. The exchange sends only once: a replay is a separate exchange.
    func willSend() -> Bool {
        sendTime == 0 ? didSend() : refuseRepeat()
    }

    /// Records that the head is sent now, or was sent. After that, libcurl could only repeat the request on a new
    /// connection, which is refused.
    func didSend() -> Bool {
        recordActivity()
        guard sendTime == 0 else { return true }
        sendTime = deadlines.lastActivity
        loop.sendCount += 1
        if request.smallBody != nil { isBodySent = true }
        deadlines.endConnecting()
        isOnReusedConnection = swcurl_easy_connects(handle.easy) == 0
        handle.requiresNewConnection = true
        if loop.mayBeHTTP2(request) { loop.watchStreams(of: self) }
        return true
    }

    func didOpen(_ stream: Int64) { self.stream = stream }

    private func refuseRepeat() -> Bool {
        // libcurl would discard this response and send again.
        isRepeatRefused = head.isComplete
        if isRepeatRefused { return false }
        // libcurl reports a head that it refuses like the end of a reused connection.
        let message = handle.message(for: CurlCode.receiveError)
        if message.hasSuffix(Self.largeHead) {
            return refuse(.libcurl(code: CurlCode.receiveError, message: message))
        }
        // On a new connection, libcurl repeats a request whose stream was refused, without a message, and a request whose
        // stream asks for HTTP/1.1, with a message. On a reused connection, libcurl does not distinguish a refused stream
        // from an ended stream.
        if isOnReusedConnection { return refuse(.connectionDied(reusedLoss)) }
        return refuse(.connectionDied(handle.hasMessage ? .streamEnded : .unprocessed))
    }

    private var reusedLoss: CurlFailure.Loss { stream > 0 ? .streamEnded : .reused }

    /// Returns how an exchange without a response has lost its connection, or nil if another failure ended it.
    func loss(_ code: Int32, _ message: String) -> CurlFailure.Loss? {
        if case .connectionDied(let loss)? = failure {
            return isExcluded ? .unprocessed : loss
        }
        guard failure == nil, !message.hasSuffix(Self.largeHead) else { return nil }
        switch code {
        // The message belongs to a connection whose GOAWAY arrived before the request was sent.
        case _ where isExcluded || message.hasPrefix("nghttp2_submit_request() failed"): return .unprocessed
        // libcurl describes all other framing errors.
        case CurlCode.framing where !isOnReusedConnection && !handle.hasMessage,
            CurlCode.partialFile where !isOnReusedConnection && !handle.hasMessage:
            return .streamEnded
        case CurlCode.framing, CurlCode.partialFile, CurlCode.gotNothing, CurlCode.sendError, CurlCode.receiveError:
            return isOnReusedConnection ? reusedLoss : nil
        default: return nil
        }
    }

    /// The end of the message about a head over HTTP/2 that is larger than libcurl accepts.
    private static let largeHead = "user callback function failed"

    func refuse(_ failure: CurlFailure) -> Bool {
        if self.failure == nil { self.failure = failure }
        return false
    }

    // MARK: The body

    /// Writes the next bytes of the body. Returns their number, or one of ``CurlCallbackResult``.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        recordActivity()
        let piece: CurlUpload.Piece
        if let upload {
            piece = upload.read(into: buffer)
        } else if case .data(let data) = request.body, sentCount < data.count {
            let start = data.startIndex + Int(sentCount)
            let count = min(buffer.count, data.endIndex - start)
            data.copyBytes(to: buffer, from: start..<start + count)
            piece = .bytes(count)
        } else {
            piece = .end
        }
        switch piece {
        case .bytes(let count):
            sentCount += Int64(count)
            reportSent()
            if sentCount == request.bodyLength { endBody() }
            return count
        case .end:
            endBody()
            return 0
        case .later:
            // The upload of an upgrade waits for the server's 101, not for this process.
            deadlines.isSendingPaused = !request.isUpgrade && !isSendingUseless
            if deadlines.isSendingPaused, observedSocket < 0 { loop.waitingUploads.append(self) }
            return CurlCallbackResult.pause
        case .failure(let failure):
            _ = refuse(failure)
            return CurlCallbackResult.abortReading
        }
    }

    private func endBody() {
        isBodySent = true
        // libcurl 7.88 does not see the end of an HTTP/2 stream that the server ended first.
        if isUpgraded || head.size > 0 { loop.closing.append(self) }
    }

    /// Returns false for a request that libcurl would send again, so that the body is not repeated.
    func rewind() -> Bool {
        sendTime == 0 || refuseRepeat()
    }
}
#endif
