import Foundation

/// What a mode found: its figures and whether they are as they should be.
struct Report {
    let start: Figures
    let warm: Figures
    let end: Figures
    /// What was done before the second figures were taken: `after 10000`.
    let warmUp: String
    /// `ended once 1000000 of 1000000`
    let outcome: String
    /// What is wrong besides the figures.
    var faults: [String]

    /// Under a sanitizer memory is its own: freed bytes stay with it for a while.
    private static let isInstrumented = ProcessInfo.processInfo.environment["SOAK_SANITIZER"] != nil

    private var findings: [String] {
        var findings = faults
        let allowed = warm.residentKiB + warm.residentKiB / 10 + 4 << 10
        if end.residentKiB > allowed, !Self.isInstrumented {
            findings.append("memory grew from \(warm.mebibytes) to \(end.mebibytes) MiB")
        }
        if end.descriptors > warm.descriptors {
            findings.append("descriptors grew from \(warm.descriptors) to \(end.descriptors)")
        }
        if end.threads > warm.threads { findings.append("threads grew from \(warm.threads) to \(end.threads)") }
        return findings
    }

    /// Prints findings and the line of figures. Gives the exit status.
    func finish() -> Int32 {
        let findings = findings
        for finding in findings { complain("soak: FAILED: \(finding)") }
        func three(_ figure: (Figures) -> some CustomStringConvertible) -> String {
            [start, warm, end].map { figure($0).description }.joined(separator: "/")
        }
        say(
            "soak: rss \(three(\.mebibytes)) MiB, descriptors \(three(\.descriptors)), threads \(three(\.threads))"
                + " (start/\(warmUp)/end), \(outcome)")
        return findings.isEmpty ? 0 : 1
    }
}
