import Foundation
import Glibc

/// Processes that end with requests in flight.
struct Exits {
    let count: Int
    let server: ServerProcess

    func run() throws -> Report {
        say("\(count) processes that exit with requests in flight")
        let start = Figures.now()
        var faults: [String] = []
        var clean = 0
        var slowest = 0.0
        var warm = start
        let errors = FileManager.default.temporaryDirectory.appendingPathComponent("soak-\(getpid()).errors").path
        defer { unlink(errors) }
        for index in 0..<count {
            if index == count / 2 { warm = Figures.now() }
            let descriptor = open(errors, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            defer { close(descriptor) }
            let begin = ContinuousClock.now
            let child = Spawn.this(["leave", "\(server.port)", "\(index)", "\(server.fullPort)"], error: descriptor)
            let status = child.map(wait) ?? -1
            let seconds = (ContinuousClock.now - begin) / .seconds(1)
            slowest = max(slowest, seconds)
            let words = (try? String(contentsOfFile: errors, encoding: .utf8)) ?? ""
            if status == 0, words.isEmpty {
                clean += 1
            } else {
                faults.append("process \(index): status \(status): \(words)")
            }
        }
        say(String(format: "the slowest took %.2f s", slowest))
        let end = Figures.now()
        return Report(
            start: start, warm: warm, end: end, warmUp: "after \(count / 2)",
            outcome: "exited cleanly \(clean) of \(count)", faults: faults)
    }

    /// Waits for a process and returns its status as wait(2) reports it: the fatal signal, or the exit code times 256.
    /// Aborts the process after 30 s.
    private func wait(_ child: pid_t) -> Int32 {
        var status: Int32 = 0
        for _ in 0..<3_000 {
            if waitpid(child, &status, WNOHANG) == child { return status }
            usleep(10_000)
        }
        kill(child, SIGABRT)
        waitpid(child, &status, 0)
        return status
    }
}
