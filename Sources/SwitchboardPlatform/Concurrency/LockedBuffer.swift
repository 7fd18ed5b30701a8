#if canImport(os)
import os
#else
import Foundation
#endif

/// The memory of a ``Protected``: the value, and the lock behind it.
@usableFromInline
final class LockedBuffer<Value>: ManagedBuffer<Value, PlatformLock> {
    #if !canImport(os)
    @inlinable
    deinit {
        _ = withUnsafeMutablePointerToElements { pthread_mutex_destroy($0) }
    }
    #endif
}
