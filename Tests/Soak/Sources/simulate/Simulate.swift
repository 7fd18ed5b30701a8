import Foundation
import Glibc

/// Runs a whole app in one thread and in virtual time, decided by seeds. `scripts/packages/simulate` builds and runs it.
@main
enum Simulate {
    private static let usage = """
        usage: simulate [--seeds N] [--seed S] [--calls N] [--only ID,ID...] [--break FAULT] [--trace]
        faults: \(Fault.allCases.map(\.rawValue).joined(separator: ", "))
        """

    static func main() {
        repeatHashes()
        SingleThread.install()
        var (count, first, calls, only, fault, isTraced) = (1, UInt64(1), 100, [Int]?.none, Fault?.none, false)
        var words = CommandLine.arguments.dropFirst()
        while let option = words.popFirst() {
            if option == "--list-faults" {
                print(Fault.allCases.map(\.rawValue).joined(separator: "\n"))
                exit(0)
            }
            if option == "--trace" {
                isTraced = true
                continue
            }
            guard let value = words.popFirst() else { stop(usage) }
            switch option {
            case "--seeds": count = Int(value) ?? 0
            case "--seed": first = UInt64(value) ?? 0
            case "--calls": calls = Int(value) ?? 0
            case "--only": only = value.split(separator: ",").compactMap { Int($0) }
            case "--break":
                fault = Fault(rawValue: value)
                if fault == nil { stop(usage) }
            default: stop(usage)
            }
        }
        guard count > 0, first > 0, calls > 0 else { stop(usage) }
        var (seeds, steps, hash, failures) = (0, 0, UInt64(0), 0)
        let start = ContinuousClock.now
        for seed in first..<first + UInt64(count) {
            var plan = Plan(seed: seed, calls: calls)
            if let only { plan.actions.removeAll { !only.contains($0.id) } }
            let run = Run(plan, fault, isRecording: isTraced)
            if isTraced { print(run.lines.joined(separator: "\n")) }
            (seeds, steps) = (seeds + 1, steps + run.steps)
            hash = (hash &* 31) ^ run.hash
            // The same seed twice, now and then.
            if run.violation == nil, seed % 16 == 0 || count < 16, Run(plan, fault).hash != run.hash {
                print("seed \(seed): FAILED: a second run has another trace")
                failures += 1
            }
            if let violation = run.violation {
                failures += 1
                report(seed, plan, fault, violation, calls)
                if fault != nil || failures == 10 { break }
            }
        }
        let seconds = ContinuousClock.now - start
        print(
            "\(seeds) seeds from \(first), \(steps) steps, \(failures) failed, hash \(String(hash, radix: 16)), \(seconds)"
        )
        exit(failures == 0 ? 0 : 1)
    }

    private static func report(
        _ seed: UInt64, _ plan: Plan, _ fault: Fault?, _ violation: (rule: String, detail: String), _ calls: Int
    ) {
        print("seed \(seed): FAILED: \(violation.rule): \(violation.detail)")
        let small = Run.shrink(plan, fault, violation.rule)
        let run = Run(small, fault, isRecording: true)
        print(
            "the smallest plan that violates this rule, with \(small.actions.count) of \(plan.actions.count) actions:")
        print("  \(small.setup)")
        for action in small.actions { print("  \(action.id) at \(action.time) ms: \(action.kind)") }
        print(run.lines.suffix(400).map { "    " + $0 }.joined(separator: "\n"))
        if let violation = run.violation { print("    \(violation.rule): \(violation.detail)") }
        let ids = small.actions.map { String($0.id) }.joined(separator: ",")
        let option = fault.map { " --break \($0.rawValue)" } ?? ""
        print("repeat: scripts/packages/simulate --seed \(seed) --calls \(calls) --only \(ids)\(option) --trace")
    }

    /// Starts the process again with the same hashes in each process, because they decide about the order of
    /// dictionaries.
    private static func repeatHashes() {
        guard getenv("SWIFT_DETERMINISTIC_HASHING") == nil else { return }
        setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
        var arguments: [UnsafeMutablePointer<CChar>?] = CommandLine.arguments.map { strdup($0) }
        arguments.append(nil)
        execv("/proc/self/exe", arguments)
        stop("cannot start again")
    }

    private static func stop(_ text: String) -> Never {
        FileHandle.standardError.write(Data((text + "\n").utf8))
        exit(64)
    }
}
