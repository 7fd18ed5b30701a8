#if canImport(Darwin)
import os

@usableFromInline typealias PlatformLock = os_unfair_lock_s
#else
import Foundation

@usableFromInline typealias PlatformLock = pthread_mutex_t
#endif

/// Protects a value with a lock. Copies share both.
///
/// The lock is `os_unfair_lock` on Apple's systems and a POSIX mutex elsewhere. `Mutex` is not available on the oldest
/// supported systems of Apple, and on Linux the thread sanitizer does not detect it. The lock is not recursive, and the
/// closure of `withLock` must not call a user's code. Every call takes the lock several times, so it is allocated
/// together with the value. All of the type is public, because other modules can specialize only public code.
@frozen
public struct Protected<Value: Sendable>: @unchecked Sendable {  // only `withLock` accesses the value
    @usableFromInline let buffer: ManagedBuffer<Value, PlatformLock>

    // A closure, because a captured parameter would be copied.
    /// Creates a protected value.
    @inlinable
    @inline(__always)
    public init(_ value: @autoclosure () -> Value) {
        buffer = LockedBuffer<Value>.create(minimumCapacity: 1) { buffer in
            buffer.withUnsafeMutablePointerToElements { lock in
                lock.initialize(to: PlatformLock())
                #if !canImport(Darwin)
                pthread_mutex_init(lock, nil)
                #endif
            }
            return value()
        }
    }

    /// Runs `body` with exclusive access to the value.
    @inlinable
    @inline(__always)
    public func withLock<Output>(_ body: (inout Value) throws -> Output) rethrows -> Output {
        try buffer.withUnsafeMutablePointers { value, lock in
            #if canImport(Darwin)
            os_unfair_lock_lock(lock)
            defer { os_unfair_lock_unlock(lock) }
            #else
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            #endif
            return try body(&value.pointee)
        }
    }

    /// Sets the value, and returns the previous one, which the caller releases outside of the lock.
    @inlinable
    public func swap(_ value: Value) -> Value {
        withLock { protected in
            defer { protected = value }
            return protected
        }
    }

    /// A copy of the current value.
    @inlinable public var value: Value { withLock { $0 } }

    /// The identity that all copies share.
    public var identity: ObjectIdentifier { ObjectIdentifier(buffer) }
}

extension Protected: CustomReflectable {
    /// An empty mirror: `dump` would read the value without the lock, and show credentials in it.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The memory of a ``Protected``: the value, and the lock after it.
@usableFromInline
final class LockedBuffer<Value>: ManagedBuffer<Value, PlatformLock> {
    #if !canImport(Darwin)
    @inlinable
    deinit {
        _ = withUnsafeMutablePointerToElements { pthread_mutex_destroy($0) }
    }
    #endif
}
