#if os(Linux)
import SwitchboardCurlC
import SwitchboardPlatform
import Foundation
import Synchronization

/// One request and its response over a ``CurlLoop``.
///
/// The caller creates it, awaits ``run()``, and reads the response. From its start to its end it belongs to the loop,
/// and only the holder of the poller's lock runs libcurl's callbacks: the loop's thread, or a caller. The loop's
/// outcome or the caller's cancellation resumes the continuation, whichever is first.
package final class CurlExchange: @unchecked Sendable {  // `phase` decides who may access the state
    let request: CurlRequest
    let loop: CurlLoop
    let upload: CurlUpload?
    package let startDate = Date()
    let startTime = DispatchTime.now().uptimeNanoseconds

    // MARK: The outcome

    private enum Phase {
        static let prepared = 0, waiting = 1, finished = 2, cancelled = 3
    }
    private let phase = Atomic<Int>(Phase.prepared)
    private var continuation: UnsafeContinuation<Outcome, Never>?

    /// The result of an exchange.
    package enum Outcome: Sendable {
        case complete
        /// The head is complete, and the body arrives through the pipe.
        case streaming(CurlHead, BytePipe)
        case failed(CurlFailure)
        case cancelled
    }

    // MARK: State of the loop
    //
    // The holder of the poller's lock uses these properties. The caller uses them before it submits the exchange and
    // after its outcome. No callback of libcurl runs within another one of the same exchange. So exclusivity checks
    // would find nothing, and each line of a head would pay for several of them.

    /// The handle. Nil while the exchange waits in a ``CurlQueue``.
    @exclusivity(unchecked) private(set) var handle: CurlHandle!
    /// The header fields, until the handle has them.
    private var fields: [(name: String, value: String)] = []
    /// The queue in which the exchange has waited, if any.
    @exclusivity(unchecked) var queue: CurlQueue?
    @exclusivity(unchecked) var queueIndex = -1
    /// Whether libcurl has the exchange, or had it.
    @exclusivity(unchecked) var isHandedOver = false
    /// Whether the loop counts the handle.
    @exclusivity(unchecked) private var isCounted = false
    /// The index among the loop's active exchanges, or -1 while the exchange is not active.
    @exclusivity(unchecked) var activeIndex = -1
    /// The received parts of the response. The caller reads them after the outcome.
    @exclusivity(unchecked) package internal(set) var head = CurlHead()
    @exclusivity(unchecked) package internal(set) var body = Data()
    @exclusivity(unchecked) var pipe: BytePipe?
    /// The number of bytes of the decoded body.
    @exclusivity(unchecked) package internal(set) var received: Int64 = 0
    /// The number of bytes of the body as it was sent.
    @exclusivity(unchecked) var encodedCount: Int64 = 0
    @exclusivity(unchecked) var decoder: ContentDecoder?
    /// The number of bytes that were decoded of those that libcurl passes again after a pause.
    @exclusivity(unchecked) var decodedCount = 0
    /// The bytes of the body that arrived in one pass of the loop.
    @exclusivity(unchecked) var burst = 0
    /// libcurl's count of received bytes when the loop last read the connection again. Nil while it need not.
    @exclusivity(unchecked) var drainedCount: Int64?
    @exclusivity(unchecked) var failure: CurlFailure?
    @exclusivity(unchecked) var firstByte: UInt64 = 0
    @exclusivity(unchecked) var sendTime: UInt64 = 0  // of the head, 0 before
    /// The time since which the connection was dead when another exchange on it timed out, or 0.
    @exclusivity(unchecked) var deadSince: UInt64 = 0
    @exclusivity(unchecked) var isOnReusedConnection = false
    @exclusivity(unchecked) var isRepeatRefused = false
    /// The number of the HTTP/2 stream, or 0 while the exchange does not watch it.
    @exclusivity(unchecked) var stream: Int64 = 0
    /// The index among the exchanges that the loop watches later, or -1.
    @exclusivity(unchecked) var unwatchedIndex = -1
    /// Whether the server's GOAWAY excludes the stream.
    @exclusivity(unchecked) var isExcluded = false
    @exclusivity(unchecked) var sentCount: Int64 = 0
    @exclusivity(unchecked) var isBodySent = false
    /// The bytes that the server had acknowledged on the connection, and those of the body that libcurl had sent, when
    /// the last idle deadline passed.
    @exclusivity(unchecked) private var acknowledgedCount: Int64 = 0
    @exclusivity(unchecked) private var uploadedCount: Int64 = 0
    /// Whether the system had bytes of the connection that were not acknowledged then.
    @exclusivity(unchecked) private var wasQueued = false
    /// The number of requests that the loop had sent then.
    @exclusivity(unchecked) private var sendCount = 0
    /// Whether the server has sent the 101, so that another protocol uses the connection.
    @exclusivity(unchecked) var isUpgraded = false
    /// The index among the loop's upgraded exchanges, or -1.
    @exclusivity(unchecked) var upgradedIndex = -1
    /// The socket from which libcurl last read for the upgraded exchange, or -1.
    @exclusivity(unchecked) var readSocket: Int32 = -1
    /// The socket of an upgraded connection that this exchange has taken from libcurl, or -1.
    @exclusivity(unchecked) var socket: Int32 = -1
    var ownsSocket: Bool { socket >= 0 }
    /// The socket of libcurl whose end the poller reports while the exchange is paused, or -1.
    @exclusivity(unchecked) var observedSocket: Int32 = -1
    /// Whether the pipe is full.
    @exclusivity(unchecked) var isFull = false
    /// Whether the socket accepts bytes.
    @exclusivity(unchecked) var flow = CurlUpload.Flow.ready
    @exclusivity(unchecked) private(set) var info = swcurl_info()
    @exclusivity(unchecked) package private(set) var remoteAddress: String?
    @exclusivity(unchecked) private(set) var endTime: UInt64 = 0
    @exclusivity(unchecked) var deadlines: CurlDeadlines
    /// The queue that calls `onBodySent` and then resumes the caller, without blocking the loop. The queue holds the lock
    /// while it resumes the caller: see ``run()``. Nil without `onBodySent`.
    private let sentReports: (queue: DispatchQueue, resumption: Protected<Bool>)?

    /// Takes a handle and configures it for the request, unless the loop is crowded. `eachField` calls its closure with
    /// the header fields, without `Content-Length`, and may be called twice.
    package init(
        _ request: consuming CurlRequest, over loop: CurlLoop,
        eachField: (_ body: (_ name: String, _ value: String) -> Void) -> Void
    ) throws(CurlFailure) {
        self.request = request
        self.loop = loop
        deadlines = CurlDeadlines(self.request, start: startTime)
        upload =
            if case .stream(let length, _) = self.request.body {
                CurlUpload(
                    length: length, isUpgrade: self.request.isUpgrade, isPlain: loop.isPlain(self.request),
                    onConfirm: self.request.onConfirm)
            } else {
                nil
            }
        sentReports =
            self.request.onBodySent == nil
            ? nil : (DispatchQueue(label: "Switchboard.CurlSession.bodySent"), Protected(false))
        if loop.isCrowded(for: self.request) {
            eachField { fields.append(($0, $1)) }
        } else {
            try takeHandle(at: startTime, eachField)
        }
    }

    private func takeHandle(
        at now: UInt64, _ eachField: (_ body: (_ name: String, _ value: String) -> Void) -> Void
    ) throws(CurlFailure) {
        let handle = try loop.takeHandle()
        if !request.isUpgrade {
            isCounted = true
            loop.handleCount.add(1, ordering: .relaxed)
        }
        try handle.prepare(request, eachField: eachField)
        handle.limitConnecting(to: deadlines.waitToConnect(now: now))
        self.handle = handle
    }

    /// Takes a handle after a wait, under the poller's lock.
    func takeHandle() throws(CurlFailure) {
        guard handle == nil else { return }
        try takeHandle(at: DispatchTime.now().uptimeNanoseconds) { body in
            for field in fields { body(field.name, field.value) }
        }
        fields = []
    }

    deinit {
        uncount()
    }

    /// Ends the count of the handle, before another exchange may take it.
    func uncount() {
        guard isCounted else { return }
        isCounted = false
        loop.handleCount.subtract(1, ordering: .relaxed)
    }

    // MARK: Beginning and ending

    /// Sends the request and waits for the outcome. Call it once.
    package func run() async -> Outcome {
        let outcome = await withUnsafeContinuation { continuation in
            guard begin(continuation), !loop.submit(.start(self)) else { return }
            fail(.closed)
        }
        // Makes the loop's earlier writes visible here. The continuation does so too, but the thread sanitizer does not
        // detect that if it resumes before the caller suspends.
        _ = isFinished
        // Does the same for the queue. The queue's block continues after it stores the phase, so only a lock orders the
        // block and this task.
        sentReports?.resumption.withLock { _ in }
        return outcome
    }

    /// Stores the continuation. Returns false if the exchange was already canceled.
    private func begin(_ continuation: UnsafeContinuation<Outcome, Never>) -> Bool {
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

    /// Whether the caller no longer waits for the outcome.
    var isFinished: Bool { phase.load(ordering: .acquiring) >= Phase.finished }

    var isCancelled: Bool { phase.load(ordering: .acquiring) == Phase.cancelled }

    /// Cancels the exchange from any thread, and lets the loop close its connection.
    package func cancel() {
        let before = phase.exchange(Phase.cancelled, ordering: .acquiringAndReleasing)
        guard before != Phase.prepared else { return }
        let waiting = before == Phase.waiting ? continuation : nil
        loop.submit(.stop(self))
        waiting?.resume(returning: .cancelled)
    }

    /// Resumes the caller with the outcome, unless the exchange was canceled.
    func finish(with outcome: Outcome) {
        let (isFirst, _) = phase.compareExchange(
            expected: Phase.waiting, desired: Phase.finished, ordering: .acquiringAndReleasing)
        guard isFirst, let continuation else { return }
        guard let sentReports else { return continuation.resume(returning: outcome) }
        sentReports.queue.async { sentReports.resumption.withLock { _ in continuation.resume(returning: outcome) } }
    }

    /// Calls `onBodySent` on a separate queue, unless the exchange was canceled.
    func reportSent() {
        guard let sentReports, let onBodySent = request.onBodySent else { return }
        sentReports.queue.async { [self, sentCount] in
            if !isCancelled { onBodySent(sentCount) }
        }
    }

    /// Stores libcurl's measurements while they are available.
    func record(_ info: swcurl_info, remoteAddress: String?) {
        self.info = info
        self.info.remote_address = nil  // belongs to libcurl
        self.remoteAddress = remoteAddress
        endTime = loop.now()
    }

    /// Stores the measurements of an exchange that owns its socket.
    func recordSocketEnd() {
        if let upload { info.sent = upload.sentCount }
        endTime = loop.now()
    }

    /// Ends the exchange under the poller's lock, after libcurl has released the handle.
    func end(_ code: Int32, _ message: String) {
        let isClosed = isStreamClosed(code)
        // libcurl 7.88 drops a response that it reads together with the end of the stream.
        if isClosed, !head.isComplete { failure = failure ?? .responseLost }
        let isOver =
            hasEarlyResponse || isRepeatRefused || code == CurlCode.tooManyRedirects || isClosed && hasAnnouncedLength
            || isAnswered(code)
        // libcurl ignores a length that does not fit into 64 bits.
        if code == 0, failure == nil, head.isComplete, !isOver, !isUpgraded, !hasAnnouncedLength {
            failure = .libcurl(code: CurlCode.partialFile, message: CurlLibrary.text(of: CurlCode.partialFile))
        }
        let code = isOver ? 0 : code
        if code == 0, failure == nil, !head.isComplete { failure = .headTruncated }
        if code == 0, failure == nil, isCodingTruncated { failure = .codingTruncated }
        decoder = nil  // its memory, because a reader may keep the exchange for long
        if code != 0, head.size == 0, let loss = loss(code, message) { failure = .connectionDied(loss) }
        if let failure { return fail(failure) }
        guard code == 0 else { return fail(.libcurl(code: code, message: message)) }
        upload?.stop()
        if let pipe { pipe.end(nil) } else { finish(with: .complete) }
    }

    /// Ends the exchange without a complete response.
    func fail(_ failure: CurlFailure) {
        upload?.stop()
        if let pipe { pipe.end(failure) } else { finish(with: .failed(failure)) }
    }

    /// Releases the upload and the pipe of a canceled exchange.
    func releaseAfterCancel() {
        upload?.stop()
        pipe?.end(CurlFailure.cancelled)
    }

    // MARK: Time

    /// The next deadline in nanoseconds of `DispatchTime`. `.max` means never.
    var deadline: UInt64 { deadlines.next(isReadingPaused: pipe?.isPaused == true) }

    /// Returns the failure of a deadline that has passed, or nil if the exchange continues.
    func timeout(now: UInt64) -> CurlFailure? {
        let failure = deadlines.failure(now: now)
        if case .timedOut(.idle)? = failure, hasSent(now: now) { return nil }
        if failure == nil { handle?.limitConnecting(to: deadlines.waitToConnect(now: now)) }
        return failure
    }

    /// Moves the idle deadline if the server has received more of the body. Returns whether time is left. libcurl reads the
    /// body again only when it has sent its buffer, which may take longer than the timeout. TLS reports a buffer only when
    /// all of it is sent, so the system's count comes first.
    private func hasSent(now: UInt64) -> Bool {
        guard request.bodyLength != nil, sendTime > 0, !isUpgraded, let easy = handle?.easy else { return false }
        let (lastAcknowledged, lastUploaded) = (acknowledgedCount, uploadedCount)
        var (age, isQueued) = (UInt32(0), false)
        let acknowledged = swcurl_poller_acknowledged(loop.poller, easy, &age, &isQueued)
        uploadedCount = swcurl_easy_uploaded(easy)
        acknowledgedCount = max(acknowledged, lastAcknowledged)
        // A small body is sent together with the head.
        let isUploading = uploadedCount > lastUploaded && request.smallBody == nil
        // libcurl counts steps of up to 64 KiB, and a server may open smaller windows. Answers to PINGs are smaller.
        let isUploadingPart =
            uploadedCount < sentCount && sendCount == loop.sendCount && acknowledged > lastAcknowledged + 4_096
        // Otherwise, the server has acknowledged other exchanges, or frames such as the answer to its PING.
        let isOfBody = isUploading || isUploadingPart || isQueued || wasQueued
        (wasQueued, sendCount) = (isQueued, loop.sendCount)
        guard isOfBody, acknowledged < 0 || acknowledged > lastAcknowledged else { return false }
        let lastActivity = deadlines.lastActivity
        deadlines.lastActivity = max(lastActivity, now - min(now, UInt64(age) * 1_000_000))
        guard deadline > now else { return false }
        // The system's count includes the other requests and bodies of a connection.
        let isShared =
            loop.mayBeHTTP2(request) && loop.active.contains { sharesConnection(with: $0, since: lastActivity) }
        if acknowledged >= 0 && !isShared || isUploading && uploadedCount < sentCount { return true }
        deadlines.lastActivity = lastActivity
        return false
    }

    /// Returns whether another exchange has sent something over the same connection since a time.
    private func sharesConnection(with other: CurlExchange, since time: UInt64) -> Bool {
        let isSending = other.request.bodyLength != nil && !other.isBodySent
        return other !== self && other.sendTime > (isSending ? 0 : time) && !other.ownsSocket
            && swcurl_easy_share_connection(other.handle.easy, handle.easy)
    }

    func recordActivity() {
        deadlines.lastActivity = loop.now()
    }

    // MARK: Pausing

    /// Resumes after a pause, under the poller's lock. Returns libcurl's result code.
    func resume() -> Int32 {
        deadlines.isSendingPaused = false
        pipe?.didResume()
        recordActivity()
        return swcurl_easy_pause(handle.easy, 0)
    }

    /// Delivers the received bytes to the reader.
    func deliver() {
        pipe?.deliver(resume: requestResume)
    }

    /// Submits a resume to the loop, from any thread.
    package func requestResume() {
        loop.submit(.resume(self))
    }
}
#endif
