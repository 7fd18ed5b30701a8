#if canImport(os)
import os

@usableFromInline typealias PlatformLock = os_unfair_lock_s
#else
import Foundation

@usableFromInline typealias PlatformLock = pthread_mutex_t
#endif
