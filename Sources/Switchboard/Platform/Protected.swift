#if canImport(os)
import os
#else
import Synchronization
#endif

/// A value that is read and changed under one lock.
///
/// The lock is the platform's cheapest: `OSAllocatedUnfairLock` where the oldest supported systems have no `Mutex`,
/// `Mutex` elsewhere. It is not recursive, and no foreign code may run inside `withLock`.
final class Protected<Value: Sendable>: Sendable {
    #if canImport(os)
    private let lock: OSAllocatedUnfairLock<Value>

    init(_ value: Value) {
        lock = OSAllocatedUnfairLock(initialState: value)
    }

    func withLock<Output: Sendable>(_ body: @Sendable (inout Value) throws -> Output) rethrows -> Output {
        try lock.withLock(body)
    }
    #else
    private let lock: Mutex<Value>

    init(_ value: Value) {
        lock = Mutex(value)
    }

    func withLock<Output: Sendable>(_ body: @Sendable (inout Value) throws -> Output) rethrows -> Output {
        try lock.withLock { value throws in try body(&value) }
    }
    #endif

    /// A copy of the value as it is now.
    var value: Value { withLock { $0 } }
}
