import Foundation
import SwitchboardPlatform

/// The queue of received messages. A full inbox stops the reading of the connection, so the server must wait.
final class Inbox: Sendable {
    private struct State {
        /// The bytes at which the inbox is full.
        var limit: Int
        /// The limit during a ping, after the end of a compressed connection, and for the messages of several
        /// connections: 16 times the limit, and at least 1 MiB.
        let highLimit: Int
        /// The number of pings without a pong. Meanwhile the limit is higher, because the pong follows the messages.
        var pings = 0
        var isFull: Bool { bytes >= limit && (pings == 0 || bytes >= highLimit) }
        /// The messages. Those before the index ``first`` were read, and are empty.
        var messages: [WebSocketMessage] = []
        var first = 0
        var bytes = 0
        var end: Result<Void, any Error>?
        var readers = WaitingTasks()
        /// The tasks that wait for the end, or until every message is read.
        var endWaiters = WaitingTasks()
        /// The task of the connection, while it waits for space.
        var writers = WaitingTasks()
        var isDiscarding = false
        /// Whether the connection is lost. Its end follows the bytes that are not read yet.
        var isLost = false
        /// Whether ``drained()`` no longer waits for the unread messages.
        var isDrainingCanceled = false
        var received: (messages: Int, bytes: Int64) = (0, 0)
        /// The number of messages that were taken, and not yet passed to ``didRead()``.
        var unconfirmed = 0

        /// Whether the inbox has ended, its readers have used the messages that they took, and none is unread. After
        /// ``cancelDraining()``, messages may be unread.
        var isDrained: Bool {
            end != nil && unconfirmed == 0 && (first >= messages.count || isDrainingCanceled)
        }
        var unread: ArraySlice<WebSocketMessage> { messages.dropFirst(first) }

        mutating func takeMessage() -> WebSocketMessage? {
            guard first < messages.count else { return nil }
            let message = messages[first]
            messages[first] = .binary(Data())  // releases the bytes before the array is cut
            first += 1
            bytes -= message.cost
            unconfirmed += 1
            if first > 64, first > messages.count / 2 {
                messages.removeFirst(first)
                first = 0
            }
            return message
        }
    }

    private let state: Protected<State>

    /// Creates an inbox that is full at `limit` bytes.
    init(limit: Int) {
        let (product, isTooLarge) = limit.multipliedReportingOverflow(by: 16)
        state = Protected(State(limit: limit, highLimit: isTooLarge ? .max : max(1 << 20, product)))
    }

    var hasWaitingWriter: Bool { state.withLock { !$0.writers.isEmpty } }

    /// Whether unread messages hide the end of a lost connection.
    var hidesEnd: Bool { state.withLock { $0.isLost && $0.isFull && !$0.isDiscarding } }

    var received: (messages: Int, bytes: Int64) { state.withLock { $0.received } }

    /// Adds a message. Returns false when the inbox is full.
    func add(_ message: WebSocketMessage) -> Bool {
        let (reader, hasSpace) = state.withLock { state -> (UnsafeContinuation<Void, Never>?, Bool) in
            state.received.messages += 1
            state.received.bytes += Int64(message.size)
            guard !state.isDiscarding, state.end == nil else { return (nil, true) }
            state.messages.append(message)
            state.bytes += message.cost
            return (state.readers.takeFirst(), !state.isFull)
        }
        reader?.resume()
        return hasSpace
    }

    func waitForSpace() async {
        await state.wait(in: \.writers) { !$0.isFull || $0.isDiscarding }
    }

    /// Raises the limit until ``endPing()``, because a pong follows the messages that were sent before it. With the
    /// default limit, the higher one is more than the socket buffers of both systems.
    func beginPing() {
        let writer = state.withLock { state in
            state.pings += 1
            return state.isFull ? nil : state.writers.take()
        }
        writer?.resume()
    }

    func endPing() {
        state.withLock { $0.pings -= 1 }
    }

    /// Removes the limit, to reach the end of a lost connection. Only a few bytes can precede it. If they are compressed,
    /// they may become gigabytes, so the higher limit stays.
    func removeLimit(isCompressed: Bool = false) {
        let writer = state.withLock { state in
            state.isLost = true
            state.limit = isCompressed ? state.highLimit : .max
            return state.isFull ? WaitingTasks() : state.writers.take()
        }
        writer.resume()
    }

    /// Ends the inbox. Its messages can still be read.
    func end(_ result: Result<Void, any Error>) {
        let (readers, endWaiters) = state.withLock { state in
            if state.end == nil { state.end = result }
            return (state.readers.take(), state.endWaiters.take())
        }
        readers.resume()
        endWaiters.resume()
    }

    /// Discards the unread messages and all later ones.
    func discard() {
        let (writers, endWaiters) = state.withLock { state in
            (state.messages, state.first, state.bytes, state.isDiscarding) = ([], 0, 0, true)
            return (state.writers.take(), state.endWaiters.take())
        }
        writers.resume()
        endWaiters.resume()
    }

    /// Returns the next message, or nil at the end. Of several readers, each message reaches one. Its reader then calls
    /// ``didRead()``.
    ///
    /// - Throws: The error that the inbox ended with, or `CancellationError`.
    func next() async throws -> WebSocketMessage? {
        try Task.checkCancellation()
        while true {
            let (message, end, writers) = state.withLock {
                state -> (WebSocketMessage?, Result<Void, any Error>?, WaitingTasks) in
                guard let message = state.takeMessage() else { return (nil, state.end, WaitingTasks()) }
                return (message, nil, state.isFull ? WaitingTasks() : state.writers.take())
            }
            writers.resume()
            if let message { return message }
            if let end {
                try end.get()
                return nil
            }
            try Task.checkCancellation()
            await state.wait(in: \.readers) { $0.first < $0.messages.count || $0.end != nil }
        }
    }

    /// Confirms that the reader has used a message of ``next()``.
    func didRead() {
        let endWaiters = state.withLock { state in
            state.unconfirmed -= 1
            return state.isDrained ? state.endWaiters.take() : WaitingTasks()
        }
        endWaiters.resume()
    }

    // MARK: The end

    /// The end. Nil while further messages may arrive.
    var result: Result<Void, any Error>? { state.withLock { $0.end } }

    /// Waits for the end, even if messages are unread. Returns nil when the task is canceled.
    func ended() async -> Result<Void, any Error>? {
        await state.wait(while: { $0.end == nil }, in: \.endWaiters)
        return result
    }

    /// Waits until the inbox has ended and every message is read, ``cancelDraining()`` is called, or the task is canceled.
    /// Returns the unread messages.
    func drained() async -> ArraySlice<WebSocketMessage> {
        while !Task.isCancelled {
            await state.wait(while: { !$0.isDrained }, in: \.endWaiters)
            // A reader may have taken a message since.
            if let unread = state.withLock({ $0.isDrained ? $0.unread : nil }) { return unread }
        }
        return []
    }

    /// Ends the waits of ``drained()`` although messages may be unread. Returns false, and ends no wait, if they are too
    /// many: each connection of a hostile server would add some.
    func cancelDraining() -> Bool {
        let endWaiters = state.withLock { state -> WaitingTasks? in
            guard state.bytes < state.highLimit else { return nil }
            state.isDrainingCanceled = true
            return state.endWaiters.take()
        }
        endWaiters?.resume()
        return endWaiters != nil
    }

    /// Removes and returns the unread messages.
    func takeUnread() -> [WebSocketMessage] {
        state.withLock { state in
            defer { (state.messages, state.first, state.bytes) = ([], 0, 0) }
            return Array(state.unread)
        }
    }

    /// Inserts the unread messages of an earlier connection before the others.
    func prepend(_ messages: [WebSocketMessage]) {
        guard !messages.isEmpty else { return }
        let readers = state.withLock { state in
            state.messages.insert(contentsOf: messages, at: state.first)
            state.bytes += messages.reduce(0) { $0 + $1.cost }
            return state.readers.take()
        }
        readers.resume()
    }
}
