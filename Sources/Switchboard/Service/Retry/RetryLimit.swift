/// Limits how many requests are sent again, of all that are sent: `RetryBudget` of `SwitchboardResilience`.
package protocol RetryLimit: Sendable {
    /// Puts in what a call allows.
    func countCall()
    /// Takes what a retry costs; false when there is nothing left.
    func takeRetry() -> Bool
}
