#if os(Linux)
import SwitchboardCurlC
import SwitchboardPlatform
import Foundation

/// The part of an exchange that receives a response from libcurl's callbacks, under the poller's lock.
extension CurlExchange {
    /// Receives a line of the head or a trailer. Returns false to end the transfer.
    func didReceive(line: UnsafeBufferPointer<UInt8>) -> Bool {
        touch()
        let isHeadComplete = head.add(line)
        if CurlLibrary.readsFreedHeaders { handle.showHead(head.isFirstFieldNext) }
        guard head.size <= request.headLimit else { return refuse(.headTooLarge) }
        return isHeadComplete ? didReceiveHead() : true
    }

    private func didReceiveHead() -> Bool {
        firstByte = deadlines.lastActivity
        if let fault = head.fault { return refuse(fault) }
        if hasBody, head.hasUnknownEncoding ? !leaveEncoded() : head.isEncoded && !request.decodesBody {
            return refuse(.unknownEncoding)
        }
        isUpgraded = request.isUpgrade && head.status == 101
        // libcurl would wait for another head.
        if head.status == 101, !isUpgraded || head.isOld { return refuse(.unrequestedUpgrade(isOld: head.isOld)) }
        if isUpgraded {
            deadlines.endAll()
            loop.upgraded += 1
            loop.takeOverLater(self)
        } else if request.isUpgrade {
            upload?.release(to: -1)
            upload?.finish(nil)
        }
        if request.isStreamed && (200..<300).contains(head.status) || isUpgraded {
            let pipe = BytePipe()
            self.pipe = pipe
            answer(.streaming(head, pipe))
            return true
        }
        if isAnsweredEarly { loop.submit(.settle(self)) }
        guard let length = head.contentLength, hasBody else { return true }
        guard length <= Int64(request.bodyLimit) else { return refuse(.bodyAnnouncedTooLarge(length)) }
        return true
    }

    private var hasBody: Bool { request.method != "HEAD" && head.status != 204 && head.status != 304 }

    /// Makes libcurl deliver the body without decoding. From 8.5 on, it is too late for that: the request is repeated,
    /// or libcurl reports the error.
    private func leaveEncoded() -> Bool {
        if CurlLibrary.decodesLate { handle.decodeContent(false) }
        return CurlLibrary.decodesLate || !request.mayBeRepeated || head.contentLength == 0
    }

    /// Receives a part of the body. Returns the number of bytes accepted; fewer than all of them end the transfer.
    func didReceive(body bytes: UnsafeRawBufferPointer) -> Int {
        touch()
        if handle.showsHead {
            guard let first = bytes.first, first == 0x20 || first == 0x09 else { return bytes.count }
            _ = refuse(.headBeginsFolded)
            return 0
        }
        guard isRatioKept(received + Int64(bytes.count)) else { return 0 }
        if let pipe {
            if let rest = isUpgraded ? pipe.pass(bytes) : bytes {
                switch pipe.offer(rest) {
                case .full:
                    if isUpgraded { loop.awaitEnd(of: self) }
                    return CurlAnswer.pause
                case .buffered, .failed: break
                case .awaited: loop.deliverLater(self)
                }
            }
            received += Int64(bytes.count)
            if isUpgraded, isBodySent { loop.closing.append(self) }
            return bytes.count
        }
        received += Int64(bytes.count)
        guard body.count + bytes.count <= request.bodyLimit else {
            _ = refuse(.bodyTooLarge(body.count))
            return 0
        }
        appendBody(bytes)
        if isAnsweredEarly { loop.submit(.settle(self)) }
        return bytes.count
    }

    /// Appends a part of the body. A body that arrives in one part is copied into a buffer of its size.
    private func appendBody(_ bytes: UnsafeRawBufferPointer) {
        if body.isEmpty {
            guard let length = head.contentLength, length > bytes.count else { return body = Data(bytes) }
            body.reserveCapacity(Int(min(length, 1 << 20)))
        }
        body.append(contentsOf: bytes)
    }

    /// Whether the server has rejected the request with a complete response before it received the whole body. Sending
    /// the rest is then useless ([RFC 9112 §9.5](https://www.rfc-editor.org/rfc/rfc9112#section-9.5)). libcurl
    /// continues when the server closes the connection, and would report that instead of the response.
    var isAnsweredEarly: Bool {
        guard head.status >= 300, head.isComplete, !isBodySent, request.bodyLength != nil else { return false }
        return head.status == 304 || !head.isEncoded && head.contentLength == received
    }

    /// Whether libcurl could not send the rest of the body because the server has ended the stream without an error
    /// ([RFC 9113 §8.1](https://www.rfc-editor.org/rfc/rfc9113#section-8.1)). libcurl has no message for that.
    func isStreamClosed(_ code: Int32) -> Bool { code == CurlCode.stream && !handle.hasMessage }

    /// Whether as many bytes of the body arrived as the head announces. The received bytes of an encoded one are decoded.
    var hasAnnouncedLength: Bool {
        !hasBody || head.isEncoded || head.contentLength.map { $0 == received } ?? true
    }

    private func isRatioKept(_ count: Int64) -> Bool {
        guard head.isEncoded, count > 1 << 20 else { return true }
        // libcurl counts the bytes it read before this piece. One more buffer may be in flight.
        var compressed = max(0, swcurl_easy_downloaded(handle.easy)) + Int64(handle.receiveBuffer)
        if let length = head.contentLength { compressed = min(compressed, max(1, length)) }
        return count / compressed < request.ratioLimit || refuse(.ratioTooLarge)
    }
}
#endif
