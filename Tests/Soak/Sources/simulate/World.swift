import Foundation
import Switchboard
import SwitchboardResilience

/// The state of one run, its trace, and the rules that must hold. One thread uses it.
final class World: @unchecked Sendable {
    /// A call of the app.
    struct Call {
        let operation: Plan.Operation
        /// The environment. Nil for a call whose requests read it anew.
        var environment: Int?
        /// The number of resets that had ended before the call began.
        var epoch: Int
        var start: Int
        /// The smallest number of a user whose data may answer.
        var firstUser = 0
        /// The version that the app knows to be written.
        var writtenVersion = 0
        var ends = 0
        /// The calls that the monitors were told about, including those of pages and revalidations.
        var started = 0, finished = 0
        /// The number of times a server applied the request.
        var applied = 0
        var key: String?
        var attempts = 0
        var cancelTime: Int?
        var task: Task<Void, Never>?
        var handle: RequestHandle?
    }

    /// An exchange between the call of the session and its end.
    struct Exchange {
        let call: Int
        let isLogin: Bool
        let epoch: Int
    }

    let plan: Plan
    let fault: Fault?
    let clock = VirtualClock()
    var calls: [Int: Call] = [:]
    var exchanges: [Int: Exchange] = [:]
    var lastExchange = 0
    /// The number of resets that have ended.
    var epoch = 0
    var resetStart: Int?
    /// The calls that were canceled at the current time, and must have ended before it advances.
    var canceled: [Int] = []
    /// The requests that reached the retry policy and the hedging policy, and what both added.
    var retryable = 0, hedgeable = 0, retries = 0, hedges = 0
    var isOver = false
    private(set) var violation: (rule: String, detail: String)?

    // MARK: The trace

    private(set) var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    private(set) var steps = 0
    private let isRecording: Bool
    private(set) var lines: [String] = []

    init(_ plan: Plan, _ fault: Fault?, isRecording: Bool) {
        (self.plan, self.fault, self.isRecording) = (plan, fault, isRecording)
    }

    func note(_ event: StaticString, _ numbers: Int...) {
        event.withUTF8Buffer { for byte in $0 { mix(UInt64(byte)) } }
        mix(UInt64(clock.milliseconds))
        for number in numbers { mix(UInt64(bitPattern: Int64(number))) }
        if isRecording {
            lines.append("\(clock.milliseconds) ms  \(event) \(numbers.map(String.init).joined(separator: " "))")
        }
    }

    func countStep(_ index: Int, of count: Int) {
        steps += 1
        mix(UInt64(index) << 32 | UInt64(count))
    }

    private func mix(_ value: UInt64) {
        hash = (hash ^ value) &* 0x100_0000_01B3
    }

    /// Records the first violation of a rule, which ends the run.
    func violate(_ rule: String, _ detail: @autoclosure () -> String) {
        guard violation == nil else { return }
        violation = (rule, "\(detail()), at \(clock.milliseconds) ms")
    }

    func check(_ condition: Bool, _ rule: String, _ detail: @autoclosure () -> String) {
        if !condition { violate(rule, detail()) }
    }

    /// Checks a stream that ended without an error.
    func checkEnd(_ count: Int, of expected: Int, _ rule: String, _ detail: @autoclosure () -> String) {
        check(count == expected, rule, "\(detail()) ended after \(count) of \(expected)")
    }

    /// Random numbers for one decision about a call, which do not depend on other calls.
    func random(_ call: Int, _ number: Int) -> SeededGenerator {
        SeededGenerator(plan.seed &+ 0x5EED, (call &+ 2) &* 1_000 &+ number)
    }

    // MARK: Calls

    func end(_ id: Int, _ outcome: Int) {
        note("call ends", id, outcome)
        calls[id]?.ends += 1
        check(calls[id]?.ends == 1, "a call ends once", "call \(id) ended \(calls[id]?.ends ?? 0) times")
        calls[id]?.task = nil
        calls[id]?.handle = nil
    }

    func cancel(_ id: Int) {
        guard calls[id]?.ends == 0 else { return }
        calls[id]?.cancelTime = clock.milliseconds
        canceled.append(id)
    }

    /// Checks what must hold whenever nothing is left to do at the current time.
    func checkBeforeAdvance() {
        for id in canceled {
            check(calls[id]?.ends == 1, "a canceled call ends at once", "call \(id) is still in flight")
        }
        canceled = []
        if let resetStart { violate("a reset waits for nothing", "it began at \(resetStart) ms") }
    }

    // MARK: Requests

    /// Checks a request of a call that leaves the app.
    func checkRequest(of id: Int) {
        guard let call = calls[id] else { return violate("requests belong to a call", "call \(id)") }
        check(call.epoch >= epoch, "no old request after a reset", "call \(id) sends after the reset")
        guard call.ends > 0, call.finished >= call.started else { return }
        // A deduplicator may continue a request for another call.
        let isShared =
            plan.setup.deduplicates && call.operation.isShareable
            && calls.values.contains { other in
                other.ends == 0 && other.operation.resource == call.operation.resource
                    && (other.environment ?? call.environment ?? 0) == (call.environment ?? other.environment ?? 0)
            }
        check(isShared, "no request after the end of its call", "call \(id) sends a request")
    }

    func begin(_ call: Int, isLogin: Bool) -> Int {
        lastExchange += 1
        exchanges[lastExchange] = Exchange(
            call: call, isLogin: isLogin, epoch: isLogin ? epoch : calls[call]?.epoch ?? 0)
        note("exchange begins", lastExchange, call)
        if let limit = plan.setup.limit, !isLogin {
            let count = exchanges.values.count { !$0.isLogin }
            check(count <= max(limit, highestLimit), "the concurrency limit", "\(count) requests in flight")
        }
        return lastExchange
    }

    var highestLimit = 0
    /// The newest token.
    var lastToken = -1
    /// Whether the manager or the router has canceled calls at the current time.
    var cancelTime = -1
    var isCanceling: Bool { cancelTime == clock.milliseconds }

    func finish(_ exchange: Int, _ outcome: Int) {
        guard exchanges.removeValue(forKey: exchange) != nil else { return }
        note("exchange ends", exchange, outcome)
    }

    func beginReset() {
        resetStart = clock.milliseconds
        note("reset begins")
    }

    func endReset() {
        note("reset ends")
        resetStart = nil
        epoch += 1
        for exchange in exchanges.values where !exchange.isLogin && exchange.epoch < epoch {
            // The reader of a stream receives the cancellation, and then releases the body.
            if calls[exchange.call]?.operation.kind == .stream || calls[exchange.call]?.operation.kind == .events {
                continue
            }
            violate("no call in flight after a reset", "an exchange of call \(exchange.call)")
        }
    }
}

/// Counts the events of all calls.
struct Observer: EventMonitor {
    let world: World

    func record(_ event: CallEvent) {
        let id = event.request.options[CallNumber.self].id
        switch event.kind {
        case .started:
            world.note("started", id)
            world.calls[id]?.started += 1
        case .finished, .failed, .cancelled:
            world.note("finished", id)
            world.calls[id]?.finished += 1
            if let call = world.calls[id] {
                world.check(call.finished <= call.started, "a call ends once", "call \(id), by its monitor")
            }
        case .retry(_, let cause):
            let isHedge = cause.hasPrefix("no response yet")
            world.note("retry", id, isHedge ? 1 : 0)
            // A stream that reconnects after progress does not use the budget.
            guard world.calls[id]?.operation.kind != .events else { return }
            if isHedge { world.hedges += 1 } else { world.retries += 1 }
            check(world.retries, of: world.retryable)
            check(world.hedges, of: world.hedgeable)
        default: break
        }
    }

    private func check(_ count: Int, of requests: Int) {
        let seconds = Double(world.clock.milliseconds) / 1_000
        let most = Budget.ratio * Double(requests) + Budget.minimum * (seconds + 1) + 1e-3
        world.check(Double(count) <= most, "the retry budget", "\(count), at most \(most)")
    }
}

/// Counts the requests that reach the next interceptor.
struct Counter: Interceptor {
    let count: @Sendable () -> Void

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        count()
        return try await next(request)
    }
}

/// The budgets of retries and of hedges.
enum Budget {
    static let ratio = 0.2, minimum = 0.5
}

/// The number of the call that a request belongs to. It is not `Hashable`, so a deduplicator ignores it.
struct CallNumber: RequestOption {
    struct Value: Sendable { let id: Int }
    static let defaultValue = Value(id: -1)
}

/// A fault of the simulation, each of which one rule must find.
enum Fault: String, CaseIterable {
    /// An interceptor drops a call, or sends a request later.
    case lostCall = "lost-call", lateRequest = "late-request", sleeper
    /// A completion runs twice. A call ignores its cancellation.
    case twice, deaf
    /// The limiter, the budget and the rate have no effect.
    case limit, budget, rate, breaker
    /// An interceptor adds the token at every origin, repeats a lost POST, or refreshes separately.
    case foreignToken = "foreign-token", repeatPost = "repeat-post", refresh
    /// The token of another environment is used.
    case environment
    /// The cache's clock is slow. Writes bypass the cache.
    case slowCache = "slow-cache", hiddenWrite = "hidden-write"
    /// A reset keeps the tokens, the cookies or the stored responses.
    case keptTokens = "kept-tokens", keptCookies = "kept-cookies", keptCache = "kept-cache"
    /// A stream of events does not reconnect, the last pages are missing, and a body ends early without an error.
    case shortEvents = "short-events", shortPages = "short-pages", shortBody = "short-body"
    /// A server repeats an event, and a reset waits.
    case repeatedEvent = "repeated-event", slowReset = "slow-reset"
    /// An interceptor cancels calls that nobody canceled.
    case falseCancel = "false-cancel"
}
