import Switchboard
import SwitchboardResilience

/// One run of a plan.
struct Run {
    let hash: UInt64
    let steps: Int
    let violation: (rule: String, detail: String)?
    let lines: [String]

    init(_ plan: Plan, _ fault: Fault?, isRecording: Bool = false) {
        let world = World(plan, fault, isRecording: isRecording)
        Self.play(plan, world)
        // A failed run may leave jobs.
        SingleThread.jobs = []
        (hash, steps, violation, lines) = (world.hash, world.steps, world.violation, world.lines)
    }

    private static func play(_ plan: Plan, _ world: World) {
        let server = Server(world)
        world.highestLimit = plan.setup.limit ?? 0
        var app: App? = App(world, server)
        let parts = app?.parts ?? []
        Task.detached { [app] in
            for environment in 0..<2 { await app?.signIn(environment, lifetime: 30_000) }
        }
        var actions = plan.actions[...]
        var random = SeededGenerator(plan.seed, 2)
        var limiterCount = 0
        while world.violation == nil {
            let count = SingleThread.jobs.count
            let isDue = actions.first.map { $0.time <= world.clock.milliseconds } ?? false
            if isDue, count == 0 || random.number(0...3) == 0, let action = actions.popFirst() {
                app?.perform(action)
            } else if count > 0 {
                let index =
                    switch plan.setup.order {
                    case .fifo: 0
                    case .lifo: count - 1
                    case .random: random.number(0...count - 1)
                    }
                SingleThread.run(at: index)
                world.countStep(index, of: count)
            } else {
                world.checkBeforeAdvance()
                let times = [actions.first?.time, world.clock.nextDeadline].compactMap { $0 }
                guard let time = times.min() else { break }
                guard world.clock.milliseconds < 10_000_000, world.steps < 1_000_000 else {
                    world.violate("a run ends", "\(world.clock.sleeperCount) sleepers")
                    break
                }
                // Nothing of the app waits that long after its last call.
                let isIdle =
                    actions.isEmpty && world.exchanges.isEmpty
                    && world.calls.values.allSatisfy { $0.ends > 0 && $0.started == $0.finished }
                if isIdle {
                    world.violate("no timer is left", "\(world.clock.sleeperCount) sleepers until \(time) ms")
                    break
                }
                world.clock.advance(toMilliseconds: time)
            }
            // Without a slot, no request starts while the limit is exceeded.
            if let limiter = app?.limiter, let limit = limiter.limit {
                let inFlight = limiter.inFlight
                world.check(
                    inFlight <= limit || inFlight <= limiterCount, "the concurrency limit", "\(inFlight) of \(limit)")
                limiterCount = inFlight
            }
        }
        guard world.violation == nil else { return }
        checkEnd(world, app)
        app = nil
        while !SingleThread.jobs.isEmpty { SingleThread.run(at: 0) }
        for part in parts where part.object != nil { world.violate("nothing is left", "\(part.name) is not released") }
    }

    private static func checkEnd(_ world: World, _ app: App?) {
        for (id, call) in world.calls {
            world.check(call.ends == 1, "a call ends once", "call \(id) did not end")
            world.check(
                call.started == call.finished, "a call ends once",
                "call \(id): its monitor got \(call.started) starts and \(call.finished) ends")
        }
        world.check(world.exchanges.isEmpty, "nothing is left", "exchanges \(world.exchanges.keys.sorted())")
        guard let app else { return }
        world.check(app.deduplicator.inFlight == 0, "nothing is left", "\(app.deduplicator.inFlight) shared requests")
        let counts = (app.limiter?.inFlight ?? 0, app.limiter?.waiting ?? 0)
        world.check(counts == (0, 0), "nothing is left", "the limiter has \(counts)")
    }

    /// Returns the fewest actions of a plan with which the same rule is violated.
    static func shrink(_ plan: Plan, _ fault: Fault?, _ rule: String) -> Plan {
        var plan = plan
        var size = max(1, plan.actions.count / 2)
        while true {
            var (start, hasShrunk) = (0, false)
            while start < plan.actions.count {
                var smaller = plan
                smaller.actions.removeSubrange(start..<min(start + size, plan.actions.count))
                if Run(smaller, fault).violation?.rule == rule {
                    (plan, hasShrunk) = (smaller, true)
                } else {
                    start += size
                }
            }
            if size == 1, !hasShrunk { return plan }
            size = max(1, size / 2)
        }
    }
}
