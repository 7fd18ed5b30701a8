#if canImport(os)
import os
#else
import Foundation
#endif

/// A value that is read and changed under one lock.
///
/// The lock is `OSAllocatedUnfairLock` where there is one and a POSIX mutex elsewhere: `Mutex` is missing on the oldest
/// supported systems of Apple, and on Linux the thread sanitizer does not see it. It is not recursive, and no foreign
/// code may run inside `withLock`.
package final class Protected<Value: Sendable>: @unchecked Sendable {  // the value is touched under the lock alone
    #if canImport(os)
    private let lock = OSAllocatedUnfairLock()
    #else
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)  // at an address that does not move
    #endif
    private var protected: Value

    #if canImport(os)
    package init(_ value: Value) {
        protected = value
    }
    #else
    package init(_ value: Value) {
        protected = value
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }
    #endif

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
    package func swap(_ value: Value) -> Value {
        withLock { protected in
            defer { protected = value }
            return protected
        }
    }

    /// A copy of the value as it is now.
    package var value: Value { withLock { $0 } }
}

extension Protected: CustomReflectable {
    /// Nothing: `dump` would read the value without the lock, and show credentials in it.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
