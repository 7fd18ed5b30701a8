import Foundation

/// Returns the result of a closure that runs on a thread with a stack of this size. The default is that of a thread of
/// Dispatch or of Swift concurrency.
package func onThread<Value: Sendable>(
    stack: Int = 512 << 10, _ body: @escaping @Sendable () throws -> Value
) async -> Result<Value, any Error> {
    await withCheckedContinuation { done in
        let thread = Thread { done.resume(returning: Result { try body() }) }
        thread.stackSize = stack
        thread.start()
    }
}
