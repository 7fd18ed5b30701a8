#if canImport(os)
import os
#else
import Foundation
#endif

/// A value that is read and changed under one lock.
///
/// The lock is `OSAllocatedUnfairLock` where there is one and a POSIX mutex elsewhere: `Mutex` is missing on the oldest
/// supported systems of Apple, and on Linux the thread sanitizer does not see it. It is not recursive, and no foreign
/// code may run inside `withLock`. Every call takes it several times: it is inlined into the modules above.
package final class Protected<Value: Sendable>: @unchecked Sendable {  // the value is touched under the lock alone
    #if canImport(os)
    @usableFromInline let lock = OSAllocatedUnfairLock()
    #else
    @usableFromInline let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)  // where it does not move
    #endif
    @usableFromInline var protected: Value

    #if canImport(os)
    @inlinable
    package init(_ value: Value) {
        protected = value
    }
    #else
    @inlinable
    package init(_ value: Value) {
        protected = value
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    @inlinable
    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }
    #endif

    /// Runs `body` with the value, while nobody else has it.
    @inlinable
    package func withLock<Output>(_ body: (inout Value) throws -> Output) rethrows -> Output {
        #if canImport(os)
        lock.lock()
        defer { lock.unlock() }
        #else
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        #endif
        return try body(&protected)
    }

    /// Sets the value, and gives the one before: let go of it outside of the lock.
    @inlinable
    package func swap(_ value: Value) -> Value {
        withLock { protected in
            defer { protected = value }
            return protected
        }
    }

    /// A copy of the value as it is now.
    @inlinable package var value: Value { withLock { $0 } }
}

extension Protected: CustomReflectable {
    /// Nothing: `dump` would read the value without the lock, and show credentials in it.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
