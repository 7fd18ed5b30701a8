#if os(Linux)
import SwitchboardCurlC
import SwitchboardPlatform
import Foundation

/// The thread that drives libcurl for a session: takes exchanges in, lets libcurl act when its sockets are ready, and
/// ends exchanges that are done, late or no longer wanted.
///
/// Everything that touches libcurl's multi handle happens under the poller's lock. The thread holds it while it is
/// awake. A caller that finds it asleep starts its exchange itself, which spares two switches between threads; one that
/// finds it awake leaves a ``Command``.
package final class CurlLoop: TaskExecutor, @unchecked Sendable {  // behind `inbox`, or behind the poller's lock
    enum Command {
        case start(CurlExchange)
        /// Nobody waits for it any more.
        case stop(CurlExchange)
        /// Go on after a pause.
        case resume(CurlExchange)
        /// Its answer is whole, though its body is not sent.
        case settle(CurlExchange)

        /// Whether it may be performed where it is given. A stop may not: it comes from a task's cancellation, which
        /// must be short.
        var isForAnyThread: Bool {
            switch self {
            case .start, .resume: true
            case .stop, .settle: false
            }
        }
    }

    private struct Inbox {
        var commands: [Command] = []
        /// Parts of tasks that prefer this thread.
        var jobs: [UnownedJob] = []
        var isThreadStarted = false
        /// The thread waits, or is about to: it has to be woken.
        var isAsleep = false
        /// No more exchanges; with `isCancelling`, those under way are ended too.
        var isClosed = false
        var isCancelling = false
        var isEnded = false
    }

    private let inbox = Protected(Inbox())
    let multi: UnsafeMutableRawPointer
    let poller: OpaquePointer
    private let options: CurlOptions
    /// Those that are not in use. More than a number of them are not kept.
    let handles = Protected<[CurlHandle]>([])
    static let handlesKept = 256
    private let ended = DispatchGroup()

    // Whoever holds the poller's lock uses these, which proves what checks of exclusivity would look for.
    @exclusivity(unchecked) var active: [CurlExchange] = []
    /// How many exchanges with a reader that may pause are under way. Before 7.88 libcurl stops reading a connection while
    /// one of its streams holds data that nobody takes, so no connection is joined meanwhile.
    @exclusivity(unchecked) var pausing = 0
    /// Those whose readers wait for what came in this turn.
    @exclusivity(unchecked) var deliveries: [CurlExchange] = []
    @exclusivity(unchecked) var finished: [(exchange: CurlExchange, code: Int32, message: String)] = []
    @exclusivity(unchecked) var nextDeadline = UInt64.max
    /// When the thread wakes by itself.
    @exclusivity(unchecked) private var alarm = UInt64.max
    /// Whether there was anything to do since the thread last slept.
    @exclusivity(unchecked) private var isBusy = false
    @exclusivity(unchecked) var remoteAddress = ""
    @exclusivity(unchecked) var remoteHost: [CChar] = [0]
    @exclusivity(unchecked) var remotePort = 0
    private var isMultiFreed = false

    /// Makes a loop. Its thread starts with the first exchange.
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
        let perHost = max(1, options.connectionsPerHost)
        swcurl_multi_set_long(multi, CurlMultiOption.maxHostConnections, perHost)
        let total = options.connections.map { max(1, $0) }
        swcurl_multi_set_long(multi, CurlMultiOption.maxTotalConnections, total ?? 0)
        // How many are kept for later: libcurl's own choice follows the number of transfers, and would drop them.
        swcurl_multi_set_long(multi, CurlMultiOption.maxConnects, total ?? max(64, perHost * 4))
    }

    deinit {
        // The thread holds the loop; here it has ended or never begun.
        if !isMultiFreed { swcurl_multi_free(multi) }
        _ = handles.swap([])
        swcurl_poller_free(poller)
    }

    /// A handle that was used before, or a new one.
    func takeHandle() throws(CurlFailure) -> CurlHandle {
        if let handle = handles.withLock({ $0.popLast() }) { return handle }
        let handle = try CurlHandle(options)
        swcurl_poller_adopt(poller, handle.easy)
        return handle
    }

    // MARK: From any thread

    /// Hands a command over. False when the loop takes no more, which only a start has to know.
    @discardableResult
    func submit(_ command: Command) -> Bool {
        if command.isForAnyThread, performHere(command) { return true }
        return leave { inbox in
            if case .start = command, inbox.isClosed { return false }
            inbox.commands.append(command)
            return true
        }
    }

    /// Leaves something for the thread, and wakes or starts it. False when it has ended, or `body` says so.
    private func leave(_ body: (inout Inbox) -> Bool) -> Bool {
        enum Need { case nothing, wake, thread, refusal }
        let need: Need = inbox.withLock { inbox in
            guard !inbox.isEnded, body(&inbox) else { return .refusal }
            if !inbox.isThreadStarted {
                inbox.isThreadStarted = true
                ended.enter()
                return .thread
            }
            defer { inbox.isAsleep = false }
            return inbox.isAsleep ? .wake : .nothing
        }
        switch need {
        case .nothing: break
        case .wake: swcurl_poller_wake(poller)
        case .thread: startThread()
        case .refusal: return false
        }
        return true
    }

    /// Performs a command at once when the thread is asleep, with nothing left for it, or when it is this one, with a
    /// task to run. False when it is not.
    private func performHere(_ command: Command) -> Bool {
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
        swcurl_poller_fire(poller)
        perform(command)
        swcurl_poller_fire(poller)
        endFinished()
        isBusy = true
        if nextAlarm() < alarm {
            alarm = 0
            swcurl_poller_wake(poller)
        }
        return true
    }

    /// Takes no more exchanges. Those under way go on unless they are to be cancelled; the thread ends after the last.
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

    /// Calls back when the thread of a closed loop has ended.
    package func whenEnded(_ body: @escaping @Sendable () -> Void) {
        ended.notify(queue: .global(), execute: body)
    }

    // MARK: The thread

    /// The time when somebody last drove libcurl, in the nanoseconds of `DispatchTime`: to ask anew at each callback
    /// would cost more than it is worth.
    func now() -> UInt64 { swcurl_poller_time(poller) }

    private func startThread() {
        _ = Self.stopAtExit
        Self.running.withLock { $0[ObjectIdentifier(self)] = self }
        let thread = Thread { [self] in
            run()
            _ = Self.running.withLock { $0.removeValue(forKey: ObjectIdentifier(self)) }
            ended.leave()
        }
        thread.name = "Switchboard.CurlSession"
        thread.stackSize = 1 << 20
        thread.start()
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
            swcurl_poller_fire(poller)
            endFinished()
            sweep()
            guard let wait = prepareToSleep() else { break }
            let count = swcurl_poller_wait(poller, wait)
            inbox.withLock { $0.isAsleep = false }
            swcurl_poller_act(poller, count)
            endFinished()
        }
        // Closes the connections that were kept alive: the session may live on.
        swcurl_multi_free(multi)
        isMultiFreed = true
        swcurl_poller_unlock(poller)
    }

    /// Runs parts of tasks, without the poller's lock. The exchanges they start are begun at once.
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

    /// When something is due, in the nanoseconds of `DispatchTime`; `.max` for never.
    private func nextAlarm() -> UInt64 {
        let due = swcurl_poller_due(poller)
        return due < 0 ? nextDeadline : min(nextDeadline, UInt64(due))
    }

    /// How long to wait, in milliseconds: 0 when there is work, -1 without limit. Nil when the loop is over.
    private func prepareToSleep() -> Int32? {
        inbox.withLock { inbox in
            guard inbox.commands.isEmpty, inbox.jobs.isEmpty else { return 0 }
            if inbox.isClosed, active.isEmpty {
                inbox.isEnded = true
                return nil
            }
            inbox.isAsleep = true
            alarm = nextAlarm()
            guard isBusy || alarm != .max else { return -1 }
            let now = DispatchTime.now().uptimeNanoseconds
            // A short sleep first: who starts an exchange meanwhile need not wake the thread for the deadline's sake.
            if isBusy { alarm = min(alarm, now + 1_000_000_000) }
            isBusy = false
            return alarm <= now ? 0 : Int32(min((alarm - now) / 1_000_000 + 1, 1 << 30))
        }
    }

    // MARK: Tasks

    /// Takes a part of a task, to be run on the thread; elsewhere when that has ended.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isTaken = leave { inbox in
            inbox.jobs.append(job)
            return true
        }
        if !isTaken { DispatchQueue.global().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) } }
    }
}

extension CurlLoop {
    /// Those whose threads run, which hold them too.
    private static let running = Protected<[ObjectIdentifier: CurlLoop]>([:])

    /// Has the threads at rest before the process tears down the libraries under them. Registered after libcurl and its
    /// TLS library were initialized, so that it runs before they clean up.
    private static let stopAtExit: Void = {
        atexit {
            let loops = CurlLoop.running.withLock { Array($0.values) }
            for loop in loops { loop.close(cancelling: true) }
            for loop in loops { _ = loop.ended.wait(timeout: .now() + 1) }
        }
    }()
}
#endif
