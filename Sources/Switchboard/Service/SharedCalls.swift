import SwitchboardPlatform

/// Operations by key, each shared by all callers that request it while it runs. The last caller that leaves cancels it.
package final class SharedCalls<Key: Hashable & Sendable, Output: Sendable, Note: Sendable>: Sendable {
    private struct Entry {
        let call: SharedCall<Output>
        let note: Note
    }

    private let entries = Protected<[Key: Entry]>([:])

    package init() {}

    /// The number of operations in flight.
    package var count: Int { entries.withLock { Array($0.values) }.count { $0.call.isUnderWay } }

    /// Waits for the value of an operation: the one in flight for the key, or a new one.
    ///
    /// - Parameters:
    ///   - key: Identifies the operation.
    ///   - note: A note that is stored with a new operation.
    ///   - didJoin: Called with the note of the operation in flight when the caller joins it.
    ///   - operation: The operation, called with its note. It does not end with a single caller's task or call.
    /// - Returns: The value of the operation.
    /// - Throws: The error of the operation, or `CancellationError` when the caller was canceled.
    package func value(
        for key: Key, note: @autoclosure () -> Note, didJoin: (Note) -> Void = { _ in },
        _ operation: @escaping @Sendable (Note) async throws -> Output
    ) async throws -> Output {
        try CallCancellation.check()
        let (entry, place, isNew) = entries.withLock { entries in
            if let entry = entries[key], let place = entry.call.enter() { return (entry, place, false) }
            let entry = Entry(call: SharedCall<Output>(endsWithCallers: true), note: note())
            entries[key] = entry
            return (entry, entry.call.enter() ?? 0, true)
        }
        if isNew {
            entry.call.start {
                let result: Result<Output, any Error>
                do { result = .success(try await operation(entry.note)) } catch { result = .failure(error) }
                self.remove(entry.call, key)
                return result
            }
        } else {
            didJoin(entry.note)
        }
        return try await entry.call.value(at: place)
    }

    private func remove(_ call: SharedCall<Output>, _ key: Key) {
        entries.withLock { if $0[key]?.call === call { $0[key] = nil } }
    }
}
