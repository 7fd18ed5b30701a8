import SwitchboardPlatform
import Foundation
import Switchboard

/// A value under a lock, and the tasks that wait for a state of it.
final class WaitableState<Value: Sendable>: Sendable {
    private struct Contents: Sendable {
        var value: Value
        var waiters = WaitingTasks()
        var closedBy: NetworkError?
    }

    private let contents: Protected<Contents>

    init(_ value: Value) {
        contents = Protected(Contents(value: value))
    }

    /// Changes or reads the value. The waiting tasks then check it again.
    @discardableResult
    func withLock<Output: Sendable>(_ change: (inout Value) -> Output) -> Output {
        let (output, waiters) = contents.withLock { (change(&$0.value), $0.waiters.take()) }
        waiters.resume()
        return output
    }

    /// Fails every wait, present and future, that is not fulfilled at once.
    func close(_ error: NetworkError) {
        let waiters = contents.withLock { contents in
            contents.closedBy = contents.closedBy ?? error
            return contents.waiters.take()
        }
        waiters.resume()
    }

    /// Suspends until `take` returns a value.
    ///
    /// - Throws: A `timedOut` error with `reason` after `limit`, the error passed to ``close(_:)``, or
    ///   `CancellationError`.
    func wait<Output: Sendable>(
        within limit: Duration, reason: @escaping @Sendable (Value) -> String,
        for take: @escaping @Sendable (inout Value) -> Output?
    ) async throws -> Output {
        @Sendable func result(_ contents: inout Contents) -> Result<Output, NetworkError>? {
            take(&contents.value).map { .success($0) } ?? contents.closedBy.map { .failure($0) }
        }
        let contents = contents
        try Task.checkCancellation()
        // The task of the operation may start after the limit.
        if let result = contents.withLock(result) { return try result.get() }
        return try await withTimeout(
            limit,
            error: NetworkError(.timedOut, reason: "\(contents.withLock { reason($0.value) }) within \(limit)"),
            keepingLate: { _ in true }
        ) {
            let taken = Protected<Result<Output, NetworkError>?>(nil)
            while true {
                await contents.wait(in: \.waiters) { contents in
                    let result = result(&contents)
                    taken.withLock { $0 = result }
                    return result != nil
                }
                if let result = taken.value { return result }
                try Task.checkCancellation()
            }
        }.get()
    }
}

/// Values in the order of their arrival, which are also taken one by one.
struct Arrivals<Value: Sendable>: Sendable {
    private(set) var all: [Value] = []
    private var taken = 0

    var count: Int { all.count }

    mutating func append(_ value: Value) { all.append(value) }

    /// Returns the first value that no earlier call returned.
    mutating func next() -> Value? {
        guard taken < all.count else { return nil }
        defer { taken += 1 }
        return all[taken]
    }
}
