import Foundation

/// A value that is read and changed under one lock. No foreign code may run inside `withLock`.
final class Locked<Value: Sendable>: @unchecked Sendable {  // `value` is touched under `lock` only
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) {
        self.value = value
    }

    func withLock<Output>(_ body: (inout Value) throws -> Output) rethrows -> Output {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}

extension Locked: CustomReflectable {
    /// Nothing: `dump` would read the value without the lock, and show credentials in it.
    var customMirror: Mirror { Mirror(self, children: []) }
}
