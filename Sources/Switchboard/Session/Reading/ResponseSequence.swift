import SwitchboardPlatform
import Foundation

/// What a response's body is made of, as it arrives: lines, values, events or parts, read once.
///
/// The reader sets the pace, as with ``ResponseBytes``. Letting go of it, or cancelling the reading task, closes the
/// exchange.
public struct ResponseSequence<Element: Sendable>: AsyncSequence, Sendable {
    /// An element that is there already. A reader that is bound to an actor, as to the main one, stays there for it: a
    /// change of threads costs more than the element.
    private let ready: @Sendable () -> Element?
    private let read: @Sendable () async throws -> Element?

    package init(read: @escaping @Sendable () async throws -> Element?) {
        ready = { nil }
        self.read = read
    }

    /// `more` gives the next elements, none when there are none yet, and nil at the end.
    package init(more: @escaping @Sendable () async throws -> [Element]?) {
        let rest = Protected<ArraySlice<Element>>([])
        ready = { rest.withLock { $0.popFirst() } }
        read = {
            while let elements = try await more() {
                guard let first = elements.first else { continue }
                rest.withLock { $0 += elements.dropFirst() }
                return first
            }
            return nil
        }
    }

    /// `parse` gets chunk after chunk, and nil at the end, and adds the elements that are complete. Those that it added
    /// before it throws are given first.
    package init(_ bytes: ResponseBytes, _ parse: sending @escaping (Data?, inout [Element]) throws -> Void) {
        let parser = ElementParser(bytes, parse)
        self.init { try await parser.more() }
    }

    /// Reads the elements in order.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let ready: @Sendable () -> Element?
        fileprivate let read: @Sendable () async throws -> Element?

        /// The next element; nil at the end of a whole body, and after an error.
        ///
        /// - Throws: What ``ResponseBytes`` throws, and ``NetworkError/Code/responseTooLarge`` for an element beyond the
        ///   limit.
        public mutating func next() async throws -> Element? {
            if let element = ready() { return element }
            return try await read()
        }

        /// The same, which `for await` calls: it stays with the actor that reads.
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
            if let element = ready() { return element }
            return try await read()
        }
    }

    /// Starts reading. A second iterator goes on where the first one stopped.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(ready: ready, read: read)
    }
}

/// Makes elements of the chunks of a body.
private actor ElementParser<Element: Sendable> {
    private var bytes: ResponseBytes?
    private let parse: (Data?, inout [Element]) throws -> Void
    private var failure: (any Error)?

    init(_ bytes: ResponseBytes, _ parse: sending @escaping (Data?, inout [Element]) throws -> Void) {
        self.bytes = bytes
        self.parse = parse
    }

    /// The elements that the next chunk completes; nil at the end.
    func more() async throws -> [Element]? {
        if let failure {
            self.failure = nil
            throw failure
        }
        guard let bytes else { return nil }
        var elements: [Element] = []
        do {
            let chunk = try await bytes.next()
            if chunk == nil { self.bytes = nil }
            try parse(chunk, &elements)
        } catch {
            failure = await bytes.attributed(error)
            self.bytes = nil
        }
        return elements
    }
}
