import Foundation

/// A value that a server keeps between requests, which arrive on several threads.
package final class Memory<Value: Sendable>: @unchecked Sendable {  // `value` under `lock`
    private let lock = NSLock()
    private var value: Value

    package init(_ value: Value) {
        self.value = value
    }

    /// Reads and changes the value. No two closures run at once.
    package func use<Output>(_ body: (inout Value) throws -> Output) rethrows -> Output {
        try lock.withLock { try body(&value) }
    }
}
