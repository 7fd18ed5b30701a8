import Glibc

/// Runs all jobs of Swift's concurrency on the calling thread: tasks, detached tasks and actors alike.
///
/// The runtime passes each job that is ready to a hook in place of its thread pool. A sleep in real time would end a
/// simulation's repeatability, so it ends the process.
enum SingleThread {
    // The runtime's functions have Swift's calling convention. For a few pointers and integers, it is that of C.
    private typealias Hook = @convention(c) (OpaquePointer, OpaquePointer) -> Void
    private typealias DelayHook = @convention(c) (UInt64, OpaquePointer, OpaquePointer) -> Void
    private typealias DeadlineHook =
        @convention(c) (Int64, Int64, Int64, Int64, Int32, OpaquePointer, OpaquePointer) -> Void

    /// The jobs that are ready to run, in the order in which they became ready.
    nonisolated(unsafe) static var jobs: [UnownedJob] = []

    /// Sets the hooks. Call it once, before the first task.
    static func install() {
        symbol("swift_task_enqueueGlobal_hook").assumingMemoryBound(to: Hook?.self).pointee = { job, _ in
            SingleThread.jobs.append(unsafeBitCast(job, to: UnownedJob.self))
        }
        symbol("swift_task_enqueueGlobalWithDelay_hook").assumingMemoryBound(to: DelayHook?.self).pointee = {
            _, _, _ in fatalError("a task sleeps in real time")
        }
        symbol("swift_task_enqueueGlobalWithDeadline_hook").assumingMemoryBound(to: DeadlineHook?.self).pointee = {
            _, _, _, _, _, _, _ in fatalError("a task sleeps in real time")
        }
    }

    /// Runs one of the ready jobs until it suspends or ends.
    static func run(at index: Int) {
        // The order of the others stays, so that the index alone decides about the order of a run.
        let job = jobs.remove(at: index)
        // The generic executor, as on the thread pool.
        job.runSynchronously(on: unsafeBitCast((UInt(0), UInt(0)), to: UnownedSerialExecutor.self))
    }

    private static func symbol(_ name: String) -> UnsafeMutableRawPointer {
        guard let symbol = dlsym(dlopen(nil, RTLD_NOW), name) else { fatalError("the runtime has no \(name)") }
        return symbol
    }
}
