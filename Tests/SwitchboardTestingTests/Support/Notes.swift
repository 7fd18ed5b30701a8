import Foundation

/// What happened, in order.
final class Notes<Value: Sendable>: @unchecked Sendable {  // `values` is touched under `lock` only
    private let lock = NSLock()
    private var values: [Value] = []

    var all: [Value] { lock.withLock { values } }

    func add(_ value: Value) {
        lock.withLock { values.append(value) }
    }
}
