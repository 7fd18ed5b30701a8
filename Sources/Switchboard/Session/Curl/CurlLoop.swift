#if os(Linux)
import SwitchboardPlatform
import SwitchboardCurl
import Foundation

/// The thread that drives libcurl for a session: takes exchanges in, lets libcurl act when its sockets are ready, and
/// ends exchanges that are done, late or no longer wanted.
///
/// Everything that touches libcurl's multi handle happens under the poller's lock. The thread holds it while it is
/// awake. A caller that finds it asleep starts its exchange itself, which spares two switches between threads; one that
/// finds it awake leaves a ``Command``.
final class CurlLoop: TaskExecutor, @unchecked Sendable {  // what is not behind `inbox` is behind the poller's lock
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
    private let multi: UnsafeMutableRawPointer
    private let poller: OpaquePointer
    private let handles: CurlHandlePool
    private let ended = DispatchGroup()

    // Whoever holds the poller's lock uses these.
    private var active: [CurlExchange] = []
    private var sharing: CurlSharing
    /// Those whose readers wait for what came in this turn.
    private var deliveries: [CurlExchange] = []
    private var finished: [(exchange: CurlExchange, code: Int32, message: String)] = []
    private var nextDeadline = UInt64.max
    /// When the thread wakes by itself.
    private var alarm = UInt64.max
    /// Whether there was anything to do since the thread last slept.
    private var isBusy = false
    private var remoteAddress = ""
    private var remoteHost: [CChar] = [0]
    private var remotePort = 0
    private var isMultiFreed = false

    /// - Throws: ``NetworkError/Code/unknown`` when the system has no descriptors left.
    init(_ configuration: SessionConfiguration, _ handles: CurlHandlePool) throws(NetworkError) {
        guard let multi = swcurl_multi_make() else {
            throw NetworkError(.unknown, reason: "libcurl has no memory left")
        }
        guard let poller = swcurl_poller_make(multi) else {
            let reason = String(cString: strerror(errno))
            swcurl_multi_free(multi)
            throw NetworkError(.unknown, reason: "no descriptors to wait with: \(reason)")
        }
        self.multi = multi
        sharing = CurlSharing(multi)
        self.poller = poller
        self.handles = handles
        let perHost = max(1, configuration.maximumConnectionsPerHost)
        swcurl_multi_set_long(multi, CurlMultiOption.maxHostConnections, perHost)
        let total = configuration.maximumConnections.map { max(1, $0) }
        swcurl_multi_set_long(multi, CurlMultiOption.maxTotalConnections, total ?? 0)
        // How many are kept for later: libcurl's own choice follows the number of transfers, and would drop them.
        swcurl_multi_set_long(multi, CurlMultiOption.maxConnects, total ?? max(64, perHost * 4))
    }

    deinit {
        // The thread holds the loop; here it has ended or never begun.
        if !isMultiFreed { swcurl_multi_free(multi) }
        handles.removeAll()
        swcurl_poller_free(poller)
    }

    func adopt(_ handle: CurlHandle) {
        swcurl_poller_adopt(poller, handle.easy)
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
    func close(cancelling: Bool) {
        let isRunning = inbox.withLock { inbox in
            inbox.isClosed = true
            inbox.isCancelling = inbox.isCancelling || cancelling
            inbox.isAsleep = false
            if !inbox.isThreadStarted { inbox.isEnded = true }
            return inbox.isThreadStarted && !inbox.isEnded
        }
        if isRunning { swcurl_poller_wake(poller) }
    }

    /// Waits until the thread of a closed loop has ended, no longer than given. True when it has.
    func waitForEnd(_ limit: DispatchTimeInterval) -> Bool {
        ended.wait(timeout: .now() + limit) == .success
    }

    /// Calls back when the thread of a closed loop has ended.
    func whenEnded(_ body: @escaping @Sendable () -> Void) {
        ended.notify(queue: .global(), execute: body)
    }

    // MARK: The thread

    /// The time when somebody last drove libcurl, in the nanoseconds of `DispatchTime`: to ask anew at each callback
    /// would cost more than it is worth.
    func now() -> UInt64 { swcurl_poller_time(poller) }

    private func startThread() {
        CurlLoopRegistry.add(self)
        let thread = Thread { [self] in
            run()
            CurlLoopRegistry.remove(self)
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

    private func perform(_ command: Command) {
        switch command {
        case .start(let exchange): start(exchange)
        case .stop(let exchange):
            remove(exchange)
            exchange.didStop()
        case .resume(let exchange):
            guard exchange.place >= 0 else { return }
            // What libcurl held back is delivered in here, and an error of that is told to nobody else. 43 says that
            // it has no connection just now, so nothing is paused.
            let code = exchange.resume()
            if code != 0, code != 43 { return end(exchange, code) }
            noteDeadline(of: exchange)  // a pause has none, what follows it has
        case .settle(let exchange):
            if exchange.place >= 0 { end(exchange, 0) }
        }
    }

    private func start(_ exchange: CurlExchange) {
        // Its stop is on the way, or came before its body's stream was begun.
        guard !exchange.isAnswered else { return exchange.didStop() }
        swcurl_easy_set_context(exchange.handle.easy, Unmanaged.passUnretained(exchange).toOpaque())
        exchange.place = active.count
        active.append(exchange)
        sharing.begin(exchange.request)
        let code = swcurl_multi_add(multi, exchange.handle.easy)
        guard code == 0 else {
            forget(exchange)
            return exchange.fail(NetworkError(.unknown, reason: "libcurl refuses a transfer (\(code))"))
        }
        noteDeadline(of: exchange)
    }

    private func remove(_ exchange: CurlExchange) {
        guard exchange.place >= 0 else { return }
        swcurl_multi_remove(multi, exchange.handle.easy)
        forget(exchange)
    }

    private func forget(_ exchange: CurlExchange) {
        let last = active.count - 1
        if exchange.place != last {
            active[last].place = exchange.place
            active.swapAt(exchange.place, last)
        }
        active.removeLast()
        sharing.end(exchange.request)
        exchange.place = -1
    }

    /// Hands a download to its reader at the end of this turn, when more may have come.
    func deliverLater(_ exchange: CurlExchange) {
        deliveries.append(exchange)
    }

    /// Ends what libcurl is done with. The callers are told last, all at once: to wake a thread for each would cost more
    /// than to wake one for several.
    private func endFinished() {
        var code: Int32 = 0
        while let context = swcurl_multi_next_ended(multi, &code) {
            end(Unmanaged<CurlExchange>.fromOpaque(context).takeUnretainedValue(), code)
        }
        for (exchange, code, message) in finished { exchange.end(code, message) }
        finished.removeAll(keepingCapacity: true)
        for exchange in deliveries { exchange.deliver() }
        deliveries.removeAll(keepingCapacity: true)
    }

    /// Takes an exchange out of libcurl's hands; ``endFinished()`` tells its caller.
    private func end(_ exchange: CurlExchange, _ code: Int32) {
        let message = code == 0 ? "" : exchange.handle.message(for: code)
        let figures = swcurl_easy_figures(exchange.handle.easy)
        exchange.note(figures, remoteAddress: address(figures))
        swcurl_multi_remove(multi, exchange.handle.easy)
        forget(exchange)
        if code == 0 { handles.giveBack(exchange.handle) }
        finished.append((exchange, code, message))
    }

    /// The other end's address as text, made anew only when it is another one than last time.
    private func address(_ figures: swcurl_figures) -> String? {
        guard let text = figures.remote_address, text[0] != 0 else { return nil }
        if figures.remote_port != remotePort || strcmp(text, remoteHost) != 0 {
            remotePort = figures.remote_port
            remoteHost = Array(UnsafeBufferPointer(start: text, count: strlen(text) + 1))
            let host = String(cString: text)
            remoteAddress = (host.contains(":") ? "[\(host)]" : host) + ":\(remotePort)"
        }
        return remoteAddress
    }

    // MARK: Tasks

    /// Takes a part of a task, to be run on the thread; elsewhere when that has ended.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isTaken = leave { inbox in
            inbox.jobs.append(job)
            return true
        }
        if !isTaken { DispatchQueue.global().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) } }
    }

    // MARK: Deadlines

    /// Heeds a deadline that may be new. Called in libcurl's callbacks too.
    func noteDeadline(of exchange: CurlExchange) {
        nextDeadline = min(nextDeadline, exchange.deadline)
    }

    private func sweep() {
        guard nextDeadline != .max else { return }
        let now = DispatchTime.now().uptimeNanoseconds
        guard now >= nextDeadline else { return }
        nextDeadline = .max
        for exchange in active {
            if exchange.deadline <= now, let error = exchange.timeoutError(now: now) {
                remove(exchange)
                exchange.fail(error)
            } else {
                noteDeadline(of: exchange)
            }
        }
    }

    private func endAll() {
        for exchange in active {
            remove(exchange)
            exchange.fail(NetworkError(.sessionInvalidated))
        }
    }
}
#endif
