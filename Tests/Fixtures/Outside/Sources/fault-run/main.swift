import Foundation
import Switchboard
import SwitchboardMocks
import SwitchboardResilience

// fault-run [--requests N] [--seed S]: makes N calls to a MockServer that fails by the seed. Ends with `calls N, ended
// once N, applied twice 0`. The lines before name each failed check, and the exit code is then 1. From 1,000 calls on,
// each session must get answers, and the server must fail in each way.
var arguments: [String: UInt64] = ["--requests": 20_000, "--seed": 1]
let words = CommandLine.arguments.dropFirst()
for (name, value) in zip(words, words.dropFirst()).enumerated().filter({ $0.offset % 2 == 0 }).map(\.element) {
    guard arguments[name] != nil, let number = UInt64(value) else { exit(64) }
    arguments[name] = number
}
guard words.count % 2 == 0, let count = arguments["--requests"].map(Int.init), count > 0,
    let seed = arguments["--seed"]
else { exit(64) }

func openDescriptors() -> Int {
    let folder = FileManager.default.fileExists(atPath: "/proc/self/fd") ? "/proc/self/fd" : "/dev/fd"
    return (try? FileManager.default.contentsOfDirectory(atPath: folder).count) ?? 0
}

/// Waits until the condition holds, for at most 60 s. Returns the condition.
func settles(_ isSettled: () -> Bool) async -> Bool {
    for _ in 0..<6_000 where !isSettled() { try? await Task.sleep(for: .milliseconds(10)) }
    return isSettled()
}

let ledger = Ledger(seed: seed)
let ends = Ends()
ends.startClock()
let (retryRatio, retriesPerSecond) = (0.15, 10.0)
let budget = RetryBudget(ratio: retryRatio, minimumPerSecond: retriesPerSecond)
let limiter = ConcurrencyLimiter(64)
let plans = (0..<count).map { Plan($0, seed: seed) }

// A call that never ends must not block the caller of this program.
let patience = Duration.seconds(120) + .milliseconds(count * 20)
let watch = Task {
    try await Task.sleep(for: patience)
    let missing = plans.filter { ends.ended[$0.id] == nil }
    print("seed \(seed): \(missing.count) calls have not ended after \(patience): \(missing.prefix(5))")
    exit(1)
}

func run() async throws -> (seconds: Double, openConnections: Int) {
    let server = try MockServer { ledger.answer($0) }
    let policy = RetryPolicy(maximumAttempts: 4, baseDelay: .milliseconds(4), maximumDelay: .seconds(2))
        .limited(by: budget)
    var configuration = SessionConfiguration(maximumConnectionsPerHost: 64)
    configuration.proxy = .none
    func router(_ session: any NetworkSession) -> Router<URLEndPoint> {
        Router(session: session, interceptors: [policy, limiter])
    }
    let start = ContinuousClock.now
    do {
        let calls = Calls(
            server: server.url,
            routers: (
                router(DefaultSession.make(configuration)),
                router(FoundationSession(configuration: SessionConfiguration(maximumConnectionsPerHost: 64)))
            ),
            ends: ends)
        await calls.run(plans, width: 160)
    }
    let seconds = (.now - start) / .seconds(1)
    // The sessions are released, which closes their connections.
    _ = await settles { server.openConnections == 0 }
    let left = server.openConnections
    server.stop()
    return (seconds, left)
}

let before = openDescriptors()
let (seconds, openConnections) = try await run()
_ = await settles { openDescriptors() <= before + 8 }
let descriptors = openDescriptors() - before

let entries = ledger.all
var findings: [String] = []
@MainActor func check(_ what: String, _ ids: [Int]) {
    guard !ids.isEmpty else { return }
    let shown = ids.sorted().prefix(5).map { "  \(plans[$0]): \(entries[$0]?.faults ?? [])" }
    findings.append("\(ids.count) \(what), seed \(seed):\n" + shown.joined(separator: "\n"))
}

let endedOnce = plans.filter { ends.ended[$0.id] == 1 }
let appliedTwice = plans.map(\.id).filter { entries[$0]?.applied ?? 0 > 1 }
check("did not end once", plans.map(\.id).filter { ends.ended[$0] != 1 })
check("were applied twice", appliedTwice)
check(
    "POSTs without a key were sent twice",
    plans.filter { $0.kind == .post && entries[$0.id]?.received ?? 0 > 1 }.map(\.id))
check("ended too long after their total timeout", ends.overdue)
check("were given another answer than theirs", ends.wrongAnswers)
check("were sent more than 4 times", plans.map(\.id).filter { entries[$0]?.received ?? 0 > 4 })

let again = entries.values.reduce(0) { $0 + max(0, $1.received - 1) }
let allowed = retryRatio * Double(count) + retriesPerSecond * (seconds + 1)
if Double(again) > allowed { findings.append("\(again) requests were sent again, the budget allows \(Int(allowed))") }
if ledger.damaged > 0 { findings.append("\(ledger.damaged) requests arrived damaged") }
if limiter.inFlight + limiter.waiting > 0 { findings.append("\(limiter.inFlight) places were not given back") }
if openConnections > 0 { findings.append("\(openConnections) connections were left open") }
if descriptors > 8 { findings.append("\(descriptors) descriptors were left open") }

let faults = entries.values.reduce(into: [String: Int]()) { $0.merge($1.faults.map { ($0, 1) }, uniquingKeysWith: +) }
if count >= 1_000 {
    let answered = ends.answered
    for usesFoundation in [false, true] {
        let ids = plans.filter { $0.usesFoundation == usesFoundation }.map(\.id)
        let session = usesFoundation ? "FoundationSession" : "the default session"
        if ids.filter({ answered.contains($0) }).count * 4 < ids.count {
            findings.append("fewer than a quarter of the calls over \(session) were answered")
        }
    }
    if again == 0 { findings.append("no request was sent again") }
    for fault in ["429", "503", "reset", "close", "truncated", "stalled", "stall"] where faults[fault] == nil {
        findings.append("the server never failed by \(fault)")
    }
}

func table(_ counts: [String: Int]) -> String {
    counts.sorted { $0.value > $1.value }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
}
print("seed \(seed), \(String(format: "%.1f", seconds)) s; at the server: \(table(faults))")
print("calls: \(table(ends.outcomes))")
print(
    "retries: \(ends.retries) decided, \(again) at the server, at most \(Int(allowed)) allowed; descriptors: +\(descriptors)"
)
for finding in findings { print("FAILED: \(finding)") }
print("calls \(count), ended once \(endedOnce.count), applied twice \(appliedTwice.count)")
exit(findings.isEmpty ? 0 : 1)
