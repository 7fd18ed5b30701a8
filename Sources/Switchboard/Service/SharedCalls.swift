import SwitchboardPlatform

/// Operations by a key, each shared by those who ask while it runs. The last one to leave cancels it.
package final class SharedCalls<Key: Hashable & Sendable, Output: Sendable, Note: Sendable>: Sendable {
    private struct Entry {
        let call: SharedCall<Output>
        let note: Note
    }

    private let entries = Protected<[Key: Entry]>([:])

    package init() {}

    /// How many are under way.
    package var count: Int { entries.withLock { Array($0.values) }.count { $0.call.isUnderWay } }

    /// What the operation brings: one that is under way, or a new one.
    ///
    /// - Parameters:
    ///   - key: What is the same to those who share it.
    ///   - note: What is noted beside a new one.
    ///   - didJoin: Called with the note of one that is under way.
    ///   - operation: The operation, given its note; neither a caller's task nor a router's call ends it.
    /// - Returns: What it brings.
    /// - Throws: What it throws, `CancellationError` when the caller was cancelled.
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
