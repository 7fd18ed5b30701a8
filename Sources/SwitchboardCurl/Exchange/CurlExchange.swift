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
    let loop: CurlLoop
    let upload: CurlUpload?
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
    //
    // Who holds the poller's lock uses these, the caller before it submits and after its answer; no callback of libcurl
    // runs within another one of the same exchange. The checks of exclusivity would find nothing, and each line of a head
    // would pay for several.

    /// The place among the loop's active exchanges; -1 while it is not active.
    @exclusivity(unchecked) var place = -1
    /// What arrived. For the caller once it has its answer.
    @exclusivity(unchecked) package internal(set) var head = CurlHead()
    @exclusivity(unchecked) package internal(set) var body = Data()
    @exclusivity(unchecked) var pipe: BytePipe?
    @exclusivity(unchecked) var received: Int64 = 0
    @exclusivity(unchecked) var failure: CurlFailure?
    @exclusivity(unchecked) var firstByte: UInt64 = 0
    @exclusivity(unchecked) var sendTime: UInt64 = 0  // of the head; 0 before
    @exclusivity(unchecked) var isOnKeptConnection = false
    @exclusivity(unchecked) var isRepeatRefused = false
    @exclusivity(unchecked) var given: Int64 = 0
    @exclusivity(unchecked) var isBodySent = false
    @exclusivity(unchecked) private(set) var measured = swcurl_figures()
    @exclusivity(unchecked) private(set) var remoteAddress: String?
    @exclusivity(unchecked) private(set) var end: UInt64 = 0
    @exclusivity(unchecked) var deadlines: CurlDeadlines
    /// The queue that calls `onBodySent` and then resumes the caller, without blocking the loop. Nil without `onBodySent`.
    /// The lock is held while the queue resumes the caller: see ``run()``.
    private let sent: (queue: DispatchQueue, resumption: Protected<Void>)?

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
        sent =
            request.onBodySent == nil
            ? nil : (DispatchQueue(label: "Switchboard.CurlSession.bodySent"), Protected(()))
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
        // The same for the queue. Its block runs on after it stores the phase, so only a lock orders the two.
        sent?.resumption.withLock { _ in }
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

    func answer(_ answer: Answer) {
        let (isFirst, _) = phase.compareExchange(
            expected: Phase.waiting, desired: Phase.answered, ordering: .acquiringAndReleasing)
        guard isFirst, let continuation else { return }
        guard let sent else { return continuation.resume(returning: answer) }
        sent.queue.async { sent.resumption.withLock { _ in continuation.resume(returning: answer) } }
    }

    /// Calls the user's closure, off the loop's thread. After a cancellation it is not called.
    func tellSent() {
        guard let sent, let onBodySent = request.onBodySent else { return }
        sent.queue.async { [self, given] in
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

    func touch() {
        deadlines.lastSign = loop.now()
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
