import Foundation

/// What a response's body is made of, as it arrives: lines, values, events or parts, read once.
///
/// The reader sets the pace, as with ``ResponseBytes``. Letting go of it, or cancelling the reading task, closes the
/// exchange.
public struct ResponseElements<Element: Sendable>: AsyncSequence, Sendable {
    private let read: @Sendable () async throws -> Element?

    init(read: @escaping @Sendable () async throws -> Element?) {
        self.read = read
    }

    /// `parse` gets chunk after chunk, and nil at the end, and adds the elements that are complete. Those that it added
    /// before it throws are given first.
    init(_ bytes: ResponseBytes, _ parse: sending @escaping (Data?, inout [Element]) throws -> Void) {
        let parser = ElementParser(bytes, parse)
        read = { try await parser.next() }
    }

    /// Reads the elements in order.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let read: @Sendable () async throws -> Element?

        /// The next element; nil at the end of a whole body, and after an error.
        ///
        /// - Throws: What ``ResponseBytes`` throws, and ``NetworkError/Code/responseTooLarge`` for an element beyond the
        ///   limit.
        public mutating func next() async throws -> Element? {
            try await read()
        }
    }

    /// Starts reading. A second iterator goes on where the first one stopped.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(read: read)
    }
}

/// Makes elements of the chunks of a body.
private actor ElementParser<Element: Sendable> {
    private var bytes: ResponseBytes?
    private let parse: (Data?, inout [Element]) throws -> Void
    private var ready: ArraySlice<Element> = []
    private var failure: (any Error)?

    init(_ bytes: ResponseBytes, _ parse: sending @escaping (Data?, inout [Element]) throws -> Void) {
        self.bytes = bytes
        self.parse = parse
    }

    func next() async throws -> Element? {
        while true {
            if let element = ready.popFirst() { return element }
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
                self.bytes = nil
                failure = error
            }
            ready = elements[...]
        }
    }
}
