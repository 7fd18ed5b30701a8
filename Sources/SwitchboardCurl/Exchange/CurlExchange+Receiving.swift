#if os(Linux)
import SwitchboardCurlC
import SwitchboardPlatform
import Foundation

/// Receiving, in libcurl's callbacks under the poller's lock.
extension CurlExchange {
    /// Receives a line of the head or a trailer. Returns false to end the transfer.
    func didReceive(line: UnsafeBufferPointer<UInt8>) -> Bool {
        recordActivity()
        let isHeadComplete = head.add(line)
        if CurlLibrary.readsFreedHeaders { handle.includesHead = head.isFirstFieldNext }
        guard head.size <= request.headLimit else { return refuse(.headTooLarge) }
        return isHeadComplete ? didReceiveHead() : true
    }

    private func didReceiveHead() -> Bool {
        firstByte = deadlines.lastActivity
        if let fault = head.fault { return refuse(fault) }
        guard prepareDecoder() else { return false }
        isUpgraded = request.isUpgrade && head.status == 101 && !head.isHTTP10
        // libcurl would wait for another head.
        if head.status == 101, !isUpgraded {
            return refuse(.unrequestedUpgrade(isHTTP10: head.isHTTP10))
        }
        if isUpgraded {
            deadlines.endAll()
            upgradedIndex = loop.upgraded.count
            loop.upgraded.append(self)
            loop.newlyUpgraded.append(self)
        } else if request.isUpgrade {
            upload?.startSending(to: -1)
            upload?.finish(nil)
        }
        if isStreamed {
            let pipe = BytePipe()
            self.pipe = pipe
            finish(with: .streaming(head, pipe))
        }
        if hasEarlyResponse {
            loop.submit(.finish(self))
        } else if upload != nil, isSendingUseless {
            // libcurl stops sending after this head, but a paused upload would never end.
            loop.submit(.resume(self))
        }
        guard pipe == nil, let length = head.contentLength, hasBody else { return true }
        guard length <= Int64(request.bodyLimit) else { return refuse(.bodyAnnouncedTooLarge(length)) }
        return true
    }

    private var isStreamed: Bool {
        request.isStreamed && ((200..<300).contains(head.status) || request.streamsEveryStatus) || isUpgraded
    }

    private var hasBody: Bool { request.method != "HEAD" && ![101, 204, 304].contains(head.status) }

    private func prepareDecoder() -> Bool {
        (decoder, decodedCount) = (nil, 0)
        guard hasBody else { return true }
        guard !head.hasUnaskedCoding else {
            return refuse(.libcurl(code: CurlCode.badEncoding, message: "Unrecognized content encoding type"))
        }
        guard head.isEncoded else { return true }
        do throws(DynamicLibrary.Failure) {
            decoder = try ContentDecoder(head.codings)
            return true
        } catch {
            return refuse(.undecodable(error.text))
        }
    }

    /// Whether coded data has begun and not ended. The part of a 206 ends anywhere in it, because a range counts coded bytes
    /// ([RFC 9110 §14.2](https://www.rfc-editor.org/rfc/rfc9110#section-14.2)).
    var isCodingTruncated: Bool {
        encodedCount > 0 && head.status != 206 && decoder?.isComplete == false
    }

    /// Receives a part of the body. Returns the number of bytes accepted; fewer than all of them end the transfer.
    func didReceive(body bytes: UnsafeRawBufferPointer) -> Int {
        burst = bytes.count + (deadlines.lastActivity == loop.now() ? burst : 0)
        if burst > handle.receiveBuffer / 2 { loop.startDraining(self) }
        recordActivity()
        if handle.includesHead {
            guard let first = bytes.first, first == 0x20 || first == 0x09 else { return bytes.count }
            _ = refuse(.headStartsFolded)
            return 0
        }
        let result = if let decoder { decode(bytes, decoder) } else { take(bytes) }
        guard result == bytes.count else { return result }
        encodedCount += Int64(bytes.count)
        if hasEarlyResponse { loop.submit(.finish(self)) }
        return result
    }

    /// Decodes a part of the body. Returns the number of bytes accepted, as ``take(_:)``.
    private func decode(_ bytes: UnsafeRawBufferPointer, _ decoder: ContentDecoder) -> Int {
        decoder.feed(UnsafeRawBufferPointer(rebasing: bytes[decodedCount...]))
        while true {
            if pipe?.pauseIfFull() == true {
                decodedCount = bytes.count - decoder.unread
                loop.startDraining(self)
                return CurlCallbackResult.pause
            }
            do throws(DynamicLibrary.Failure) {
                guard let piece = try decoder.next() else {
                    decodedCount = 0
                    return bytes.count
                }
                // A few bytes may decode to gigabytes.
                guard !isCancelled, take(piece) == piece.count else { return 0 }
            } catch {
                _ = refuse(.undecodable(error.text))
                return 0
            }
        }
    }

    /// Takes a part of the decoded body. Returns its number of bytes, or fewer to end or pause the transfer.
    private func take(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard isRatioAllowed(received + Int64(bytes.count)) else { return 0 }
        if let pipe {
            if let rest = isUpgraded ? pipe.passToReceiver(bytes) : bytes {
                switch pipe.offer(rest) {
                case .full:
                    if isUpgraded { loop.observeEnd(of: self) } else { loop.startDraining(self) }
                    return CurlCallbackResult.pause
                case .buffered, .failed: break
                case .awaited: loop.deliveries.append(self)
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
        return bytes.count
    }

    /// Whether libcurl has received bytes since the loop last read the connection again. False after the end.
    var hasUnread: Bool { activeIndex >= 0 && swcurl_easy_downloaded(handle.easy) != drainedCount }

    /// Appends a part of the body. A body that arrives in one part is copied into a buffer of its size.
    private func appendBody(_ bytes: UnsafeRawBufferPointer) {
        if body.isEmpty {
            guard let length = head.contentLength, length > bytes.count else { return body = Data(bytes) }
            body.reserveCapacity(Int(min(length, 1 << 20)))
        }
        body.append(contentsOf: bytes)
    }

    /// Whether the server has begun an error response before it received the whole body. Sending the rest is then useless
    /// ([RFC 9112 §9.5](https://www.rfc-editor.org/rfc/rfc9112#section-9.5)).
    var isSendingUseless: Bool {
        head.status >= 300 && head.isComplete && !isBodySent && request.bodyLength != nil
    }

    /// Whether such a response is complete. libcurl continues when the server closes the connection, and would report
    /// that instead of the response.
    var hasEarlyResponse: Bool {
        isSendingUseless && (head.status == 304 || head.contentLength == encodedCount)
    }

    /// Whether libcurl could not send the rest of the body because the server has ended the stream without an error
    /// ([RFC 9113 §8.1](https://www.rfc-editor.org/rfc/rfc9113#section-8.1)). libcurl has no message for that.
    func isStreamClosed(_ code: Int32) -> Bool { code == CurlCode.stream && !handle.hasMessage }

    /// Whether the response was complete before the body was sent. From 8.1 on, libcurl fails then at the end of an HTTP/2
    /// stream, without a message.
    func isAnswered(_ code: Int32) -> Bool {
        code == CurlCode.sendError && !handle.hasMessage && head.isComplete && head.contentLength == encodedCount
    }

    /// Whether the body has the length of its `Content-Length`.
    var hasAnnouncedLength: Bool { !hasBody || head.contentLength.map { $0 == encodedCount } ?? true }

    private func isRatioAllowed(_ count: Int64) -> Bool {
        guard decoder != nil, count > 1 << 20 else { return true }
        // libcurl counts the bytes it read before this piece. One more buffer may be in flight.
        var compressed = max(0, swcurl_easy_downloaded(handle.easy)) + Int64(handle.receiveBuffer)
        if let length = head.contentLength { compressed = min(compressed, max(1, length)) }
        let (limit, isUnlimited) = compressed.multipliedReportingOverflow(by: Int64(request.ratioLimit))
        return isUnlimited || count <= limit || refuse(.ratioTooLarge)
    }
}
#endif
