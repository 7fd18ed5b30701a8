import Foundation
import Glibc
import Switchboard
import Synchronization

/// Runs a scene once for each failing call.
final class Runner {
    private let scene: Scene
    private let server = Server.start()
    private let folder: URL
    private let isKill: Bool
    private var counts: [String: Int] = [:]
    private var cases = 0
    private var values = 0
    private var unused = 0
    private var casesByCall: [String: Int] = [:]
    private var reached: Set<String> = []
    private var errors: [String: Int] = [:]
    private(set) var failures = 0
    private var descriptors: [Int: String] = [:]

    init(_ scene: Scene, isKill: Bool) {
        self.scene = scene
        self.isKill = isKill
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("torture-\(getpid())")
    }

    private var place: Place { Place(folder: folder, server: server) }

    /// Prints a line of the table, and ends the process.
    func finish() -> Never {
        try? FileManager.default.removeItem(at: folder)
        if isKill, scene.recover == nil { exit(0) }
        // A few calls are only made when other calls fail, or threads are late.
        if scene.only == nil, cases > 20, unused * 2 > cases {
            fail(scene.name, "\(unused) of \(cases) cases did not reach their call")
        }
        // The speed of the machine decides how many calls URLSession's threads cause. One case of each call gets there.
        let never = casesByCall.filter { $0.value > 2 && !reached.contains($0.key) }.keys.sorted()
        if !never.isEmpty { fail(scene.name, "no case reached \(never.joined(separator: ", "))") }
        let calls = counts.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        let kinds = errors.sorted { $0.value > $1.value }.map { "\($0.key) \($0.value)" }
        let (name, errorCount) = ((isKill ? "kill " : "") + scene.name, errors.values.reduce(0, +))
        print("\(name): \(cases) cases, \(values) values, \(errorCount) errors, \(failures) failures")
        if !calls.isEmpty { print("    calls: \(calls.joined(separator: ", "))") }
        if !kinds.isEmpty { print("    errors: \(kinds.joined(separator: ", "))") }
        if unused > 0 { print("    \(unused) cases did not reach their call") }
        exit(failures == 0 ? 0 : 1)
    }

    // MARK: Failing calls

    /// Makes each call fail, with each failure. `most` limits the number of cases, and `last` is the case before the first.
    func run(atMost most: Int, after last: Fault?) async {
        await warmUp()
        var faults: [Fault] = []
        for call in Shim.calls where scene.only?.contains(call) ?? true {
            for index in 1..<1 + (counts[call] ?? 0) {
                for (failure, isOnward) in Fault.failures(of: call) where scene.failsOnward || !isOnward {
                    faults.append(Fault(call, index, failure, isOnward: isOnward))
                }
            }
        }
        if faults.isEmpty || !(scene.only ?? []).isSubset(of: Shim.calls) {
            fail(scene.name, "it makes no call that can fail, or it names one that shim.c lacks")
        }
        // A sample of all calls, the first and the last included.
        let count = min(most, faults.count)
        let sample = (0..<count).map { faults[count == 1 ? 0 : $0 * (faults.count - 1) / (count - 1)] }
        for fault in sample.drop(while: { last.map($0.isAtMost) ?? false }) { await run(fault) }
    }

    func run(only fault: Fault) async {
        await warmUp()
        await run(fault)
    }

    /// Runs the scene without a fault, counts its calls, and finds the descriptors that stay open.
    private func warmUp() async {
        for _ in 0..<2 {
            do {
                try await prepare()
                Shim.arm(nil)
                try await scene.run(place)
                _ = Shim.disarm()
                counts = Shim.counts
                try await scene.verify(place, true)
            } catch {
                stop("torture: \(scene.name) FAILED without a fault: \(error)", 1)
            }
        }
        // libdispatch opens its epoll with the first timer. URLSession closes its descriptors on a queue of its own, and a
        // leak that gets the number of one in this list is missed.
        try? await Task.sleep(for: .milliseconds(500))
        descriptors = Self.openDescriptors()
    }

    private func prepare() async throws {
        try? FileManager.default.removeItem(at: folder)
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try await scene.prepare(place)
    }

    private func run(_ fault: Fault) async {
        let text = "\(scene.name):\(fault)"
        Watchdog.begin(text)
        defer { Watchdog.end() }
        cases += 1
        casesByCall[fault.call, default: 0] += 1
        do {
            try await prepare()
        } catch {
            return fail(text, "cannot be prepared: \(error)")
        }
        var hasSucceeded = false
        Shim.arm(fault)
        let result: Result<Void, any Error>
        do {
            try await scene.run(Place(folder: folder, server: server, isPatient: false))
            result = .success(())
        } catch {
            result = .failure(error)
        }
        if Shim.disarm() == 0 { unused += 1 } else { reached.insert(fault.call) }
        if getenv("TORTURE_TRACE") != nil { complain("\(text): \(result)") }
        switch result {
        case .success:
            values += 1
            hasSucceeded = true
        // Nothing cancels a run.
        case .failure(let error as NetworkError) where error.code != .cancelled:
            errors[error.code.rawValue, default: 0] += 1
        case .failure(let error): fail(text, "\(error)")
        }
        do {
            try await scene.verify(place, hasSucceeded)
        } catch {
            fail(text, "the next run: \(error)")
        }
        await checkDescriptors(text)
    }

    private func fail(_ text: String, _ reason: String) {
        failures += 1
        print("FAILED \(text): \(reason)")
        fflush(nil)
    }

    /// Waits until no descriptors are open that the run has opened.
    private func checkDescriptors(_ text: String) async {
        var more: [Int: String] = [:]
        for _ in 0..<300 {
            more = Self.openDescriptors().filter { descriptors[$0.key] == nil }
            if more.isEmpty { return }
            try? await Task.sleep(for: .milliseconds(10))
        }
        fail(text, "open descriptors: \(more.values.sorted())")
        descriptors.merge(more) { $1 }
    }

    private static func openDescriptors() -> [Int: String] {
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        var open: [Int: String] = [:]
        for number in numbers.compactMap({ Int($0) }) {
            // The descriptor of the listing itself is closed by now.
            // Only libdispatch has timers. It keeps one for each clock in use.
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)"),
                target != "anon_inode:[timerfd]"
            else { continue }
            open[number] = target
        }
        return open
    }

    // MARK: A killed machine

    /// Runs the scene once, and opens its files in each state that a killed machine may leave.
    func kill(every: Int) async {
        guard let recover = scene.recover else { return }
        do {
            try await prepare()
            let start = try FileState(of: folder)
            Shim.startLog(of: folder)
            try await scene.run(place)
            let changes = FileChange.parse(Shim.endLog())
            if changes.isEmpty { fail("kill \(scene.name)", "no change of a file was logged") }
            for count in stride(from: 0, through: changes.count, by: every) {
                let state = start.after(changes.prefix(count))
                for loss in Loss.all {
                    let text = "kill \(scene.name), after \(count) of \(changes.count) changes, \(loss)"
                    Watchdog.begin(text)
                    cases += 1
                    try state.write(to: folder, loss)
                    do {
                        try await recover(place)
                        values += 1
                    } catch {
                        fail(text, "\(error)")
                        for change in changes.prefix(count).suffix(6) { print("    \(change)") }
                    }
                    Watchdog.end()
                }
            }
        } catch {
            fail("kill \(scene.name)", "\(error)")
        }
    }
}

/// Ends the process when a case hangs.
enum Watchdog {
    /// The case, and the seconds that this process ran since its begin: a pause of the machine counts as one.
    private static let state = Mutex<(text: String, seconds: Int)?>(nil)
    private static let start: Void = {
        let thread = Thread {
            while true {
                sleep(1)
                state.withLock { $0?.seconds += 1 }
                guard let (text, seconds) = state.withLock({ $0 }), seconds > 30 else { continue }
                complain("FAILED \(text): hangs")
                if let folder = getenv("TORTURE_STACKS") {
                    // gdb itself may hang.
                    let command = "timeout -s KILL 20 gdb -p \(getpid()) -batch -ex 'thread apply all bt 30'"
                    system(
                        "LD_PRELOAD= \(command) 2> /dev/null | grep -E '^(#|Thread)' > \(String(cString: folder))/stacks"
                    )
                }
                _exit(3)
            }
        }
        thread.start()
    }()

    /// Notes a case in the file `TORTURE_CASE`, in case that the process crashes.
    static func begin(_ text: String) {
        _ = start
        state.withLock { $0 = (text, 0) }
        guard let file = getenv("TORTURE_CASE").map({ String(cString: $0) }) else { return }
        try? Data(text.utf8).write(to: URL(fileURLWithPath: file))
    }

    static func end() { state.withLock { $0 = nil } }
}
