#if os(Linux)
import SwitchboardCurlC
import SwitchboardPlatform
import Foundation
import Synchronization

/// The thread that drives libcurl for a session. It accepts exchanges, lets libcurl act when its sockets are ready, and
/// ends exchanges that are finished, late or canceled.
///
/// The poller's lock protects libcurl's multi handle. The thread holds the lock while it is awake, except while it runs
/// jobs of tasks. A caller that finds the thread asleep starts its exchange itself, which saves two switches between
/// threads. A caller that finds it awake posts a ``Command``.
package final class CurlLoop: TaskExecutor, @unchecked Sendable {  // protected by `inbox` or by the poller's lock
    enum Command {
        case start(CurlExchange)
        /// Stops an exchange whose caller no longer waits.
        case stop(CurlExchange)
        /// Resumes an exchange after a pause.
        case resume(CurlExchange)
        /// Ends an exchange whose response is complete although its body is not sent.
        case finish(CurlExchange)

        /// Whether the submitting thread may perform the command. It must not perform a stop, because a stop comes from
        /// a task's cancellation, which must be short.
        var isForAnyThread: Bool {
            switch self {
            case .start, .resume: true
            case .stop, .finish: false
            }
        }
    }

    private struct Inbox {
        var commands: [Command] = []
        /// Jobs of tasks that prefer this thread.
        var jobs: [UnownedJob] = []
        var isThreadStarted = false
        /// Whether the thread waits or is about to wait, so that it must be woken.
        var isAsleep = false
        /// Whether the loop rejects new exchanges. With `isCancelling`, it also ends those in flight.
        var isClosed = false
        var isCancelling = false
        var isEnded = false
    }

    private let inbox = Protected(Inbox())
    let multi: UnsafeMutableRawPointer
    let poller: OpaquePointer
    private let options: CurlOptions
    private let perHost: Int
    /// The unused handles, at most ``handleLimit``.
    let handles = Protected<[CurlHandle]>([])
    static let handleLimit = 256
    private let ended = DispatchGroup()

    // The holder of the poller's lock uses these properties, so exclusivity checks would find nothing.
    @exclusivity(unchecked) var active: [CurlExchange] = []
    /// The queues by server, while exchanges wait or come from them.
    @exclusivity(unchecked) var queues: [Substring: CurlQueue] = [:]
    /// The queues whose exchanges the loop may start.
    @exclusivity(unchecked) var freed: [CurlQueue] = []
    /// The number of handles that exchanges have, without those of upgrades.
    let handleCount = Atomic(0)
    /// The number of exchanges that wait in ``queues``.
    let waitingCount = Atomic(0)
    @exclusivity(unchecked) var sendCount = 0
    /// The number of exchanges in flight whose reader may pause. Before 7.88, libcurl stops reading a connection while
    /// one of its streams has unread data. So exchanges do not share connections meanwhile.
    @exclusivity(unchecked) var pausing = 0
    /// The exchanges whose bytes may have filled libcurl's buffer, so that it may leave others on their connection unread.
    @exclusivity(unchecked) var draining: [CurlExchange] = []
    /// When a connection was last found dead, or 0.
    @exclusivity(unchecked) var foundDeadAt: UInt64 = 0
    /// For each server, the exchanges on connections that were dead when another exchange on them timed out.
    @exclusivity(unchecked) var onDeadConnections: [Substring: [CurlExchange]] = [:]
    /// The number of exchanges in flight that are repeated only if the server has certainly not processed them. Meanwhile
    /// all exchanges watch their streams, because libcurl reads a GOAWAY for any exchange of its connection.
    @exclusivity(unchecked) var watchers = 0
    /// The exchanges that were sent while there were no watchers.
    @exclusivity(unchecked) var unwatched: [CurlExchange] = []
    /// The upgraded exchanges whose bytes pass through libcurl, until the server closes its side of the connection.
    @exclusivity(unchecked) var upgraded: [CurlExchange] = []
    /// The upgraded exchanges that were resumed in this pass, or began in it.
    @exclusivity(unchecked) var resumed: [CurlExchange] = []
    /// The exchanges that sent their last bytes in this pass, or received bytes after them.
    @exclusivity(unchecked) var closing: [CurlExchange] = []
    /// The exchanges that received their 101 in this pass.
    @exclusivity(unchecked) var newlyUpgraded: [CurlExchange] = []
    /// The buffer for the bytes of sockets that exchanges own.
    let buffer: UnsafeMutableRawBufferPointer
    /// The number of exchanges in flight that upgrade. Their long connections do not count for the limit per host.
    @exclusivity(unchecked) private var upgrades = 0
    /// The exchanges whose readers get the bytes of this pass at its end.
    @exclusivity(unchecked) var deliveries: [CurlExchange] = []
    @exclusivity(unchecked) var finished: [(exchange: CurlExchange, code: Int32, message: String)] = []
    @exclusivity(unchecked) var nextDeadline = UInt64.max
    /// The time when the thread wakes by itself.
    @exclusivity(unchecked) private var wakeTime = UInt64.max
    /// Whether the thread has worked since it last slept.
    @exclusivity(unchecked) private var isBusy = false
    @exclusivity(unchecked) var remoteAddress = ""
    @exclusivity(unchecked) var remoteHost: [CChar] = [0]
    @exclusivity(unchecked) var remotePort = 0
    private var isMultiFreed = false
    /// The exchanges whose uploads began to wait for their source in this pass.
    @exclusivity(unchecked) var waitingUploads: [CurlExchange] = []

    /// Creates a loop. Its thread starts with the first exchange.
    package init(_ options: CurlOptions) throws(CurlFailure) {
        guard let multi = swcurl_multi_make() else { throw .system("libcurl has no memory left") }
        guard let poller = swcurl_poller_make(multi) else {
            let reason = String(cString: strerror(errno))
            swcurl_multi_free(multi)
            throw .system("no descriptors to wait with: \(reason)")
        }
        self.multi = multi
        self.poller = poller
        self.options = options
        buffer = .allocate(byteCount: 64 << 10, alignment: 16)  // after the last error, which would leak it
        // More are never in flight, and libcurl's numbers have 32 bits.
        perHost = min(max(1, options.connectionsPerHost), 1 << 20)
        swcurl_multi_set_long(multi, CurlMultiOption.maxHostConnections, perHost)
        let total = options.connections.map { min(max(1, $0), 1 << 20) }
        swcurl_multi_set_long(multi, CurlMultiOption.maxTotalConnections, total ?? 0)
        // Limits the idle connections. libcurl's default depends on the number of transfers, and would close them.
        swcurl_multi_set_long(multi, CurlMultiOption.maxConnects, total ?? max(64, perHost * 4))
        // Both since 8.20: the end of the loop does not wait for canceled name lookups, and they hold up others less. A
        // lookup needs two threads, also after a cancellation. libcurl's default is 20.
        swcurl_multi_set_long(multi, CurlMultiOption.quickExit, 1)
        swcurl_multi_set_long(multi, CurlMultiOption.maxResolverThreads, 256)
    }

    deinit {
        // The thread retains the loop, so it has ended or never started.
        if !isMultiFreed { swcurl_multi_free(multi) }
        _ = handles.swap([])
        swcurl_poller_free(poller)
        buffer.deallocate()
    }

    /// Whether a server may have two connections. Otherwise, an exchange on a new one waits for the end of the first.
    var opensSeveralConnections: Bool { perHost > 1 && options.connections.map { $0 > 1 } ?? true }

    /// Counts an exchange that upgrades, and raises the limit per host for it. Must not run within a callback of libcurl.
    func countUpgrade(_ exchange: CurlExchange, _ difference: Int) {
        guard exchange.request.isUpgrade else { return }
        upgrades += difference
        swcurl_multi_set_long(multi, CurlMultiOption.maxHostConnections, perHost + upgrades)
    }

    func isPlain(_ request: CurlRequest) -> Bool { options.isPlain(isTLS: request.isTLS) }

    /// Returns the number of exchanges with a server that libcurl serves at once.
    func limit(for request: CurlRequest) -> Int { mayBeHTTP2(request) ? perHost * 100 : perHost }

    func mayBeHTTP2(_ request: CurlRequest) -> Bool { options.mayBeHTTP2(isTLS: request.isTLS) && !request.isUpgrade }

    func takeHandle() throws(CurlFailure) -> CurlHandle {
        if let handle = handles.withLock({ $0.popLast() }) { return handle }
        let handle = try CurlHandle(options)
        swcurl_poller_adopt(poller, handle.easy)
        return handle
    }

    // MARK: From any thread

    /// Submits a command. Returns false when the loop is closed, which matters only to a start.
    @discardableResult
    func submit(_ command: Command) -> Bool {
        if command.isForAnyThread, performOnThisThread(command) { return true }
        return post { inbox in
            if case .start = command, inbox.isClosed { return false }
            inbox.commands.append(command)
            return true
        }
    }

    /// Changes the inbox, and wakes or starts the thread. Returns false if the thread has ended or `body` returns false.
    private func post(_ body: (inout Inbox) -> Bool) -> Bool {
        enum Action { case nothing, wake, startThread, refused }
        let action: Action = inbox.withLock { inbox in
            guard !inbox.isEnded, body(&inbox) else { return .refused }
            if !inbox.isThreadStarted {
                inbox.isThreadStarted = true
                ended.enter()
                return .startThread
            }
            defer { inbox.isAsleep = false }
            return inbox.isAsleep ? .wake : .nothing
        }
        switch action {
        case .nothing: break
        case .wake: swcurl_poller_wake(poller)
        case .startThread: startThread()
        case .refused: return false
        }
        return true
    }

    /// Performs a command at once when the thread is asleep and has no commands left, or when this is the thread and it
    /// runs a task's job. Returns false otherwise.
    private func performOnThisThread(_ command: Command) -> Bool {
        if swcurl_poller_is_entered(poller) {
            guard inbox.withLock({ !$0.isClosed && $0.commands.isEmpty }) else { return false }
            swcurl_poller_lock(poller)
            perform(command)
            swcurl_poller_unlock(poller)
            return true
        }
        guard swcurl_poller_try_lock(poller) else { return false }
        defer { swcurl_poller_unlock(poller) }
        let isFree = inbox.withLock { $0.isAsleep && !$0.isClosed && $0.commands.isEmpty }
        guard isFree else { return false }
        swcurl_poller_run_timer(poller)
        perform(command)
        swcurl_poller_run_timer(poller)
        endFinished()
        isBusy = true
        if nextWakeTime() < wakeTime {
            wakeTime = 0
            swcurl_poller_wake(poller)
        }
        return true
    }

    /// Closes the loop for new exchanges. Those in flight continue unless they are canceled, and the thread ends after
    /// the last one.
    package func close(cancelling: Bool) {
        let isRunning = inbox.withLock { inbox in
            inbox.isClosed = true
            inbox.isCancelling = inbox.isCancelling || cancelling
            inbox.isAsleep = false
            if !inbox.isThreadStarted { inbox.isEnded = true }
            return inbox.isThreadStarted && !inbox.isEnded
        }
        if isRunning { swcurl_poller_wake(poller) }
    }

    /// Runs `body` when the thread of a closed loop has ended.
    package func whenEnded(_ body: @escaping @Sendable () -> Void) {
        ended.notify(queue: .global(), execute: body)
    }

    // MARK: The thread

    /// Returns the time when libcurl was last driven, in nanoseconds of `DispatchTime`. Reading the clock at each
    /// callback would cost too much.
    func now() -> UInt64 { swcurl_poller_time(poller) }

    private func startThread() {
        _ = Self.stopAtExit
        Self.running.withLock { $0[ObjectIdentifier(self)] = self }
        // Foundation's Thread ignores that the system creates no thread.
        let context = Unmanaged.passRetained(self)
        let code = swcurl_start_thread(
            { context in
                let loop = Unmanaged<CurlLoop>.fromOpaque(context).takeRetainedValue()
                loop.run()
                loop.leaveRunning()
                loop.ended.leave()
            }, context.toOpaque())
        guard code != 0 else { return }
        context.release()
        // Before the next exchange may start a thread.
        leaveRunning()
        refuseCommands(.system("the system creates no thread: \(String(cString: strerror(code)))"))
        ended.leave()
    }

    private func leaveRunning() { _ = Self.running.withLock { $0.removeValue(forKey: ObjectIdentifier(self)) } }

    /// Ends the exchanges that wait for a thread that was not created. The next exchange tries again.
    private func refuseCommands(_ failure: CurlFailure) {
        let (commands, jobs) = inbox.withLock { inbox in
            inbox.isThreadStarted = false
            inbox.isEnded = inbox.isClosed
            defer { (inbox.commands, inbox.jobs) = ([], []) }
            return (inbox.commands, inbox.jobs)
        }
        for command in commands {
            switch command {
            case .start(let exchange): exchange.fail(failure)
            case .stop(let exchange): exchange.releaseAfterCancel()
            case .resume, .finish: break  // only of an exchange that has started
            }
        }
        for job in jobs { runElsewhere(job) }
    }

    private func run() {
        var commands: [Command] = []
        var jobs: [UnownedJob] = []
        swcurl_poller_lock(poller)
        while true {
            let isCancelling = inbox.withLock { inbox in
                swap(&commands, &inbox.commands)
                swap(&jobs, &inbox.jobs)
                return inbox.isCancelling
            }
            isBusy = isBusy || !commands.isEmpty
            for command in commands { perform(command) }
            commands.removeAll(keepingCapacity: true)
            if isCancelling { endAll() }
            run(&jobs)
            swcurl_poller_run_timer(poller)
            endFinished()
            sweep()
            guard let wait = prepareToSleep() else { break }
            let count = swcurl_poller_wait(poller, wait)
            inbox.withLock { $0.isAsleep = false }
            swcurl_poller_handle_events(poller, count)
            endFinished()
        }
        // Closes the idle connections, because the session may live longer.
        swcurl_multi_free(multi)
        isMultiFreed = true
        swcurl_poller_unlock(poller)
    }

    /// Runs jobs of tasks without the poller's lock. Exchanges that they start begin at once.
    private func run(_ jobs: inout [UnownedJob]) {
        guard !jobs.isEmpty else { return }
        swcurl_poller_unlock(poller)
        swcurl_poller_enter(poller)
        for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
        swcurl_poller_enter(nil)
        swcurl_poller_lock(poller)
        jobs.removeAll(keepingCapacity: true)
        isBusy = true
    }

    /// Returns the next deadline or time of libcurl's timer, in nanoseconds of `DispatchTime`. `.max` means never.
    private func nextWakeTime() -> UInt64 {
        guard !draining.contains(where: \.hasUnread) else { return 0 }
        let due = swcurl_poller_due(poller)
        return due < 0 ? nextDeadline : min(nextDeadline, UInt64(due))
    }

    /// Returns the time to wait in milliseconds: 0 when work is left, -1 without limit. Nil when the loop is over.
    private func prepareToSleep() -> Int32? {
        inbox.withLock { inbox in
            guard inbox.commands.isEmpty, inbox.jobs.isEmpty else { return 0 }
            if inbox.isClosed, active.isEmpty {
                inbox.isEnded = true
                return nil
            }
            inbox.isAsleep = true
            wakeTime = nextWakeTime()
            guard isBusy || wakeTime != .max else { return -1 }
            let now = DispatchTime.now().uptimeNanoseconds
            // Sleeps briefly first: a caller that starts an exchange meanwhile need not wake the thread for its
            // deadline.
            if isBusy { wakeTime = min(wakeTime, now + 1_000_000_000) }
            isBusy = false
            return wakeTime <= now ? 0 : Int32(min((wakeTime - now) / 1_000_000 + 1, 1 << 30))
        }
    }

    // MARK: Tasks

    /// Runs a job of a task on the thread, or elsewhere if the thread has ended.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isPosted = post { inbox in
            inbox.jobs.append(job)
            return true
        }
        if !isPosted { runElsewhere(job) }
    }

    private func runElsewhere(_ job: UnownedJob) {
        DispatchQueue.global().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

extension CurlLoop {
    /// The loops whose threads run. A loop is retained as long as its thread runs.
    private static let running = Protected<[ObjectIdentifier: CurlLoop]>([:])

    /// Stops the threads before the process tears down the libraries they use. The handler is registered after the
    /// initialization of libcurl and its TLS library, so it runs before their cleanup.
    private static let stopAtExit: Void = {
        atexit {
            let loops = CurlLoop.running.withLock { Array($0.values) }
            for loop in loops { loop.close(cancelling: true) }
            for loop in loops { _ = loop.ended.wait(timeout: .now() + 1) }
        }
    }()
}

/// A mirror without children: exchanges in flight have secrets, and only the holder of a lock may read them.
extension CurlLoop: CustomReflectable {
    package var customMirror: Mirror { Mirror(self, children: []) }
}
#endif
