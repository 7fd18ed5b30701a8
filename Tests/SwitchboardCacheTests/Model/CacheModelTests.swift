import Foundation
import SwitchboardCache
import SwitchboardTestSupport
import Testing

/// Random requests through a cache to a random origin. A model of a cache, written from RFC 9111, RFC 9110 and RFC 5861
/// alone, judges each answer. `SWITCHBOARD_MODEL_SEED` sets the seed.
@Suite(.timeLimit(.minutes(10)), .serialized)
struct CacheModelTests {
    private static func number(_ name: String, _ usual: Int) -> Int {
        ProcessInfo.processInfo.environment["SWITCHBOARD_MODEL_\(name)"].flatMap { Int($0) } ?? usual
    }

    private var steps: Int { cases(1_000) }
    private var seed: UInt64 { UInt64(Self.number("SEED", 1)) }

    private func check(_ run: ModelRun, expecting outcomes: [String] = ["hit", "validated", "stale w", "miss"])
        async throws
    {
        let report = try await run.run()
        for fault in report.faults { Issue.record("\(fault)") }
        // The run must meet these outcomes.
        for name in outcomes where steps >= 1_000 {
            #expect(report.outcomes.contains { $0.key.hasPrefix(name) }, "\(report)")
        }
        if Self.number("SHOWN", 0) > 0 { print("seed \(run.seed): \(report)") }
    }

    @Test("each answer is allowed, and no hit is missed, by user and Vary")
    func byUser() async throws {
        try await check(
            ModelRun(seed: seed, steps: steps) { ResponseCache(identity: $0, now: $1) },
            expecting: ["hit", "validated", "stale w", "stale r", "stale s", "miss", "notCached"])
    }

    @Test("each answer is allowed, and no hit is missed, by all fields")
    func byFields() async throws {
        try await check(
            ModelRun(seed: seed, steps: steps, usesUser: false, paths: 4) { ResponseCache(identity: $0, now: $1) })
    }

    @Test("each answer is allowed of a cache on disk that starts again")
    func onDisk() async throws {
        try await withFolder { folder in
            try await check(
                ModelRun(
                    seed: seed, steps: steps / 3,
                    makeCache: { try ResponseCache(folder: folder, identity: $0, now: $1) }, restarts: true))
        }
    }

    @Test("each answer is allowed of a cache that evicts")
    func evicting() async throws {
        try await check(
            ModelRun(seed: seed, steps: steps, isRoomy: false) {
                ResponseCache(memoryLimit: 6_000, identity: $0, now: $1)
            })
    }

    @Test("each answer to one of 16 concurrent calls is allowed")
    func concurrent() async throws {
        try await check(ModelRun(seed: seed, steps: steps, width: 16) { ResponseCache(identity: $0, now: $1) })
    }
}
