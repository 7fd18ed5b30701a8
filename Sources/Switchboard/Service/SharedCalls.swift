import SwitchboardPlatform

/// Operations by a key, each shared by those who ask while it runs. The last one to leave cancels it.
package final class SharedCalls<Key: Hashable & Sendable, Output: Sendable>: Sendable {
    private struct Entry {
        let call: SharedCall<Output>
        let name: String
    }

    private let entries = Protected<[Key: Entry]>([:])

    package init() {}

    /// How many are under way.
    package var count: Int { entries.withLock { Array($0.values) }.count { $0.call.isUnderWay } }

    /// What the operation brings: one that is under way, or a new one.
    ///
    /// - Parameters:
    ///   - key: What is the same to those who share it.
    ///   - name: What those who join are told.
    ///   - didJoin: Hears the name of the one under way.
    ///   - operation: The operation; neither a caller's task nor a router's call ends it.
    /// - Returns: What it brings.
    /// - Throws: What it throws, `CancellationError` when the caller was cancelled.
    package func value(
        for key: Key, name: @autoclosure () -> String = "", didJoin: (String) -> Void = { _ in },
        _ operation: @escaping @Sendable () async throws -> Output
    ) async throws -> Output {
        try CallCancellation.check()
        let (entry, place, isNew) = entries.withLock { entries in
            if let entry = entries[key], let place = entry.call.enter() { return (entry, place, false) }
            let entry = Entry(call: SharedCall<Output>(endsWithCallers: true), name: name())
            entries[key] = entry
            return (entry, entry.call.enter() ?? 0, true)
        }
        if isNew {
            entry.call.start {
                let result: Result<Output, any Error>
                do { result = .success(try await operation()) } catch { result = .failure(error) }
                self.remove(entry.call, key)
                return result
            }
        } else {
            didJoin(entry.name)
        }
        return try await entry.call.value(at: place)
    }

    private func remove(_ call: SharedCall<Output>, _ key: Key) {
        entries.withLock { if $0[key]?.call === call { $0[key] = nil } }
    }
}
