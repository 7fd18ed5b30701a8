#if os(Linux)
import SwitchboardCurl
import Dispatch
import Foundation
import Synchronization

/// One request under way in a ``CurlSession``.
///
/// The caller prepares it and waits; from its start to its end it belongs to the loop, whose thread alone runs
/// libcurl's callbacks; whoever is first to answer it, the loop or the caller's cancellation, takes the continuation.
final class CurlExchange: @unchecked Sendable {  // `phase` decides who touches what; see above
    let request: NetworkRequest
    let handle: CurlHandle
    private let loop: CurlLoop
    private let body: (any CurlUpload)?
    let startDate = Date()
    let start = DispatchTime.now().uptimeNanoseconds

    // MARK: Answering

    private enum Phase {
        static let prepared = 0, waiting = 1, answered = 2, cancelled = 3
    }
    private let phase = Atomic<Int>(Phase.prepared)
    private var continuation: UnsafeContinuation<Answer, any Error>?

    /// What the caller gets: that the whole response is here, or its head with the rest to come.
    enum Answer {
        case whole
        case streaming(CurlDownload, ResponseHead)
    }

    // MARK: The loop's own

    /// The place among the loop's active exchanges; -1 while it is not active.
    var place = -1
    private var head = ResponseHead()
    private var collected = Data()
    private var download: CurlDownload?
    private(set) var received: Int64 = 0
    private var failure: NetworkError?
    private(set) var firstByte: UInt64 = 0
    private(set) var sendTime: UInt64 = 0  // of the head; 0 before
    private var isOnKeptConnection = false
    private var isRepeatRefused = false
    private var given: Int64 = 0
    private var isBodySent = false
    private(set) var figures = swcurl_figures()
    private(set) var remoteAddress: String?
    private(set) var end: UInt64 = 0

    private var deadlines: CurlDeadlines
    private let limits: ResponseLimits
    private let mayBeRepeated: Bool
    private let bodyLength: Int64?
    private let onBodySent: (@Sendable (Int64) -> Void)?
    /// Where `onBodySent` is called, and the answer given behind its last call: under no lock, and nobody else waits.
    private let sentQueue: DispatchQueue?

    init(_ request: NetworkRequest, _ handle: CurlHandle, _ loop: CurlLoop, body: (any CurlUpload)?) {
        self.request = request
        self.handle = handle
        self.loop = loop
        self.body = body
        deadlines = CurlDeadlines(request.timeouts, start: start)
        limits = request.limits
        onBodySent = body == nil ? nil : request.options.onBodySent
        sentQueue = onBodySent == nil ? nil : DispatchQueue(label: "Switchboard.CurlSession.bodySent")
        mayBeRepeated = request.mayBeRepeated
        bodyLength = request.body.length
        handle.limitConnecting(to: deadlines.waitToConnect(now: start))
    }

    // MARK: Beginning and ending

    /// Takes the continuation; false when the exchange was cancelled before, and is over.
    func begin(_ continuation: UnsafeContinuation<Answer, any Error>) -> Bool {
        self.continuation = continuation
        let (isFirst, _) = phase.compareExchange(
            expected: Phase.prepared, desired: Phase.waiting, ordering: .acquiringAndReleasing)
        if isFirst { body?.start(for: self) } else { continuation.resume(throwing: CancellationError()) }
        return isFirst
    }

    /// Whether nobody waits for the answer any more.
    var isAnswered: Bool { phase.load(ordering: .acquiring) >= Phase.answered }

    /// Ends with a `CancellationError` and closes the connection, from any thread.
    func cancel() {
        let before = phase.exchange(Phase.cancelled, ordering: .acquiringAndReleasing)
        guard before != Phase.prepared else { return }
        let waiting = before == Phase.waiting ? continuation : nil
        loop.submit(.stop(self))
        waiting?.resume(throwing: CancellationError())
    }

    private func answer(_ result: Result<Answer, any Error>) {
        let (isFirst, _) = phase.compareExchange(
            expected: Phase.waiting, desired: Phase.answered, ordering: .acquiringAndReleasing)
        guard isFirst, let continuation else { return }
        guard let sentQueue else { return continuation.resume(with: result) }
        sentQueue.async { continuation.resume(with: result) }
    }

    /// Calls the user's closure, off the loop's thread. After a cancellation it is not called.
    private func tellSent() {
        guard let sentQueue, let onBodySent else { return }
        sentQueue.async { [self, given] in
            if phase.load(ordering: .acquiring) != Phase.cancelled { onBodySent(given) }
        }
    }

    /// Takes what libcurl measured, while it still knows.
    func note(_ figures: swcurl_figures, remoteAddress: String?) {
        self.figures = figures
        self.figures.remote_address = nil  // libcurl's own memory
        self.remoteAddress = remoteAddress
        end = loop.now()
    }

    /// Ends on the loop's thread, once the handle is out of libcurl's hands.
    func end(_ code: Int32, _ message: String) {
        body?.stop()
        let code = isAnsweredEarly || isRepeatRefused || code == CurlError.tooManyRedirects ? 0 : code
        if code == 0, failure == nil, !head.isComplete {
            failure = NetworkError(
                .connectionLost, reason: "the connection was closed inside the head of the response")
        }
        let lost = [CurlError.framing, CurlError.gotNothing, CurlError.sendError, CurlError.receiveError]
        if failure == nil, isOnKeptConnection, head.size == 0, lost.contains(Int(code)) { failure = connectionDied }
        if code == 0, failure == nil {
            if let download {
                download.end(.success((head.trailers, metrics)))
            } else {
                answer(.success(.whole))
            }
        } else {
            fail(
                failure
                    ?? CurlError(code: Int(code), message: message).networkError(
                        isHeadComplete: head.isComplete, proxy: handle.proxy))
        }
    }

    /// Ends on the loop's thread with an error that carries what arrived.
    func fail(_ error: NetworkError) {
        body?.stop()
        var error = error.attributed(to: request)
        if head.isComplete { error = error.with(response(isWhole: false)) }
        if let download {
            download.end(.failure(error))
        } else {
            answer(.failure(error))
        }
    }

    /// Lets go of everything when the caller has gone.
    func didStop() {
        body?.stop()
        download?.end(.failure(NetworkError(.cancelled).attributed(to: request)))
    }

    /// What arrived. Read by the caller once it has its answer: to make fields of the lines is then its work.
    func response(isWhole: Bool) -> NetworkResponse {
        var response = NetworkResponse(head, body: collected, of: request)
        if isWhole {
            response.trailers = head.trailers
            response.metrics = metrics
        }
        return response
    }

    // MARK: Timeouts

    /// When it is over, in the nanoseconds of `DispatchTime`; `.max` for never.
    var deadline: UInt64 { deadlines.next(isReadingPaused: download?.isPaused == true) }

    /// What a deadline that has passed means; nil when it goes on.
    func timeoutError(now: UInt64) -> NetworkError? {
        let error = deadlines.failure(now: now)
        if error == nil { handle.limitConnecting(to: deadlines.waitToConnect(now: now)) }
        return error
    }

    func touch() {
        deadlines.lastSign = loop.now()
    }

    // MARK: libcurl's callbacks

    /// False ends the transfer.
    func didReceive(line: UnsafeBufferPointer<UInt8>) -> Bool {
        touch()
        let isHeadComplete = head.add(line)
        guard head.size <= limits.responseHeaders else {
            return refuse(
                NetworkError(
                    .headersTooLarge, reason: "limits.responseHeaders is \(limits.responseHeaders) bytes"))
        }
        return isHeadComplete ? didReceiveHead() : true
    }

    private func didReceiveHead() -> Bool {
        firstByte = deadlines.lastSign
        if let fault = head.fault { return refuse(fault) }
        if hasBody, head.hasUnknownEncoding ? !leaveEncoded() : head.isEncoded && request.repetition == .undecoded {
            return refuse(unknownEncoding)
        }
        if request.streams(head.status) {
            let download = CurlDownload()
            self.download = download
            answer(.success(.streaming(download, head)))
            return true
        }
        if isAnsweredEarly { loop.submit(.settle(self)) }
        guard let length = head.contentLength, hasBody else { return true }
        guard length <= Int64(limits.responseBody) else {
            return refuse(limits.bodyTooLarge("Content-Length announces \(length) bytes"))
        }
        collected.reserveCapacity(Int(min(length, 1 << 20)))
        return true
    }

    private var hasBody: Bool { request.method != .head && head.status != 204 && head.status != 304 }

    /// Makes libcurl deliver the body as it comes. From 8.5 on it is too late for that: the request is repeated, or
    /// libcurl reports the error.
    private func leaveEncoded() -> Bool {
        if CurlLibrary.decodesLate { handle.decodeContent(false) }
        return CurlLibrary.decodesLate || !mayBeRepeated || head.contentLength == 0
    }

    private var unknownEncoding: NetworkError {
        var error = NetworkError(.cannotDecodeResponse, reason: "its content encoding is unknown")
        error.repetition = mayBeRepeated ? .undecoded : nil
        return error
    }

    /// The number of bytes taken; less than all of them ends the transfer.
    func didReceive(body bytes: UnsafeRawBufferPointer) -> Int {
        touch()
        if let download {
            guard isRatioKept(received + Int64(bytes.count)) else { return 0 }
            switch download.offer(bytes) {
            case .full: return CurlAnswer.pause
            case .kept: break
            case .awaited: loop.deliverLater(self)
            }
            received += Int64(bytes.count)
            return bytes.count
        }
        received += Int64(bytes.count)
        guard isRatioKept(received) else { return 0 }
        guard collected.count + bytes.count <= limits.responseBody else {
            _ = refuse(limits.bodyTooLarge("more than \(collected.count) bytes arrived"))
            return 0
        }
        collected.append(contentsOf: bytes)
        if isAnsweredEarly { loop.submit(.settle(self)) }
        return bytes.count
    }

    /// Whether the server has refused the request, in an answer that is whole, before it had all of the body: nothing is
    /// gained by sending the rest ([RFC 9112 §9.5](https://www.rfc-editor.org/rfc/rfc9112#section-9.5)). libcurl goes on
    /// when the server closes the connection, and would report that in place of the answer.
    private var isAnsweredEarly: Bool {
        guard body != nil, !isBodySent, head.isComplete, head.status >= 300 else { return false }
        return head.status == 304 || !head.isEncoded && head.contentLength == received
    }

    private func isRatioKept(_ count: Int64) -> Bool {
        guard head.isEncoded, count > 1 << 20 else { return true }
        // libcurl counts what it has read before this piece; one buffer more may be under way.
        var compressed = max(0, swcurl_easy_downloaded(handle.easy)) + Int64(handle.receiveBuffer)
        if let length = head.contentLength { compressed = min(compressed, max(1, length)) }
        guard count / compressed >= limits.decompressionRatio else { return true }
        return refuse(
            NetworkError(
                .responseTooLarge,
                reason:
                    "it unpacks to more than \(limits.decompressionRatio) times its size (limits.decompressionRatio)"))
    }

    /// The number of bytes written, or one of ``CurlAnswer``.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        touch()
        switch body?.read(into: buffer) {
        case .bytes(let count)?:
            given += Int64(count)
            tellSent()
            isBodySent = given == bodyLength
            return count
        case .end?, nil:
            isBodySent = true
            return 0
        case .later?:
            deadlines.isSendingPaused = true
            return CurlAnswer.pause
        case .failure(let error)?:
            _ = refuse(error)
            return CurlAnswer.abortReading
        }
    }

    /// Refuses to give the body once more, for a request that libcurl would send again.
    func rewind() -> Bool {
        sendTime == 0 || refuseRepeat()
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

    /// Hears that a name is about to be looked up, or a socket to be connected; false ends the transfer.
    func willConnect() -> Bool {
        guard sendTime == 0 else { return refuseRepeat() }
        if deadlines.beginConnecting(now: DispatchTime.now().uptimeNanoseconds) { loop.noteDeadline(of: self) }
        return true
    }

    private func refuseRepeat() -> Bool {
        // What libcurl would not have is the answer.
        isRepeatRefused = head.isComplete
        return isRepeatRefused ? false : refuse(connectionDied)
    }

    private var connectionDied: NetworkError {
        let reason =
            isOnKeptConnection
            ? "the server closed the kept-alive connection before it answered"
            : "the server refused the stream before it answered"
        guard mayBeRepeated else {
            return NetworkError(.connectionLost, reason: reason + "; \(request.method) is not sent again")
        }
        var error = NetworkError(.connectionLost, reason: reason)
        error.repetition = isOnKeptConnection ? .onNewConnection : .afterRefusedStream
        return error
    }

    private func refuse(_ error: NetworkError) -> Bool {
        if failure == nil { failure = error }
        return false
    }

    /// Goes on after a pause, on the loop's thread. Gives libcurl's result code.
    func resume() -> Int32 {
        deadlines.isSendingPaused = false
        download?.didResume()
        touch()
        return swcurl_easy_pause(handle.easy, 0)
    }

    /// Gives a download's reader what has come.
    func deliver() {
        download?.deliver(for: self)
    }

    /// Asks the loop to go on, from any thread.
    func requestResume() {
        loop.submit(.resume(self))
    }
}
#endif
