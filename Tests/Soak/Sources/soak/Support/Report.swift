import Foundation

/// The result of a mode: its figures and faults.
struct Report {
    let start: Figures
    let warm: Figures
    let end: Figures
    /// The work before the second figures were read, such as `after 10000`.
    let warmUp: String
    /// The outcome, such as `ended once 1000000 of 1000000`.
    let outcome: String
    /// The faults other than those of the figures.
    var faults: [String]

    /// True with a sanitizer. It keeps freed memory for a while, so memory figures do not count.
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

    /// Prints the findings and the line of figures. Returns the exit status.
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
