import Foundation

/// Records values in order.
final class Notes<Value: Sendable>: @unchecked Sendable {  // `values` is used under `lock` only
    private let lock = NSLock()
    private var values: [Value] = []

    var all: [Value] { lock.withLock { values } }

    func add(_ value: Value) {
        lock.withLock { values.append(value) }
    }
}
