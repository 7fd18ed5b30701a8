/// Limits the share of requests that are retried: `RetryBudget` of `SwitchboardResilience`.
package protocol RetryLimit: Sendable {
    /// Adds the share that one call allows.
    func countCall()
    /// Takes the cost of one retry. Returns false when too little is left.
    func takeRetry() -> Bool
}
