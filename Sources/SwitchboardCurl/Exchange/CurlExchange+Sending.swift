#if os(Linux)
import SwitchboardCurlC
import Foundation

/// The part of an exchange that connects and sends in libcurl's callbacks, under the poller's lock.
extension CurlExchange {
    /// Runs before a name lookup and before a socket connects. Returns false to end the transfer.
    func willConnect() -> Bool {
        guard sendTime == 0 else { return refuseRepeat() }
        if deadlines.beginConnecting(now: DispatchTime.now().uptimeNanoseconds) { loop.noteDeadline(of: self) }
        return true
    }

    /// Runs when a connection exists, before the request is sent. Returns false to end the transfer.
    ///
    /// libcurl would resend a request as long as kept-alive connections turn out dead, and would repeat it without
    /// `Expect` after a 417. The exchange sends only once: a repetition is a separate exchange.
    func willSend() -> Bool {
        sendTime == 0 ? didSend() : refuseRepeat()
    }

    /// Records that the head is sent now, or was sent. After that, libcurl could only repeat the request on a new
    /// connection, which is refused.
    func didSend() -> Bool {
        touch()
        guard sendTime == 0 else { return true }
        sendTime = deadlines.lastSign
        deadlines.endConnecting()
        isOnKeptConnection = swcurl_easy_connects(handle.easy) == 0
        handle.avoidKeptConnections(true)
        return true
    }

    private func refuseRepeat() -> Bool {
        // The response that libcurl would discard is the answer.
        isRepeatRefused = head.isComplete
        return isRepeatRefused ? false : refuse(.connectionDied(isKept: isOnKeptConnection))
    }

    func refuse(_ failure: CurlFailure) -> Bool {
        if self.failure == nil { self.failure = failure }
        return false
    }

    // MARK: The body

    /// Writes the next bytes of the body. Returns their number, or one of ``CurlAnswer``.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        touch()
        let piece: CurlUpload.Piece
        if let upload {
            piece = upload.read(into: buffer)
        } else if case .data(let data) = request.body, given < data.count {
            let start = data.startIndex + Int(given)
            let count = min(buffer.count, data.endIndex - start)
            data.copyBytes(to: buffer, from: start..<start + count)
            piece = .bytes(count)
        } else {
            piece = .end
        }
        switch piece {
        case .bytes(let count):
            given += Int64(count)
            tellSent()
            isBodySent = given == request.bodyLength
            return count
        case .end:
            isBodySent = true
            if isUpgraded { loop.closing.append(self) }
            return 0
        case .later:
            // The upload of an upgrade waits for the server's 101, not for this process.
            deadlines.isSendingPaused = !request.isUpgrade
            return CurlAnswer.pause
        case .failure(let failure):
            _ = refuse(failure)
            return CurlAnswer.abortReading
        }
    }

    /// Returns false for a request that libcurl would send again, so that the body is not repeated.
    func rewind() -> Bool {
        sendTime == 0 || refuseRepeat()
    }
}
#endif
