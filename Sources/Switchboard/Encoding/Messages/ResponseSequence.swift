import SwitchboardPlatform
import Foundation

/// The elements of a response's body as they arrive: lines, values, events or parts. They can be read only once.
///
/// The reader controls the pace, as with ``ResponseBytes``. Tasks that share a sequence read in turn, and each element
/// goes to one of them. Releasing the sequence, or canceling the reading task, cancels the exchange.
public struct ResponseSequence<Element>: AsyncSequence, Sendable {
    /// Returns an element that is already parsed. A reader on an actor then need not leave it, because a thread switch
    /// costs more than the element.
    private let ready: @Sendable () -> Element?
    private let read: @Sendable () async throws -> Element?

    package init(read: @escaping @Sendable () async throws -> Element?) {
        self.init(more: { try await read().map { Transferred([$0]) } })
    }

    /// Creates a sequence. `more` returns the next elements, an empty array if none is complete yet, or nil at the end.
    package init(more: @escaping @Sendable () async throws -> Transferred<[Element]>?) {
        // The last element is the next one, so that each is released when the reader has it.
        let parsed = Protected(Transferred<[Element]>([]))
        let lock = ReadLock()
        let ready: @Sendable () -> Element? = { parsed.withLock { $0.value.popLast() } }
        self.ready = ready
        read = {
            try await lock.run {
                if let element = ready() { return element }
                while let elements = try await more()?.value {
                    guard let first = elements.first else { continue }
                    let rest = Transferred(Array(elements.dropFirst().reversed()))
                    parsed.withLock { $0 = rest }
                    return first
                }
                return nil
            }
        }
    }

    /// Creates a sequence from a body. `parse` receives each chunk, and nil at the end, and appends the complete
    /// elements. Elements that it appends before it throws are delivered before the error. It runs on `actor`, or on an
    /// actor of the sequence, and no other code may use its captured values.
    package init(
        _ bytes: ResponseBytes, on actor: (any Actor)? = nil,
        _ parse: @escaping (Data?, inout [Element]) throws -> Void
    ) {
        let parser = ElementParser(bytes, actor, Parse(body: parse))
        self.init(more: { try await parser.more() })
    }

    /// Reads the elements in order.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let ready: @Sendable () -> Element?
        fileprivate let read: @Sendable () async throws -> Element?

        /// Returns the next element. Nil at the end of a complete body, and after an error.
        ///
        /// - Throws: The errors of ``ResponseBytes``, and ``NetworkError/Code/responseTooLarge`` for an element beyond
        ///   the limit.
        public mutating func next() async throws -> Element? {
            if let element = ready() { return element }
            return try await read()
        }

        /// Returns the next element on the reader's actor. `for await` calls this method.
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
            if let element = ready() { return element }
            return try await read()
        }
    }

    /// Starts reading. A second iterator continues where the first one stopped.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(ready: ready, read: read)
    }
}

/// A lock that a task holds while it waits for bytes. Parsers are not reentrant.
final class ReadLock: Sendable {
    private struct State {
        var isLocked = false
        var readers = WaitingTasks()
    }

    private let state = Protected(State())

    /// Runs an operation after those of other tasks.
    func run<Output>(
        isolation: isolated (any Actor)? = #isolation, _ operation: () async throws -> Output
    ) async throws -> Output {
        while !tryLock() {
            try Task.checkCancellation()
            await state.wait(in: \.readers) { !$0.isLocked }
        }
        defer { unlock() }
        return try await operation()
    }

    private func tryLock() -> Bool {
        state.withLock { state in
            defer { state.isLocked = true }
            return !state.isLocked
        }
    }

    private func unlock() {
        let next = state.withLock { state in
            state.isLocked = false
            return state.readers.takeFirst()
        }
        next?.resume()
    }
}

/// A closure that runs on one actor only: that of its values, or that of the parser.
private struct Parse<Element>: @unchecked Sendable {
    let body: (Data?, inout [Element]) throws -> Void

    func run(_ chunk: Data?, on actor: isolated any Actor) async -> Transferred<
        (elements: [Element], error: (any Error)?)
    > {
        var elements: [Element] = []
        do {
            try body(chunk, &elements)
            return Transferred((elements, nil))
        } catch {
            return Transferred((elements, error))
        }
    }
}

private actor ElementParser<Element> {
    private var bytes: ResponseBytes?
    private let actor: (any Actor)?
    private let parse: Parse<Element>
    private var failure: (any Error)?
    private var isStarted = false

    init(_ bytes: ResponseBytes, _ actor: (any Actor)?, _ parse: Parse<Element>) {
        self.bytes = bytes
        self.actor = actor
        self.parse = parse
    }

    /// Returns the elements that the next chunk completes, or nil at the end.
    func more() async throws -> Transferred<[Element]>? {
        guard let bytes else { return nil }
        if let failure {
            // The call ends only now, because a reader may stop before it gets the error.
            self.bytes = nil
            throw await bytes.endCall(with: failure)
        }
        var elements: [Element] = []
        var isAtEnd = false
        do {
            if !isStarted { await bytes.letReaderEndCall() }
            isStarted = true
            let chunk = try await bytes.next()
            isAtEnd = chunk == nil
            (elements, failure) = await parse.run(chunk, on: actor ?? self).value
        } catch {
            failure = error
        }
        if isAtEnd, failure == nil {
            await bytes.endCall()
            self.bytes = nil
        }
        return Transferred(elements)
    }
}
