import Synchronization

/// Keeps a number of requests in flight: that many tasks each send the next request after a response.
struct Load {
    /// The condition that stops new requests. Requests in flight still complete.
    enum End: Sendable {
        case requests(Int)
        case seconds(Double)
    }

    struct Result: Sendable {
        /// The latency of each answered request in nanoseconds, unordered, at most 4 seconds each.
        var latencies: [UInt32] = []
        /// The sum of the calls' results.
        var sum = 0
        var errors = 0
        var firstError: String?
        var seconds = 0.0
    }

    private let peer: any Peer
    private let work: Work
    private let inFlight: Int
    private let end: End

    init(_ peer: any Peer, _ work: Work, _ inFlight: Int, until end: End) {
        self.peer = peer
        self.work = work
        self.inFlight = inFlight
        self.end = end
    }

    func run() async -> Result {
        let clock = ContinuousClock()
        let start = clock.now
        let gate = Gate(end, from: start)
        var whole = await withTaskGroup(of: Result.self) { group in
            for _ in 0..<inFlight { group.addTask(executorPreference: peer.executor) { await calls(through: gate) } }
            return await group.reduce(into: Result()) { $0.add($1) }
        }
        whole.seconds = (clock.now - start) / .seconds(1)
        return whole
    }

    private func calls(through gate: Gate) async -> Result {
        var result = Result()
        var start = ContinuousClock.now
        while gate.admits(at: start) {
            do {
                result.sum += try await work.call(peer)
                let now = ContinuousClock.now
                result.latencies.append((now - start).nanoseconds)
                start = now
            } catch {
                result.errors += 1
                result.firstError = result.firstError ?? "\(error)"
                start = .now
            }
        }
        return result
    }
}

/// Admits requests until the end condition is met.
private final class Gate: Sendable {
    private let remaining: Atomic<Int>
    private let deadline: ContinuousClock.Instant?

    init(_ end: Load.End, from start: ContinuousClock.Instant) {
        switch end {
        case .requests(let count):
            remaining = Atomic(count)
            deadline = nil
        case .seconds(let seconds):
            remaining = Atomic(0)
            deadline = start + .seconds(seconds)
        }
    }

    func admits(at now: ContinuousClock.Instant) -> Bool {
        if let deadline { return now < deadline }
        return remaining.subtract(1, ordering: .relaxed).newValue >= 0
    }
}

extension Load.Result {
    fileprivate mutating func add(_ other: Load.Result) {
        latencies += other.latencies
        sum += other.sum
        errors += other.errors
        firstError = firstError ?? other.firstError
    }
}

extension Duration {
    fileprivate var nanoseconds: UInt32 {
        UInt32(clamping: components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000)
    }
}
