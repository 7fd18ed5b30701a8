#if os(Linux)
import SwitchboardCurlC
import SwitchboardPlatform
import Foundation
import Synchronization

/// One request and its response, over a ``CurlLoop``.
///
/// The caller makes it, awaits ``run()``, and reads what came. From its start to its end it belongs to the loop, whose
/// thread alone runs libcurl's callbacks; whoever is first to answer it, the loop or the caller's cancellation, takes the
/// continuation.
package final class CurlExchange: @unchecked Sendable {  // `phase` decides who touches what; see above
    let request: CurlRequest
    let handle: CurlHandle
    private let loop: CurlLoop
    private let upload: CurlUpload?
    let startDate = Date()
    let start = DispatchTime.now().uptimeNanoseconds

    // MARK: Answering

    private enum Phase {
        static let prepared = 0, waiting = 1, answered = 2, cancelled = 3
    }
    private let phase = Atomic<Int>(Phase.prepared)
    private var continuation: UnsafeContinuation<Answer, Never>?

    /// What the caller gets.
    package enum Answer: Sendable {
        /// The whole response is here.
        case whole
        /// The head is here, and the rest comes through the pipe.
        case streaming(CurlHead, BytePipe)
        case failed(CurlFailure)
        case cancelled
    }

    // MARK: The loop's own

    /// The place among the loop's active exchanges; -1 while it is not active.
    var place = -1
    /// What arrived. For the caller once it has its answer.
    package private(set) var head = CurlHead()
    package private(set) var body = Data()
    private var pipe: BytePipe?
    private(set) var received: Int64 = 0
    private var failure: CurlFailure?
    private(set) var firstByte: UInt64 = 0
    private(set) var sendTime: UInt64 = 0  // of the head; 0 before
    private var isOnKeptConnection = false
    private var isRepeatRefused = false
    private var given: Int64 = 0
    private var isBodySent = false
    private(set) var measured = swcurl_figures()
    private(set) var remoteAddress: String?
    private(set) var end: UInt64 = 0
    private var deadlines: CurlDeadlines
    /// Where `onBodySent` is called, and the answer given behind its last call: under no lock, and nobody else waits.
    private let sentQueue: DispatchQueue?

    /// Takes a handle and sets what the request needs; `eachField` calls its closure with the header fields, without
    /// `Content-Length`, and may be asked twice.
    package init(
        _ request: CurlRequest, over loop: CurlLoop,
        eachField: (_ body: (_ name: String, _ value: String) -> Void) -> Void
    ) throws(CurlFailure) {
        self.request = request
        self.loop = loop
        handle = try loop.takeHandle()
        deadlines = CurlDeadlines(request, start: start)
        upload = if case .stream(let length, _) = request.body { CurlUpload(length: length) } else { nil }
        sentQueue =
            request.onBodySent == nil ? nil : DispatchQueue(label: "Switchboard.CurlSession.bodySent")
        handle.prepare(request, eachField: eachField)
        handle.limitConnecting(to: deadlines.waitToConnect(now: start))
    }

    // MARK: Beginning and ending

    /// Sends the request and waits for the answer. Once.
    package func run() async -> Answer {
        let answer = await withUnsafeContinuation { continuation in
            guard begin(continuation), !loop.submit(.start(self)) else { return }
            fail(.closed)
        }
        // What the loop wrote before its answer is seen after this. The continuation sees to that too, but not for the
        // thread sanitizer where it is resumed before the caller has gone to sleep.
        _ = isAnswered
        return answer
    }

    /// Takes the continuation; false when the exchange was cancelled before, and is over.
    private func begin(_ continuation: UnsafeContinuation<Answer, Never>) -> Bool {
        self.continuation = continuation
        let (isFirst, _) = phase.compareExchange(
            expected: Phase.prepared, desired: Phase.waiting, ordering: .acquiringAndReleasing)
        guard isFirst else {
            continuation.resume(returning: .cancelled)
            return false
        }
        if case .stream(_, let pump) = request.body { upload?.start(pump, for: self) }
        return true
    }

    /// Whether nobody waits for the answer any more.
    var isAnswered: Bool { phase.load(ordering: .acquiring) >= Phase.answered }

    /// Ends as cancelled and closes the connection, from any thread.
    package func cancel() {
        let before = phase.exchange(Phase.cancelled, ordering: .acquiringAndReleasing)
        guard before != Phase.prepared else { return }
        let waiting = before == Phase.waiting ? continuation : nil
        loop.submit(.stop(self))
        waiting?.resume(returning: .cancelled)
    }

    private func answer(_ answer: Answer) {
        let (isFirst, _) = phase.compareExchange(
            expected: Phase.waiting, desired: Phase.answered, ordering: .acquiringAndReleasing)
        guard isFirst, let continuation else { return }
        guard let sentQueue else { return continuation.resume(returning: answer) }
        sentQueue.async { continuation.resume(returning: answer) }
    }

    /// Calls the user's closure, off the loop's thread. After a cancellation it is not called.
    private func tellSent() {
        guard let sentQueue, let onBodySent = request.onBodySent else { return }
        sentQueue.async { [self, given] in
            if phase.load(ordering: .acquiring) != Phase.cancelled { onBodySent(given) }
        }
    }

    /// Takes what libcurl measured, while it still knows.
    func note(_ measured: swcurl_figures, remoteAddress: String?) {
        self.measured = measured
        self.measured.remote_address = nil  // libcurl's own memory
        self.remoteAddress = remoteAddress
        end = loop.now()
    }

    /// Ends on the loop's thread, once the handle is out of libcurl's hands.
    func end(_ code: Int32, _ message: String) {
        let code = isAnsweredEarly || isRepeatRefused || code == CurlCode.tooManyRedirects ? 0 : code
        if code == 0, failure == nil, !head.isComplete { failure = .headCutOff }
        let lost = [CurlCode.framing, CurlCode.gotNothing, CurlCode.sendError, CurlCode.receiveError]
        if failure == nil, isOnKeptConnection, head.size == 0, lost.contains(code) {
            failure = .connectionDied(isKept: true)
        }
        if let failure { return fail(failure) }
        guard code == 0 else { return fail(.libcurl(code: code, message: message)) }
        upload?.stop()
        if let pipe { pipe.end(nil) } else { answer(.whole) }
    }

    /// Ends without a whole response.
    func fail(_ failure: CurlFailure) {
        upload?.stop()
        if let pipe { pipe.end(failure) } else { answer(.failed(failure)) }
    }

    /// Lets go of everything when the caller has gone.
    func didStop() {
        upload?.stop()
        pipe?.end(CurlFailure.cancelled)
    }

    // MARK: Time

    /// When it is over, in the nanoseconds of `DispatchTime`; `.max` for never.
    var deadline: UInt64 { deadlines.next(isReadingPaused: pipe?.isPaused == true) }

    /// What a deadline that has passed means; nil when it goes on.
    func timeout(now: UInt64) -> CurlFailure? {
        let failure = deadlines.failure(now: now)
        if failure == nil { handle.limitConnecting(to: deadlines.waitToConnect(now: now)) }
        return failure
    }

    private func touch() {
        deadlines.lastSign = loop.now()
    }

    // MARK: libcurl's callbacks: connecting

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

    private func refuse(_ failure: CurlFailure) -> Bool {
        if self.failure == nil { self.failure = failure }
        return false
    }

    // MARK: libcurl's callbacks: sending

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

    // MARK: libcurl's callbacks: receiving

    /// False ends the transfer.
    func didReceive(line: UnsafeBufferPointer<UInt8>) -> Bool {
        touch()
        let isHeadComplete = head.add(line)
        guard head.size <= request.headLimit else { return refuse(.headTooLarge) }
        return isHeadComplete ? didReceiveHead() : true
    }

    private func didReceiveHead() -> Bool {
        firstByte = deadlines.lastSign
        if let fault = head.fault { return refuse(fault) }
        if hasBody, head.hasUnknownEncoding ? !leaveEncoded() : head.isEncoded && !request.decodesBody {
            return refuse(.unknownEncoding)
        }
        if request.isStreamed, (200..<300).contains(head.status) {
            let pipe = BytePipe()
            self.pipe = pipe
            answer(.streaming(head, pipe))
            return true
        }
        if isAnsweredEarly { loop.submit(.settle(self)) }
        guard let length = head.contentLength, hasBody else { return true }
        guard length <= Int64(request.bodyLimit) else { return refuse(.bodyAnnouncedTooLarge(length)) }
        body.reserveCapacity(Int(min(length, 1 << 20)))
        return true
    }

    private var hasBody: Bool { request.method != "HEAD" && head.status != 204 && head.status != 304 }

    /// Makes libcurl deliver the body as it comes. From 8.5 on it is too late for that: the request is repeated, or
    /// libcurl reports the error.
    private func leaveEncoded() -> Bool {
        if CurlLibrary.decodesLate { handle.decodeContent(false) }
        return CurlLibrary.decodesLate || !request.mayBeRepeated || head.contentLength == 0
    }

    /// The number of bytes taken; less than all of them ends the transfer.
    func didReceive(body bytes: UnsafeRawBufferPointer) -> Int {
        touch()
        guard isRatioKept(received + Int64(bytes.count)) else { return 0 }
        if let pipe {
            switch pipe.offer(bytes) {
            case .full: return CurlAnswer.pause
            case .kept, .failed: break
            case .awaited: loop.deliverLater(self)
            }
            received += Int64(bytes.count)
            return bytes.count
        }
        received += Int64(bytes.count)
        guard body.count + bytes.count <= request.bodyLimit else {
            _ = refuse(.bodyTooLarge(body.count))
            return 0
        }
        body.append(contentsOf: bytes)
        if isAnsweredEarly { loop.submit(.settle(self)) }
        return bytes.count
    }

    /// Whether the server has refused the request, in an answer that is whole, before it had all of the body: nothing is
    /// gained by sending the rest ([RFC 9112 §9.5](https://www.rfc-editor.org/rfc/rfc9112#section-9.5)). libcurl goes on
    /// when the server closes the connection, and would report that in place of the answer.
    private var isAnsweredEarly: Bool {
        guard head.status >= 300, head.isComplete, !isBodySent, request.bodyLength != nil else { return false }
        return head.status == 304 || !head.isEncoded && head.contentLength == received
    }

    private func isRatioKept(_ count: Int64) -> Bool {
        guard head.isEncoded, count > 1 << 20 else { return true }
        // libcurl counts what it has read before this piece; one buffer more may be under way.
        var compressed = max(0, swcurl_easy_downloaded(handle.easy)) + Int64(handle.receiveBuffer)
        if let length = head.contentLength { compressed = min(compressed, max(1, length)) }
        return count / compressed < request.ratioLimit || refuse(.ratioTooLarge)
    }

    // MARK: Pausing

    /// Goes on after a pause, on the loop's thread. Gives libcurl's result code.
    func resume() -> Int32 {
        deadlines.isSendingPaused = false
        pipe?.didResume()
        touch()
        return swcurl_easy_pause(handle.easy, 0)
    }

    /// Gives the reader what has come.
    func deliver() {
        pipe?.deliver(resume: requestResume)
    }

    /// Asks the loop to go on, from any thread.
    package func requestResume() {
        loop.submit(.resume(self))
    }
}
#endif
