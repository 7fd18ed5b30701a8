import Foundation
import Glibc

/// Ends the process if an operation hangs, and reports the operation.
enum Watchdog {
    /// Watches a ledger. `limit` is longer in seconds than any operation may take. Sessions have an idle timeout of 60 s.
    static func watch(_ ledger: Ledger, limit: Int = 90) {
        let thread = Thread {
            while true {
                sleep(1)
                let overdue = ledger.overdue(limit)
                guard !overdue.isEmpty else { continue }
                let text = overdue.prefix(100).map { "\n    \($0)" }.joined()
                complain("soak: FAILED: \(overdue.count) operations hang:" + text)
                _exit(3)
            }
        }
        thread.name = "watchdog"
        thread.start()
    }
}
