#if canImport(os)
import os
#else
import Foundation
#endif

/// A value that is read and changed under one lock. Copies share both.
///
/// The lock is `os_unfair_lock` where there is one and a POSIX mutex elsewhere: `Mutex` is missing on the oldest
/// supported systems of Apple, and on Linux the thread sanitizer does not see it. It is not recursive, and no foreign
/// code may run inside `withLock`. Every call takes it several times, so the lock lies behind the value in the same piece of
/// memory, and all of it is public: only what is public is specialized in other modules.
@frozen
public struct Protected<Value: Sendable>: @unchecked Sendable {  // the value is touched under the lock alone
    @usableFromInline let buffer: ManagedBuffer<Value, PlatformLock>

    /// Makes one.
    @inlinable
    @inline(__always)
    public init(_ value: Value) {
        buffer = LockedBuffer<Value>.create(minimumCapacity: 1) { buffer in
            buffer.withUnsafeMutablePointerToElements { lock in
                lock.initialize(to: PlatformLock())
                #if !canImport(os)
                pthread_mutex_init(lock, nil)
                #endif
            }
            return value
        }
    }

    /// Runs `body` with the value, while nobody else has it.
    @inlinable
    @inline(__always)
    public func withLock<Output>(_ body: (inout Value) throws -> Output) rethrows -> Output {
        try buffer.withUnsafeMutablePointers { value, lock in
            #if canImport(os)
            os_unfair_lock_lock(lock)
            defer { os_unfair_lock_unlock(lock) }
            #else
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            #endif
            return try body(&value.pointee)
        }
    }

    /// Sets the value, and gives the one before: let go of it outside of the lock.
    @inlinable
    public func swap(_ value: Value) -> Value {
        withLock { protected in
            defer { protected = value }
            return protected
        }
    }

    /// A copy of the value as it is now.
    @inlinable public var value: Value { withLock { $0 } }

    /// The same for copies of one.
    public var identity: ObjectIdentifier { ObjectIdentifier(buffer) }
}

extension Protected: CustomReflectable {
    /// Nothing: `dump` would read the value without the lock, and show credentials in it.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

#if canImport(os)
@usableFromInline typealias PlatformLock = os_unfair_lock_s
#else
@usableFromInline typealias PlatformLock = pthread_mutex_t
#endif

@usableFromInline
final class LockedBuffer<Value>: ManagedBuffer<Value, PlatformLock> {
    #if !canImport(os)
    @inlinable
    deinit {
        _ = withUnsafeMutablePointerToElements { pthread_mutex_destroy($0) }
    }
    #endif
}
