import Dispatch

/// Runs one job after the other, in the order in which they come.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
package final class OneByOne: TaskExecutor {
    private let queue = DispatchQueue(label: "OneByOne")

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Waits until the jobs so far have run to their end or their next suspension.
    package func drain() async {
        await queue.flushed()
    }
}

extension DispatchQueue {
    /// Waits until the blocks that this serial queue has so far have run.
    package func flushed() async {
        await withCheckedContinuation { done in async { done.resume() } }
    }
}
