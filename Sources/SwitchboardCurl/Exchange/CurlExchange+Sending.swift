#if os(Linux)
import SwitchboardCurlC
import Foundation

/// What libcurl's callbacks ask while it connects and sends: under the poller's lock.
extension CurlExchange {
    /// Hears that a name is about to be looked up, or a socket to be connected; false ends the transfer.
    func willConnect() -> Bool {
        guard sendTime == 0 else { return refuseRepeat() }
        if deadlines.beginConnecting(now: DispatchTime.now().uptimeNanoseconds) { loop.noteDeadline(of: self) }
        return true
    }

    /// Hears that a connection stands and the request is about to go out; false ends the transfer.
    ///
    /// libcurl would send a request again and again when kept-alive connections turn out dead, and answer a 417 with the
    /// same request without its `Expect`. Here it sends once: a repeat is an exchange of its own.
    func willSend() -> Bool {
        sendTime == 0 ? didSend() : refuseRepeat()
    }

    /// Notes that the head goes out, or has. What libcurl would do next needs a new connection, which is refused.
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
        // What libcurl would not have is the answer.
        isRepeatRefused = head.isComplete
        return isRepeatRefused ? false : refuse(.connectionDied(isKept: isOnKeptConnection))
    }

    func refuse(_ failure: CurlFailure) -> Bool {
        if self.failure == nil { self.failure = failure }
        return false
    }

    // MARK: The body

    /// The number of bytes written, or one of ``CurlAnswer``.
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
            return 0
        case .later:
            deadlines.isSendingPaused = true
            return CurlAnswer.pause
        case .failure(let failure):
            _ = refuse(failure)
            return CurlAnswer.abortReading
        }
    }

    /// Refuses to give the body once more, for a request that libcurl would send again.
    func rewind() -> Bool {
        sendTime == 0 || refuseRepeat()
    }
}
#endif
