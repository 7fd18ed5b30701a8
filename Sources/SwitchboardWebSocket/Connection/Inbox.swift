import Foundation
import SwitchboardPlatform

/// The received messages that wait for their reader. A full inbox stops the connection's reading, and so the server.
final class Inbox: Sendable {
    private struct State {
        /// The bytes at which the inbox is full.
        var limit: Int
        /// The number of pings that wait for an answer. Meanwhile the inbox takes more, to find it.
        var pings = 0
        var isFull: Bool { bytes >= limit && (pings == 0 || bytes >= 1 << 20 && bytes / 16 >= limit) }
        /// The messages. Those before ``first`` were read, and are empty.
        var messages: [WebSocketMessage] = []
        var first = 0
        var bytes = 0
        var end: Result<Void, any Error>?
        /// Unsafe continuations, because each message needs one.
        var readers: [UnsafeContinuation<Void, Never>] = []
        /// The tasks that wait for the end.
        var watchers: [CheckedContinuation<Void, Never>] = []
        var room: CheckedContinuation<Void, Never>?
        var isDiscarding = false
        /// Whether nobody waits any more until every message was read.
        var isDrainingOver = false
        var received: (messages: Int, bytes: Int64) = (0, 0)

        /// Returns the first reader, for a message. It takes the message even if its task was canceled meanwhile.
        mutating func takeReader() -> UnsafeContinuation<Void, Never>? {
            readers.isEmpty ? nil : readers.removeFirst()
        }

        mutating func takeReaders() -> [UnsafeContinuation<Void, Never>] {
            defer { readers = [] }
            return readers
        }

        /// Whether every message was read, and no other one follows.
        var isDrained: Bool { end != nil && first >= messages.count }

        mutating func takeWatchers() -> [CheckedContinuation<Void, Never>] {
            defer { watchers = [] }
            return watchers
        }

        mutating func takeMessage() -> WebSocketMessage? {
            guard first < messages.count else { return nil }
            let message = messages[first]
            messages[first] = .binary(Data())  // releases the bytes before the array is cut
            first += 1
            bytes -= message.weight
            if first > 64, first > messages.count / 2 {
                messages.removeFirst(first)
                first = 0
            }
            return message
        }

        mutating func takeRoom() -> CheckedContinuation<Void, Never>? {
            defer { room = nil }
            return room
        }
    }

    private let state: Protected<State>

    /// Creates an inbox that is full with this many bytes.
    init(limit: Int) { state = Protected(State(limit: limit)) }

    /// Whether the connection waits for its reader.
    var isFull: Bool { state.withLock { $0.room != nil } }

    /// The number of messages that were received, and their bytes.
    var received: (messages: Int, bytes: Int64) { state.withLock { $0.received } }

    /// Adds a message. Returns false when the inbox is full.
    func add(_ message: WebSocketMessage) -> Bool {
        let (reader, hasRoom) = state.withLock { state -> (UnsafeContinuation<Void, Never>?, Bool) in
            state.received.messages += 1
            state.received.bytes += Int64(message.size)
            guard !state.isDiscarding, state.end == nil else { return (nil, true) }
            state.messages.append(message)
            state.bytes += message.weight
            return (state.takeReader(), !state.isFull)
        }
        reader?.resume()
        return hasRoom
    }

    /// Waits while the inbox is full.
    func waitForRoom() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let hasRoom = state.withLock { state in
                    if !state.isFull || state.isDiscarding || Task.isCancelled { return true }
                    state.room = continuation
                    return false
                }
                if hasRoom { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.takeRoom() }?.resume()
        }
    }

    /// Takes more messages until ``endPing()``, because the answer to a ping may be behind them: 16 times the limit and
    /// at least 1 MiB, which is enough for what the systems of both sides hold.
    func beginPing() {
        let room = state.withLock { state in
            state.pings += 1
            return state.isFull ? nil : state.takeRoom()
        }
        room?.resume()
    }

    func endPing() {
        state.withLock { $0.pings -= 1 }
    }

    /// Takes every message that follows. A lost connection brings only a few, and its end waits behind them.
    func takeAll() {
        let room = state.withLock { state in
            state.limit = .max
            return state.takeRoom()
        }
        room?.resume()
    }

    /// Ends the inbox behind the messages in it.
    func end(_ result: Result<Void, any Error>) {
        let (readers, watchers) = state.withLock { state in
            if state.end == nil { state.end = result }
            return (state.takeReaders(), state.takeWatchers())
        }
        for reader in readers { reader.resume() }
        for watcher in watchers { watcher.resume() }
    }

    /// Removes the messages, and those that follow.
    func discard() {
        let (room, watchers) = state.withLock { state in
            (state.messages, state.first, state.bytes, state.isDiscarding) = ([], 0, 0, true)
            return (state.takeRoom(), state.takeWatchers())
        }
        room?.resume()
        for watcher in watchers { watcher.resume() }
    }

    /// Returns the next message, or nil at the end. Of several readers, each message reaches one.
    ///
    /// - Throws: The error that the inbox ended with, or `CancellationError`.
    func next() async throws -> WebSocketMessage? {
        try Task.checkCancellation()
        while true {
            let (message, room, end, watchers) = take()
            room?.resume()
            for watcher in watchers { watcher.resume() }
            if let message { return message }
            if let end {
                try end.get()
                return nil
            }
            try Task.checkCancellation()
            await wait()
        }
    }

    private typealias Taken = (
        WebSocketMessage?, room: CheckedContinuation<Void, Never>?, end: Result<Void, any Error>?,
        watchers: [CheckedContinuation<Void, Never>]
    )

    private func take() -> Taken {
        state.withLock { state in
            guard let message = state.takeMessage() else { return (nil, nil, state.end, []) }
            let room = state.isFull ? nil : state.takeRoom()
            return (message, room, nil, state.isDrained ? state.takeWatchers() : [])
        }
    }

    // MARK: The end

    /// Whether no further message arrives.
    var isEnded: Bool { state.withLock { $0.end != nil } }

    /// Waits for the end, before the messages in front of it are read. Returns nil when the task is canceled.
    func ended() async -> Result<Void, any Error>? {
        await watch { $0.end == nil }
        return state.withLock { $0.end }
    }

    /// Waits until every message was read after the end, until ``endDraining()``, or until the task is canceled.
    func drained() async {
        await watch { !$0.isDrained && !$0.isDrainingOver }
    }

    /// Ends the waits of ``drained()``, although messages may be left.
    func endDraining() {
        let watchers = state.withLock { state in
            state.isDrainingOver = true
            return state.takeWatchers()
        }
        for watcher in watchers { watcher.resume() }
    }

    /// Removes the messages that were not read, and returns them.
    func takeRest() -> [WebSocketMessage] {
        state.withLock { state in
            defer { (state.messages, state.first, state.bytes) = ([], 0, 0) }
            return Array(state.messages.dropFirst(state.first))
        }
    }

    /// Adds messages of an earlier connection in front.
    func addFirst(_ messages: [WebSocketMessage]) {
        guard !messages.isEmpty else { return }
        let readers = state.withLock { state in
            state.messages.insert(contentsOf: messages, at: state.first)
            state.bytes += messages.reduce(0) { $0 + $1.weight }
            return state.takeReaders()
        }
        for reader in readers { reader.resume() }
    }

    private func watch(while condition: @Sendable (State) -> Bool) async {
        while !Task.isCancelled, state.withLock({ condition($0) }) {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isReady = state.withLock { state in
                        guard condition(state), !Task.isCancelled else { return true }
                        state.watchers.append(continuation)
                        return false
                    }
                    if isReady { continuation.resume() }
                }
            } onCancel: {
                for watcher in state.withLock({ $0.takeWatchers() }) { watcher.resume() }
            }
        }
    }

    // MARK: Reading

    private func wait() async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let isReady = state.withLock { state in
                    if state.first < state.messages.count || state.end != nil || Task.isCancelled { return true }
                    state.readers.append(continuation)
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            for reader in state.withLock({ $0.takeReaders() }) { reader.resume() }
        }
    }
}

extension WebSocketMessage {
    /// The bytes that the message counts for in a queue, so that many empty messages count too.
    var weight: Int { size + 64 }

    /// The bytes of the message.
    var size: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let data): data.count
        }
    }
}
