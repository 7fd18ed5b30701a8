import Glibc

/// A value protected by a POSIX mutex. The thread sanitizer recognizes that mutex, unlike `Mutex`.
final class Locked<Value>: @unchecked Sendable {  // the value is only accessed under the lock
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var value: Value

    init(_ value: sending Value) {
        self.value = value
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func withLock<Output>(_ body: (inout Value) throws -> Output) rethrows -> Output {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
