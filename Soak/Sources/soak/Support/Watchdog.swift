import Foundation
import Glibc

/// Ends the process when something hangs, and says what.
enum Watchdog {
    /// `limit` is longer than anything may take; a silent server is given up after 60 seconds.
    static func watch(_ ledger: Ledger, limit: Duration = .seconds(90)) {
        let thread = Thread {
            while true {
                sleep(1)
                let overdue = ledger.overdue(limit)
                guard !overdue.isEmpty else { continue }
                let text = overdue.prefix(100).map { "\n    \($0)" }.joined()
                complain("soak: FAILED: \(overdue.count) hang:" + text)
                // For a debugger to look at.
                if let text = getenv("SOAK_HOLD") { sleep(UInt32(String(cString: text)) ?? 0) }
                _exit(3)
            }
        }
        thread.name = "watchdog"
        thread.start()
    }
}
